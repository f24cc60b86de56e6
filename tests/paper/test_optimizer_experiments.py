"""docs/experiments/optimizers.md says what experiments/optimizers found, and it comes out again.

With the mark `paper` the first repeat of every piece is computed anew, in some minutes; ALBACORE_REPEATS=30 all of
them, in an hour or two.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = ROOT / "experiments" / "optimizers"
PAGE = ROOT / "docs" / "experiments" / "optimizers.md"
DECISION = ROOT / "docs" / "decisions" / "metis-exploits-its-process.md"
EXPERIMENTS = ("metis", "bestconfig", "microservices")
FIGURES = {"microservices": slice(0, -1)}
"""What of a repeat follows from its seed: all but the seconds."""
SAME = 0.9
"""Share of the pieces that come out again. On another processor the last digit of a sum may differ, and a search with
it; on one processor all are the same."""


def run(experiment: str, *arguments: str) -> str:
    command = [sys.executable, str(HERE / f"{experiment}.py"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_page_has_the_tables_that_the_results_make(experiment: str) -> None:
    """Line by line; the figures of the page are never typed."""
    page = (PAGE.read_text() + DECISION.read_text()).splitlines()
    lines = run(experiment, "--print").splitlines()
    assert len(lines) > 10
    assert [line for line in lines if line and line not in page] == []


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_piece_has_the_repeats_that_the_page_names(experiment: str) -> None:
    """As many as the experiment's title says, and five of what takes a hundred trials and more."""
    found = json.loads((HERE / f"{experiment}.json").read_text())
    many = max(len(rows) for rows in found.values())
    assert f"`{experiment}.py`: {many} repeats" in PAGE.read_text()
    few = {name for name, rows in found.items() if len(rows) != many}
    assert all(len(found[name]) == 5 and (" | 100 | " in name or " | 180 | " in name) for name in few)


@pytest.fixture
def pieces(monkeypatch):
    """The module that cuts experiments into pieces; it is in no package."""
    monkeypatch.syspath_prepend(str(HERE.with_name("workbench")))
    return importlib.import_module("pieces")


def counted(pieces, name: str, made: list) -> object:
    """Return a piece whose repeat n is n, and which notes what was computed."""
    return pieces.Piece(name=name, make=lambda seed: made.append((name, seed)) or seed)


def test_only_what_is_missing_is_computed(pieces, tmp_path: Path) -> None:
    """Repeats of the results file are kept; the others are computed, of every piece alike."""
    made: list = []
    both = [counted(pieces, name, made) for name in ("a", "b")]

    found = pieces.compute(both, tmp_path, {"a": [0, 1]}, repeats=3, seconds=60)

    assert found == {"a": [0, 1, 2], "b": [0, 1, 2]}
    assert made == [("b", 0), ("b", 1), ("a", 2), ("b", 2)]


def test_an_experiment_that_was_ended_goes_on(pieces, tmp_path: Path) -> None:
    """In the middle of a piece's repeat: what was there before is not computed again."""
    made: list = []

    def ends(seed: int) -> int:
        if seed == 1 and not made:
            raise KeyboardInterrupt
        return seed

    with pytest.raises(KeyboardInterrupt):
        pieces.compute([pieces.Piece(name="a b", make=ends)], tmp_path, {}, repeats=3, seconds=60)
    found = pieces.compute([counted(pieces, "a b", made)], tmp_path, {}, repeats=3, seconds=60)

    assert found == {"a b": [0, 1, 2]}
    assert made == [("a b", 1), ("a b", 2)]


def test_when_the_seconds_are_over_the_results_stay_as_they_were(pieces, tmp_path: Path) -> None:
    """The next run goes on."""
    with pytest.raises(pieces.OverError, match="0 of 2"):
        pieces.compute([counted(pieces, "a", [])], tmp_path, {}, repeats=2, seconds=-1)


@pytest.mark.paper
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_recorded_figures_come_out_again(experiment: str, tmp_path: Path) -> None:
    """In a fresh folder, with the same seeds."""
    target, repeats = tmp_path / "results.json", os.environ.get("ALBACORE_REPEATS", "1")
    run(experiment, "--repeats", repeats, "--state", str(tmp_path / "state"), "--results", str(target))
    part = FIGURES.get(experiment, slice(None))
    recorded = json.loads((HERE / f"{experiment}.json").read_text())
    same = [
        [row[part] for row in rows] == [row[part] for row in recorded[name][: len(rows)]]
        for name, rows in json.loads(target.read_text()).items()
    ]
    assert sum(same) >= SAME * len(recorded)
