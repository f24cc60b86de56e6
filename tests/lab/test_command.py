"""`albacore replay` prints figures of one shape, and refuses in one line what it cannot answer."""

import json

import numpy as np
import pytest

from albacore.cli import main

HEADER = "method,run,seq,suggestion,worker,config_id,performance,failed,is_default"


@pytest.fixture
def recorded(tmp_path):
    """Return a sample file: two runs, six configs on five nodes each."""
    rng = np.random.default_rng(3)
    lines = [HEADER]
    for run in range(2):
        seq = 0
        for config in range(7):
            for worker in range(5):
                figure = 100 + 5 * config + rng.normal(0, 3)
                lines.append(f"TUNA,{run},{seq},{config},{worker},c{config},{figure:.3f},0,{int(config == 0)}")
                seq += 1
    path = tmp_path / "cloud__system__load.samples.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_json_has_policy_k_and_figures_per_workload_and_pooled(recorded, capsys):
    """The shape that programs read; tuna is always beside what was asked for."""
    code = main(["replay", str(recorded), "--direction", "max", "--policy", "albacore", "--k", "2,3", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert list(found["workloads"]) == ["cloud/system/load"]
    for scope in (found["workloads"]["cloud/system/load"], found["pooled"]):
        assert set(scope) == {"tuna", "albacore"}
        assert set(scope["tuna"]) == {"2", "3"}
        assert set(scope["tuna"]["2"]) == {"mean", "worst", "unstable", "drop"}
    assert found["differences"]["pooled"]["tuna"]["2"]["mean"] == [0, 0, 0]


def test_people_see_both_policies_side_by_side_with_intervals(recorded, capsys):
    """And the ceiling, the curve, and who is above it."""
    assert main(["replay", str(recorded), "--direction", "max", "--policy", "albacore", "--k", "3"]) == 0

    text = capsys.readouterr().out
    assert "tuna" in text and "albacore " in text and "[" in text
    assert "ceiling, perfect knowledge" in text
    assert "policies above the curve" in text


def test_the_label_names_the_workload(recorded, capsys):
    """Whatever the file is called."""
    main(["replay", str(recorded), "--direction", "max", "--label", "mine", "--policy", "min", "--k", "3", "--json"])

    assert list(json.loads(capsys.readouterr().out)["workloads"]) == ["mine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--direction min or --direction max"),
        (["--direction", "max", "--k", "5"], "expected 1 to 4"),
        (["--direction", "max", "--k", "three"], "expected numbers of nodes"),
        (["--direction", "max", "--policy", "best"], "expected one of albacore"),
    ],
)
def test_what_cannot_be_answered_is_one_line_and_exit_code_2(recorded, capsys, arguments, message):
    """Nothing on standard output, no traceback."""
    code = main(["replay", str(recorded), *arguments])

    streams = capsys.readouterr()
    assert (code, streams.out) == (2, "")
    assert message in streams.err and streams.err.count("\n") == 1


def test_a_row_that_does_not_parse_is_one_line_and_exit_code_2(recorded, capsys):
    """File and line."""
    recorded.write_text(recorded.read_text().replace("TUNA,0,1,", "TUNA,zero,1,"))

    assert main(["replay", str(recorded), "--direction", "max"]) == 2
    assert f"{recorded}, line 3: expected a number in column 'run', got 'zero'" in capsys.readouterr().err
