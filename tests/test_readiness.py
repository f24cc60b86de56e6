"""Laws of the pilot: components of noise, what the detector sees, what a campaign costs; and its command."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scenes import sample
from stored_runs import default_of, judged_run

from albacore import cli
from albacore.errors import UserError
from albacore.readiness import Components, Detector, Unstable, bill, components, readiness, table
from albacore.sample import Purpose


def pilot(nodes=8, rounds=6, *, node=0.03, time=0.02, residual=0.01, seed=0):
    """Return logs of figures with known components."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(0, node, (nodes, 1)) + rng.normal(0, time, (1, rounds))
    return np.log(100.0) + drawn + rng.normal(0, residual, (nodes, rounds))


def test_components_are_found_again():
    """The mean square estimates are unbiased: over 400 pilots their mean is off by 4 standard errors at most."""
    found = [components(pilot(seed=seed)) for seed in range(400)]
    for name, true in (("node", 0.03), ("time", 0.02), ("residual", 0.01)):
        squares = np.array([getattr(c, name) ** 2 for c in found])
        # Clipping at 0 hardly ever happens here: the smallest true ratio is 0.02^2 * 8 / 0.01^2 = 32.
        assert squares.mean() == pytest.approx(true**2, abs=4 * squares.std() / 20)


def test_an_interval_holds_the_truth_as_often_as_it_says():
    """95 % of the residual's; of 60 pilots at least 51 (binomial, 0.3 % chance of fewer)."""
    held = 0
    for seed in range(60):
        interval = readiness(pilot(seed=seed), rungs=(1, 3)).intervals["residual"]
        held += interval.low <= 0.01 <= interval.high

    assert held >= 51


def test_nodes_that_are_alike_show_no_node_effect():
    """Clipped at 0, never negative."""
    found = components(pilot(node=0.0, seed=3))

    assert 0.0 <= found.node < 0.01
    assert found.total == pytest.approx((found.node**2 + found.time**2 + found.residual**2) ** 0.5)


def test_without_noise_the_chance_is_the_paper_s():
    """An unstable config shows when some nodes are hit and others not: 1 - 0.7^n - 0.3^n; nine nodes for 95 %."""
    detector = Detector(Components(node=0, time=0, residual=0), Unstable(share=0.3, loss=0.5), np.random.default_rng(0))
    for n in (3, 9, 10):
        # Of 20,000 draws the deviation of a share is 0.0035 at most.
        assert detector.found(n, 0.30) == pytest.approx(1 - 0.7**n - 0.3**n, abs=0.015)
    assert detector.needed(0.30) == 9
    assert detector.alarms(10, 0.30) == 0.0


def test_more_noise_wants_a_higher_threshold():
    """And a stable config is called unstable in 1 % of the cases at the suggested one."""
    suggested = []
    for residual in (0.02, 0.06):
        noise = Components(node=0.02, time=0.01, residual=residual)
        detector = Detector(noise, Unstable(), np.random.default_rng(0))
        suggested.append(detector.suggested(10))
        assert detector.alarms(10, suggested[-1]) <= 0.01 < detector.alarms(10, suggested[-1] - 0.02)

    assert suggested[0] < suggested[1]


def test_repeats_follow_from_what_does_not_cancel():
    """The node's effect does, for both configs run on it; four times the rest take sixteen times the samples."""
    quiet = readiness(pilot(node=0.2, time=0.0, residual=0.01, seed=1), rungs=(1, 3))
    noisy = readiness(pilot(node=0.0, time=0.0, residual=0.2, seed=1), rungs=(1, 3))

    assert quiet.repeats == 1
    assert noisy.repeats > 10


def test_a_round_that_a_node_lacks_is_left_out():
    """So is nothing else."""
    rows = [(f"n{i}", j, 100.0 + i + j) for i in range(3) for j in range(3)]

    assert table(rows).shape == (3, 3)
    assert table(rows[:-1]).shape == (3, 2)


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([("a", 0, 1.0), ("b", 0, 1.0)], "3 nodes"),
        ([(n, 0, 1.0) for n in "abc"], "2 rounds"),
        ([(n, j, -1.0) for n in "abc" for j in (0, 1)], "positive"),
    ],
)
def test_a_pilot_that_says_nothing_is_refused(rows, word):
    """With what it takes."""
    with pytest.raises(UserError, match=word):
        table(rows)


