"""Recorded samples become runs, whatever the format; a fault names file and line."""

import gzip
import json

import numpy as np
import pytest

from albacore.errors import HistoryError
from albacore.history import naming, read
from albacore.history.failing import is_failed
from albacore.trial import Direction

RAW = """,Suggestion,Config,Worker,Performance
0,0,"{'aio': 'off', 'size': 512}",0,70.0
1,0,"{'aio': 'off', 'size': 512}",6,72.0
2,1,"{'aio': 'on', 'size': 1024}",3,1000000.0
"""
SAMPLES = """method,run,seq,suggestion,worker,config_id,performance,failed,is_default
TUNA,1,0,0,0,aaa,810.5,0,1
TUNA,1,1,1,9,bbb,0.0,1,0
TUNA,0,1,1,2,bbb,900.0,0,0
TUNA,0,0,0,2,aaa,800.0,0,1
traditional,0,0,0,0,aaa,805.0,0,1
"""
CONFIGS = "config_id,knob,size\naaa,off,1\nbbb,007,2\n"


def write(folder, name, text):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_a_raw_file_is_one_run(tmp_path):
    """Label, method and number come from its name, direction from the known workloads, failures from the rule."""
    (run,) = read(write(tmp_path, "azure-nginx-wikipedia-TUNA_run_3.csv", RAW))

    assert (run.workload, run.method, run.number) == ("azure/nginx/wikipedia", "TUNA", 3)
    assert (run.direction, run.metric, run.unit) == (Direction.MIN, "p95 page latency", "us")
    assert run.nodes == ("0", "3", "6")
    assert run.samples.is_default.tolist() == [True, True, False]
    assert run.samples.is_failed.tolist() == [False, False, True]
    assert [run.configs[i] for i in run.samples.config_id[[0, 2]]] == [
        {"aio": "off", "size": 512},
        {"aio": "on", "size": 1024},
    ]


def test_a_sample_file_has_the_runs_of_every_method(tmp_path):
    """Rows are ordered by seq inside a run; manifest.json gives the direction and the types of the knobs."""
    write(tmp_path, "cloud__mine__load.configs.csv.gz", CONFIGS)
    facts = {"cloud__mine__load": {"direction": "max", "knobs": {"knob": "str", "size": "float"}}}
    write(tmp_path, "manifest.json", json.dumps(facts))

    runs = read(write(tmp_path, "cloud__mine__load.samples.csv.gz", SAMPLES))

    assert [(r.method, r.number) for r in runs] == [("TUNA", 0), ("TUNA", 1), ("traditional", 0)]
    assert {r.workload for r in runs} == {"cloud/mine/load"}
    assert runs[0].samples.value.tolist() == [800.0, 900.0]
    assert runs[1].samples.is_failed.tolist() == [False, True]
    assert runs[0].configs["bbb"] == {"knob": "007", "size": 2.0}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("azure__postgres__tpcc.samples.csv.gz", "azure/postgres/tpcc"),
        ("azure-nginx-wikipedia-TUNA_run_0.csv", "azure/nginx/wikipedia"),
        ("gcp/redis/ycsb/TUNA_run_12.csv", "gcp/redis/ycsb"),
        ("azure__redis__ycsb-TUNA_run_1.csv.gz", "azure/redis/ycsb"),
        ("mine.csv", "mine"),
    ],
)
def test_the_workload_is_what_the_name_says(tmp_path, name, label):
    """The label of a file is its name with slashes; of the artifact's folders, their names."""
    assert naming.label_of(tmp_path / name).endswith(label)


def test_what_is_given_wins(tmp_path):
    """A label and a direction on the command line are used whatever the file says."""
    (run,) = read(write(tmp_path, "tpcc-TUNA_run_0.csv", RAW), label="mine", direction=Direction.MIN)

    assert (run.workload, run.direction) == ("mine", Direction.MIN)


def test_a_workload_of_unknown_direction_is_refused(tmp_path):
    """Nothing is guessed: the remedy is named."""
    with pytest.raises(HistoryError, match="--direction min or --direction max"):
        read(write(tmp_path, "mystery-TUNA_run_0.csv", RAW))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (("70.0", "fast"), "line 2: expected a number in column 'Performance', got 'fast'"),
        (('512}",6', '512}",""'), "line 3: expected a name in column 'Worker'"),
        ((",1,\"{'aio': 'on'", ",x,\"{'aio': 'on'"), "line 4: expected a number in column 'Suggestion'"),
        (("'size': 1024}", "'size': __import__('os').getcwd()}"), "line 4: expected a Python dict"),
        (("'size': 1024}", "'size': [[[[[1]]]]]}"), "line 4: expected a Python dict.*deep"),
        (("'size': 1024}", "'size': [1]}"), "line 4: expected a number or a text for 'size'"),
        (("6,72.0", "6"), "line 3: expected 5 cells, got 4"),
    ],
)
def test_a_row_that_does_not_parse_is_named(tmp_path, fault, message):
    """File and line, what was expected, what was given; nothing in a file is ever run."""
    with pytest.raises(HistoryError, match=f"nginx-TUNA_run_0.csv, {message}"):
        read(write(tmp_path, "nginx-TUNA_run_0.csv", RAW.replace(*fault)))


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"\x1f\x8b\x08 cut", b"a,b\n1,2\n"])
def test_what_is_no_file_of_samples_is_refused(tmp_path, content):
    """Empty, binary, a damaged gzip file and other columns are the user's to change."""
    path = tmp_path / "nginx.csv"
    path.write_bytes(content)

    with pytest.raises(HistoryError, match=r"nginx\.csv"):
        read(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    """No traceback for a typing error."""
    with pytest.raises(HistoryError, match="No such file"):
        read(tmp_path / "nginx.csv")


def test_columns_cannot_be_written_to(tmp_path):
    """A run is a value."""
    (run,) = read(write(tmp_path, "nginx-TUNA_run_0.csv", RAW))

    with pytest.raises(ValueError, match="read-only"):
        run.samples.value[0] = 1.0


def test_a_constant_that_ends_a_latency_run_is_a_failure():
    """A worst value that repeats to the last digit, far from the default, was put in for a time limit."""
    value = np.array([70.0, 71.0, 300.0, 300.0, 300.0, 120.0, np.nan, 0.0, 7_200.0])
    is_default = np.array([True, True] + [False] * 7)

    found = is_failed(value, is_default, Direction.MIN)

    assert found.tolist() == [False, False, True, True, True, False, True, True, True]


def test_a_crawl_is_a_failure_of_a_throughput():
    """Below a hundredth of the default's median, as in TUNA's own code; half of the default is slow, not failed."""
    value = np.array([850.0, 840.0, 4.8, 425.0, 0.0])

    found = is_failed(value, np.array([True, True, False, False, False]), Direction.MAX)

    assert found.tolist() == [False, False, True, False, True]
