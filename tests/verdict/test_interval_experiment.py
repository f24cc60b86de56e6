"""Laws of experiments/verdict, which the figures of docs/decisions/verdict-interval.md come from."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from albacore.errors import HistoryError
from albacore.lab.matrix import Matrix
from albacore.stats import student_quantile
from albacore.trial import Direction

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs" / "decisions" / "verdict-interval.md", ROOT / "docs" / "campaign-file.md")


@pytest.fixture
def figures(monkeypatch):
    """The experiment, which is no package; its modules are attributes of this one."""
    monkeypatch.syspath_prepend(str(ROOT / "experiments" / "verdict"))
    import figures

    return figures


def made_up(figures, draws, *, shape="normal", nodes=3, repeats=2, contenders=1, **noise):
    fresh = sys.modules["fresh_nodes"]
    rng = np.random.default_rng(11)
    world = fresh.MadeUp(shape=getattr(fresh, shape), **{"between": 0.03, "within": 0.0, **noise})
    return world.draw(rng, draws, fresh.Design(nodes=nodes, repeats=repeats, contenders=contenders)), rng


@pytest.mark.parametrize("nodes", [3, 5])
def test_one_contender_under_normal_noise_is_covered_as_often_as_said(figures, nodes):
    """Student's t is exact there: 95 % covered and 2.5 % shipped, within three standard errors of 2,000 draws.

    Those are 3 x 0.49 and 3 x 0.35 points.
    """
    found = figures.without_gain.counted(*made_up(figures, 2000, nodes=nodes))

    assert abs(found["covered"] / 2000 - 0.95) <= 0.0147
    assert abs(found["shipped"] / 2000 - 0.025) <= 0.0105


def test_more_is_asked_at_a_higher_level(figures):
    """What ships at 0.99 ships at 0.95, and that at 0.90."""
    found = figures.without_gain.counted(*made_up(figures, 300, shape="slow", contenders=2))

    assert found["at 0.99"] <= found["shipped"] <= found["at 0.90"]
    assert found["above 1.05"] <= found["shipped"]


def test_the_bootstrap_never_leaves_the_range_of_the_nodes(figures):
    """Why it is too narrow: with three nodes it ends where the worst of them is."""
    drawn, rng = made_up(figures, 50)
    low = sys.modules["verdicts"].bootstrap_low(drawn, np.zeros(50, dtype=int), rng)
    logs = np.log(drawn.ours[:, 0] / drawn.default)

    assert (low >= logs.mean(axis=2).min(axis=1) - 1e-9).all()
    assert (low < logs.mean(axis=(1, 2))).all()


@pytest.mark.parametrize(("nodes", "contenders"), [(2, 1), (3, 2), (10, 2)])
def test_the_reach_is_that_of_students_t(figures, nodes, contenders):
    """Over N nodes, at the level split over the contenders."""
    expected = student_quantile(0.975 ** (1 / contenders), nodes - 1) / math.sqrt(nodes)

    assert figures.reach.reach(nodes, contenders) == pytest.approx(expected, rel=1e-9)


def test_every_design_has_its_cell_and_nothing_is_made_up_of_recorded_noise(figures, monkeypatch):
    """A line per noise, a column per design; `-` where recorded samples are missing."""
    without_gain = figures.without_gain
    monkeypatch.setattr(without_gain, "DRAWS", 10)
    monkeypatch.delenv("ALBACORE_SAMPLES", raising=False)
    found = {piece.name: [piece.make(0)] for piece in without_gain.all_pieces({})}

    lines = without_gain.coverage(found).splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines[2 : 2 + len(without_gain.NOISES)]]
    assert [row[0] for row in rows] == list(without_gain.NOISES)
    assert {len(row) for row in rows} == {1 + len(without_gain.DESIGNS)}
    assert all((set(row[1:]) == {"-"}) == row[0].startswith("recorded") for row in rows)
    assert lines[-1].startswith("10 draws per cell")


def test_a_batch_comes_out_again(figures, monkeypatch):
    """Its seed is its own."""
    monkeypatch.setattr(figures.without_gain, "DRAWS", 10)
    monkeypatch.setattr(figures.worth, "DRAWS", 10)
    every = {piece.name: piece.make for piece in figures.all_pieces()}

    for make in (every["normal, 3 % | 3 nodes x 3, 1 contender"], every["worth | 1.1 | 3 x 2"]):
        assert make(1) == make(1) != make(2)


def test_what_is_in_place_without_a_gain_to_be_seen_is_the_default(figures):
    """Where nothing ships the gain is 1; a large one always ships."""
    rng = np.random.default_rng(0)

    assert (figures.worth.in_place(rng, 0.5, 3, 2, 20) == 1).all()
    assert (figures.worth.in_place(rng, 9.0, 5, 2, 20) > 5).all()


@pytest.mark.parametrize("direction", list(Direction))
def test_recorded_configs_are_as_good_as_the_default_and_keep_their_nodes(figures, direction, monkeypatch):
    """In the geometric mean over the nodes; a node that is bad for a config is below 1 in either direction."""
    recorded, fresh = sys.modules["recorded_nodes"], sys.modules["fresh_nodes"]
    values = np.array([[110.0, 120.0, 130.0], [200.0, 210.0, 190.0], [100.0, 101.0, 102.0]])
    matrix = Matrix(
        workload="w", number=0, direction=direction, values=values, order=np.zeros((3, 3), dtype=np.int64),
        is_failed=np.zeros((3, 3), dtype=bool), candidates=2,
    )  # fmt: skip
    monkeypatch.setattr(recorded, "runs", lambda workload: (matrix,))

    pool = recorded.Pool.of(matrix, stable=True)
    assert pool.gains.mean(axis=1) == pytest.approx([0, 0])
    assert (pool.gains[0, 0] < 0) == (direction is Direction.MAX)

    two = fresh.Design(nodes=40, repeats=2, contenders=2)
    drawn = recorded.Recorded(workload="w").draw(np.random.default_rng(0), 3, two)
    gains = np.log(direction.gain(drawn.ours, drawn.default[:, None])).mean(axis=3)
    assert drawn.direction is direction
    assert np.abs(gains).max() < 0.3
    assert (
        recorded.Recorded(workload="w").draw(
            np.random.default_rng(0), 3, fresh.Design(nodes=3, repeats=2, contenders=3)
        )
        is None
    )


def test_who_has_no_recorded_samples_is_told_where_they_come_from(figures, monkeypatch):
    """Instead of a path that is not there."""
    monkeypatch.delenv("ALBACORE_SAMPLES", raising=False)
    recorded = sys.modules["recorded_nodes"]

    with pytest.raises(HistoryError, match=r"ALBACORE_SAMPLES: expected the folder .* docs/policies\.md"):
        recorded.runs.__wrapped__("TPC-C")


def test_the_docs_have_the_tables_that_the_results_make(figures):
    """Block by block; `page.py` writes them, nobody types a figure."""
    text = "\n".join(page.read_text() for page in PAGES)
    known = figures.results()

    for name, fill in figures.SECTIONS.items():
        assert f"<!-- verdict: {name} -->\n{fill(known)}\n<!-- end -->" in text, name


def test_every_piece_of_the_results_has_all_of_its_batches(figures):
    """Also those of recorded samples, which need not be there to be shown."""
    known = figures.results()
    names = {piece.name: piece.repeats for piece in figures.all_pieces()}

    assert {name: len(batches) for name, batches in known.items()} == names