def test_the_bill_is_time_and_price():
    """500 samples of 285 s and 15 s between them: 41.7 node-hours, a tenth of it on ten nodes."""
    found = bill([285.0, 285.0, 285.0], samples=500, nodes=10, price=0.2)

    assert found.node_hours.estimate == pytest.approx(41.67, abs=0.01)
    assert found.hours.estimate == pytest.approx(4.167, abs=0.001)
    assert found.cost is not None
    assert found.cost.estimate == pytest.approx(8.33, abs=0.01)
    assert bill([1.0, 2.0], samples=1, nodes=1).cost is None


@pytest.fixture
def file(tmp_path):
    """A pilot of four nodes and three rounds, as a CSV file."""
    path = tmp_path / "pilot.csv"
    y = np.exp(pilot(4, 3))
    rows = [f"n{i},{j},{y[i, j]},60" for i in range(4) for j in range(3)]
    path.write_text("node,round,value,seconds\n" + "\n".join(rows) + "\n")
    return path


def test_the_command_says_it_in_words_or_json(file, capsys):
    """Nodes, threshold, repeats, hours, cost."""
    assert cli.main(["readiness", str(file), "--price", "0.2"]) == 0
    said = capsys.readouterr().out
    assert all(word in said for word in ("4 nodes, 3 rounds", "95 %", "Threshold", "node-hours, cost"))
    assert cli.main(["readiness", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["readiness"]["nodes"] == 4


@pytest.mark.parametrize(
    ("extra", "word"),
    [
        (["--rungs", "0,3"], "--rungs"),
        (["--threshold", "0"], "--threshold"),
        (["--share", "1.5"], "--share"),
        (["--samples", "0"], "--samples"),
        (["--price", "-1"], "price"),
    ],
)
def test_bad_numbers_are_one_line_and_exit_code_2(file, extra, word, capsys):
    """What was expected."""
    assert cli.main(["readiness", str(file), *extra]) == 2
    error = capsys.readouterr().err
    assert word in error
    assert error.count("\n") == 1


def test_a_file_that_does_not_parse_is_told_with_its_line(file, tmp_path, capsys):
    """Line 3; a column that is missing; a file that is not there."""
    broken = tmp_path / "broken.csv"
    broken.write_text("node,round,value,seconds\na,0,1,1\na,one,1,1\n")
    assert cli.main(["readiness", str(broken)]) == 2
    assert "broken.csv:3" in capsys.readouterr().err
    broken.write_text("node,value\na,1\n")
    assert cli.main(["readiness", str(broken)]) == 2
    assert "round, seconds missing" in capsys.readouterr().err
    assert cli.main(["readiness", str(tmp_path / "none.csv")]) == 2


def test_the_command_reads_the_validation_of_a_run(tmp_path, capsys):
    """The default's repeated samples; those of the tuning, one per node, and those of other configs are left out."""
    made = judged_run(tmp_path)
    y = 100 * np.exp(pilot(4, 3) - np.log(100.0))
    for i in range(4):
        for j in range(3):
            found = sample(default_of(made), f"v{i}", float(y[i, j]), purpose=Purpose.VALIDATE, slot=i, repeat=j)
            made.log.append_sample(replace(found, started_at=2e6, duration_s=60.0 + j))

    assert cli.main(["readiness", "run", "--store", made.store.url, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["readiness"]["nodes"], found["readiness"]["rounds"]) == (4, 3)
    same = components(np.log(y))
    assert found["readiness"]["components"]["residual"] == pytest.approx(same.residual)
    assert found["bill"]["node_hours"]["estimate"] == pytest.approx(500 * (61.0 + 15.0) / 3600)


def test_a_run_without_a_validation_is_no_pilot(tmp_path, capsys):
    """It says what it takes."""
    made = judged_run(tmp_path)

    assert cli.main(["readiness", "run", "--store", made.store.url]) == 2
    assert "at least 3 nodes" in capsys.readouterr().err
