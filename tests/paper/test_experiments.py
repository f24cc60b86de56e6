"""Laws of the figures in docs/experiments/tuna.md."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "experiments" / "tuna"
PLACES = [str(FOLDER), str(FOLDER.with_name("workbench"))]


@pytest.fixture(scope="module")
def experiments():
    """The modules of the experiments, which are no package."""
    before = list(sys.path)
    sys.path[:0] = PLACES
    import analysis
    import drawing
    import play
    import studies

    yield {"analysis": analysis, "drawing": drawing, "play": play, "studies": studies}
    sys.path[:] = before


@pytest.mark.parametrize("program", ["page", "play", "adjusters", "neighbours", "forests"])
def test_a_program_finds_the_library_by_itself(program):
    """As the page names it: `python experiments/tuna/...`, without a path of modules."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", f"import {program}"],
        cwd=FOLDER,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def row(*trace, default=0.4):
    return {"trace": [list(mark) for mark in trace], "default": default}


def test_a_curve_is_what_would_be_shipped_at_each_moment(experiments):
    """The default's share before anything was found, then the last mark's."""
    found = experiments["analysis"].curve([row((10, 0.1, 0.5), (20, 0.2, 0.45))], [5, 10, 19, 20, 99])

    assert found.tolist() == [[0.4, 0.5, 0.5, 0.45, 0.45]]


def test_speed_is_the_end_of_the_slow_over_the_time_of_the_fast(experiments):
    """Who reaches in 40 samples what the other has after 100 is 2.5 times as fast; who is the same, once."""
    fast, slow = [row((40, 0, 0.8))] * 3, [row((100, 0, 0.8))] * 3
    grid = list(range(1, 101))

    assert experiments["analysis"].speed(fast, slow, grid).value == 2.5
    assert experiments["analysis"].speed(slow, slow, grid).value == 1.0


def test_an_interval_holds_its_mean_and_is_the_same_each_time(experiments):
    """The resamples have a fixed seed."""
    values = np.random.default_rng(1).normal(size=30).tolist()
    found = experiments["analysis"].mean(values)

    assert found.low < found.value < found.high
    assert experiments["analysis"].mean(values) == found


def test_ticks_are_round_and_few(experiments):
    """Four to eight of them."""
    for low, high in ((0, 1), (0, 500), (30, 100), (2, 40), (0, 317)):
        found = experiments["drawing"].ticks(low, high)
        assert 4 <= len(found) <= 9
        assert low <= found[0] and found[-1] <= high


def test_runs_of_one_system_share_it_and_differ_in_the_node(experiments):
    """Transferability: thirty runs, one surface, one design, thirty nodes."""
    study = experiments["studies"].STUDIES["transfer"]
    (one, seed), (other, same) = (experiments["play"]._world(study, run) for run in (1000, 1029))
    point = np.full((1, 16), 0.3)

    assert seed == same
    assert one.surface.level(point) == other.surface.level(point)
    assert one.fleet.names != other.fleet.names
    assert experiments["play"]._world(study, 1030)[1] != seed


def test_every_block_of_the_page_has_its_section():
    """So that `page.py` fills all of them."""
    import re

    text = (FOLDER.parents[1] / "docs" / "experiments" / "tuna.md").read_text()
    names = set(re.findall(r"<!-- ([a-z-]+) -->", text)) - {"end"}
    source = (FOLDER / "page.py").read_text()

    assert len(names) == 13
    assert all(re.search(f'"{name}": (adjuster_)?sections\\.', source) for name in names)
