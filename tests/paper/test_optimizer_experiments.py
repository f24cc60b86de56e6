"""docs/experiments/optimizers.md says what experiments/optimizers found, and it comes out again.

`make paper` computes the first repeat of every piece anew, in some minutes; ALBACORE_REPEATS=30 all of them, in an hour
or two.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = ROOT / "experiments" / "optimizers"
PAGE = ROOT / "docs" / "experiments" / "optimizers.md"
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
    page = PAGE.read_text().splitlines()
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
