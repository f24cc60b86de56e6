"""Laws of contests, and of `albacore simulate`."""

import json

import numpy as np
import pytest

from albacore import cli
from albacore.errors import UserError
from albacore.simulation import tables, worlds
from albacore.simulation.contest import Contest, mean, of
from albacore.simulation.playing import Plan

SMALL = Contest(
    setting=worlds.plain(),
    contestants=("traditional-equal-cost", "rerun"),
    optimizer="random",
    runs=2,
    plan=Plan(samples=60, lanes=4),
)


def test_the_number_of_processes_changes_nothing():
    """Runs are worlds of their own."""
    alone = sorted(SMALL.play(processes=1), key=lambda s: (s.contestant, s.run))
    together = sorted(SMALL.play(processes=2), key=lambda s: (s.contestant, s.run))

    assert alone == together


def test_without_noise_the_best_sample_is_what_is_shipped():
    """Random search in a quiet world ships the best of what it saw, by the truth."""
    contest = Contest(
        setting=worlds.quiet(),
        contestants=("traditional-equal-cost",),
        optimizer="random",
        runs=3,
        plan=Plan(samples=100),
    )
    for found in contest.play(processes=1):
        assert 0.3 < found.share <= 1.0
        assert not found.is_unstable
        assert found.deployed == pytest.approx((found.share,) * 10)
        assert found.trace[-1][2] == found.share


def test_a_difference_is_paired():
    """The first contestant against itself would be 0, so its cell is empty; the other's has an interval."""
    shipped = list(SMALL.play(processes=1))
    rows = tables.lines(SMALL, shipped)
    plain = tables.as_json(SMALL, shipped)

    assert rows[2].split(" | ")[4].strip() == ""
    assert "[" in rows[3].split(" | ")[4]
    assert [r["run"] for r in plain["contestants"]["rerun"]["runs"]] == [0, 1]
    assert len(of(shipped, "rerun")) == 2


def test_an_interval_holds_its_mean():
    """And is a point for equal figures."""
    found = mean([1.0, 2.0, 3.0, 4.0])

    assert found.low < found.value == 2.5 < found.high
    assert mean([2.0, 2.0]).low == mean([2.0, 2.0]).high == 2.0


def test_an_unknown_contestant_is_told():
    """With those that there are."""
    with pytest.raises(UserError, match=r"tuna.*'nobody'"):
        Contest(setting=worlds.plain(), contestants=("nobody",))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--runs", "0"], "--runs"),
        (["--samples", "5"], "--samples"),
        (["--nodes", "1"], "--nodes"),
        (["--world", "nowhere"], "world"),
        (["--optimizer", "nobody"], "optimizer"),
        (["--contestant", "nobody"], "contestant"),
        (["--processes", "0"], "--processes"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, word, capsys):
    """Nothing is played."""
    assert cli.main(["simulate", *arguments]) == 2
    error = capsys.readouterr().err
    assert word in error
    assert error.count("\n") == 1


def test_the_command_prints_a_table_or_json(capsys):
    """One row per contestant."""
    few = ["--runs", "1", "--samples", "40", "--optimizer", "random", "--contestant", "naive", "--processes", "1"]
    assert cli.main(["simulate", *few]) == 0
    assert "| `naive` |" in capsys.readouterr().out
    assert cli.main(["simulate", *few, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["contestants"]["naive"]["runs"][0]["samples"] >= 40


HEADER = "method,run,seq,suggestion,worker,config_id,performance,failed,is_default"


def recorded(folder, spread, configs=40):
    """Write samples of configs on five nodes whose residual has this deviation; return the file."""
    rng = np.random.default_rng(5)
    rows = [(c, w) for c in range(configs) for w in range(5)]
    figures = [(100 + c) * np.exp(rng.normal(0, spread)) for c, _ in rows]
    lines = [
        f"TUNA,0,{i},{c},{w},c{c},{x:.4f},0,{int(c == 0)}"
        for i, ((c, w), x) in enumerate(zip(rows, figures, strict=True))
    ]
    path = folder / f"cloud__nginx__load{spread:g}.samples.csv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def test_residuals_of_recorded_samples_are_what_runs_meet(tmp_path, capsys):
    """The noise of a shipped config on new nodes follows the file: 1 % or 20 % where the world itself has 1.5 %."""
    spreads = []
    for deviation in (0.01, 0.2):
        file = recorded(tmp_path, deviation)
        few = ["--runs", "1", "--samples", "40", "--optimizer", "random", "--contestant", "rerun", "--processes", "1"]
        assert cli.main(["simulate", *few, "--json", "--residuals", str(file)]) == 0
        run = json.loads(capsys.readouterr().out)["contestants"]["rerun"]["runs"][0]
        spreads.append(np.std(np.log(run["deployed"])))

    assert spreads[1] > 2 * spreads[0]


def test_too_few_residuals_are_refused(tmp_path, capsys):
    """Fewer than 100 repeated samples say nothing of a tail."""
    file = recorded(tmp_path, 0.01, configs=3)

    assert cli.main(["simulate", "--runs", "1", "--residuals", str(file)]) == 2
    assert "at least 100" in capsys.readouterr().err
