"""Laws of the cluster size calculator (T06), and of its command."""

import json

import numpy as np
import pytest

from albacore import cli
from albacore.errors import UserError
from albacore.lab.detection import detection, modelled, needed
from albacore.lab.matrix import Matrix
from albacore.trial import Direction

HEADER = "method,run,seq,suggestion,worker,config_id,performance,failed,is_default"


def matrix(values):
    values = np.array([*values, [100.0] * len(values[0])])
    order = np.arange(values.size).reshape(values.shape)
    return Matrix(
        workload="w",
        number=0,
        direction=Direction.MAX,
        values=values,
        order=order,
        is_failed=np.zeros(values.shape, dtype=bool),
        candidates=len(values) - 1,
    )


def test_ten_nodes_are_the_answer_for_the_paper_s_runs():
    """13 unstable configs known from 30 nodes (TUNA §3.2.1); ten nodes if each is slow on 11 of these (Fig. 9)."""
    assert needed(modelled(11 / 30, 13, 30), 0.95) == 10


def test_the_chance_of_one_config_is_in_closed_form():
    """On a fleet without an end: 1 - 0.7^n - 0.3^n; of m configs its m-th power."""
    one, three = modelled(0.3, 1), modelled(0.3, 3)
    for n in (2, 5, 10):
        assert one[n] == pytest.approx(1 - 0.7**n - 0.3**n)
        assert three[n] == pytest.approx(one[n] ** 3)
    assert needed(one, 0.95) == 9


def test_sets_of_recorded_nodes_are_counted():
    """One slow node of five is in n of five sets: n / 5."""
    found = detection([matrix([[100.0, 100, 100, 100, 50], [100.0, 101, 99, 100, 100]])], 0.30)

    assert found.unstable == 1
    assert [found.one[n] for n in (2, 3, 4, 5)] == pytest.approx([0.4, 0.6, 0.8, 1.0])
    # Drawn with replacement: 1 - 0.8^n less the draws of the slow node only; 2,000 draws are off by 0.011 each.
    assert found.one_unlimited[10] == pytest.approx(1 - 0.8**10 - 0.2**10, abs=0.03)
    assert sum(found.histogram()) == 2


def test_a_run_is_found_when_all_its_configs_are():
    """Two configs with one slow node each: the chance of both is the product."""
    found = detection([matrix([[100.0, 100, 100, 100, 50], [50.0, 100, 100, 100, 100]])], 0.30)

    assert found.all_of_run[3] == pytest.approx(0.6**2)


def test_an_early_verdict_frees_what_comes_after_the_proof():
    """In the order of the samples: the second one proves it here, so three of five are freed."""
    found = detection([matrix([[100.0, 50, 100, 100, 100], [100.0, 101, 99, 100, 100]])], 0.30)

    assert (found.freed, found.samples) == (3, 15)


def test_runs_without_an_unstable_config_say_nothing():
    """And the message says what to do."""
    with pytest.raises(UserError, match=r"at most 0\.02.*--threshold"):
        detection([matrix([[100.0, 101, 99]])], 0.30)


@pytest.fixture
def recorded(tmp_path):
    """Return a sample file: a run of five nodes, of six configs one that is slow on two nodes."""
    rng = np.random.default_rng(3)
    lines = [HEADER]
    for seq, (config, worker) in enumerate((c, w) for c in range(7) for w in range(5)):
        figure = (100 + rng.normal(0, 1)) * (0.5 if config == 3 and worker < 2 else 1)
        lines.append(f"TUNA,0,{seq},{config},{worker},c{config},{figure:.3f},0,{int(config == 0)}")
    path = tmp_path / "cloud__system__load.samples.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_command_reads_recorded_samples(recorded, capsys):
    """Two of five nodes are slow: three nodes find it in 9 of 10 sets."""
    assert cli.main(["cluster-size", str(recorded), "--direction", "max", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["configs"], found["unstable"]) == (6, 1)
    assert found["one"]["3"] == pytest.approx(0.9)
    assert cli.main(["cluster-size", str(recorded), "--direction", "max"]) == 0
    assert "Any fleet, all of a run: Nodes for 95%:" in capsys.readouterr().out


def test_the_command_answers_without_samples(capsys):
    """From a share; nine nodes for one config."""
    assert cli.main(["cluster-size", "--share", "0.3"]) == 0
    assert "Nodes for 95%: 9" in capsys.readouterr().out
    assert cli.main(["cluster-size", "--share", "0.3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["needed"] == 9


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "--share"),
        (["--share", "1.5"], "--share"),
        (["--share", "0.3", "--chance", "2"], "--chance"),
        (["--share", "0.3", "--configs", "0"], "--configs"),
        (["--share", "0.3", "--fleet", "1"], "--fleet"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, word, capsys):
    """Nothing is computed."""
    assert cli.main(["cluster-size", *arguments]) == 2
    error = capsys.readouterr().err
    assert word in error
    assert error.count("\n") == 1
