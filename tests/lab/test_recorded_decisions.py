"""Laws of experiments/recorded: figures of ranking.md, albacore-policy.md and ladder.md in docs/decisions."""

import sys
from pathlib import Path

import numpy as np
import pytest

from albacore.errors import HistoryError
from albacore.lab.matrix import Matrix
from albacore.trial import Direction

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "decisions"


@pytest.fixture
def decisions(monkeypatch):
    """The experiment, which is no package; its modules are attributes of this one."""
    monkeypatch.syspath_prepend(str(ROOT / "experiments" / "recorded"))
    import decisions

    return decisions


def matrix(values, *, candidates=None, order=None, direction=Direction.MAX):
    """Return a run of configs x nodes, its default last; NaN is a failed sample where the order has one."""
    rows = np.array(values, dtype=float)
    numbered = np.arange(rows.size).reshape(rows.shape) if order is None else np.array(order)
    return Matrix(
        workload="mine",
        number=0,
        direction=direction,
        values=rows,
        order=numbered,
        is_failed=np.isnan(rows) & (numbered >= 0),
        candidates=len(rows) - 1 if candidates is None else candidates,
    )


def noisy(candidates=27):
    rng = np.random.default_rng(3)
    return matrix(100 * np.exp(rng.normal(0, 0.03, (candidates + 1, 10))))


def test_what_is_left_of_a_config_is_one_three_or_five_nodes(decisions):
    """Each once."""
    nodes = sys.modules["cutting"].drawn(noisy(), np.random.default_rng(0))

    assert {len(own) for own in nodes} == {1, 3, 5}
    assert all(len(set(own.tolist())) == len(own) for own in nodes)


def test_more_nodes_are_earned_as_on_the_papers_ladder(decisions):
    """27 configs are three brackets of 9:3:1; those that climbed were the best of their bracket on one node."""
    run = noisy()
    nodes = sys.modules["cutting"].earned(run, np.random.default_rng(0))

    counts = [len(own) for own in nodes]
    assert [counts.count(n) for n in (1, 3, 5)] == [18, 6, 3]
    first = [run.values[place, own[0]] for place, own in enumerate(nodes)]
    for begin in (0, 9, 18):
        best = sorted(range(begin, begin + 9), key=lambda place: -first[place])[:3]
        assert sorted(best) == [place for place in range(begin, begin + 9) if counts[place] > 1]


def test_each_rule_picks_what_it_is_named_after(decisions):
    """By hand; less is better mirrors it."""
    own = [np.arange(5), np.arange(5), np.arange(3), np.arange(1), np.arange(3)]
    steady, fast = [100.0] * 10, [99.0, 110, 110, 110, 110, 110, 110, 110, 110, 110]
    values = [steady, fast, [120, 121, 122, *[120] * 7], [300] * 10, [400, 210, 400, *[400] * 7], [90] * 10]
    for run in (matrix(values), matrix(1 / np.array(values, dtype=float), direction=Direction.MIN)):
        best = decisions.rules.picks(run, own)

        assert best["best worst case on the highest rung"] == 0
        assert best[decisions.rules.OURS] in (0, 1)
        assert best["cautious estimate over all rungs, one node last"] == 2
        assert best["best worst case over all rungs"] == best["best mean over all rungs"] == 3
        assert 4 not in best.values(), "the fifth was found unstable on its three nodes"


def test_a_pick_is_worth_what_it_shows_on_the_other_nodes(decisions):
    """Mean 90 of 110, worst 80 of 100, and a range over all nodes of (100 - 80) / 95."""
    run = matrix([[100, 100, 80, 100], [50, 50, 100, 120], [1, 1, 1, 1]])

    assert decisions.rules.worth(run, 0, np.array([0, 1])) == pytest.approx([100 * 90 / 110, 80, 0])


def test_errors_of_drawing_shrink_with_batches(decisions):
    """Two equal batches of one run: the mean stays, the error is that of twice as many draws."""
    rules = decisions.rules
    batch = [{rule: [90.0, 80.0, 10.0, 1.0, 2.0, 3.0] for rule in rules.RULES}]
    found = rules.by_run({"rules | drawn | TPC-C": [batch, batch]}, "drawn", rules.OURS, ("TPC-C",))

    assert found[0] == pytest.approx([90, 80, 10, *(np.array([1, 2, 3]) / np.sqrt(2))])


@pytest.mark.parametrize("direction", list(Direction))
def test_the_first_sample_is_held_against_the_mean_of_the_later_ones(decisions, direction):
    """120 before a mean of 100; of times 100 after a mean of 120."""
    is_max = direction is Direction.MAX
    values = [[100, 120, 90, 110], [1, 1, 1, 1]] if is_max else [[120, 100, 130, 110], [1, 1, 1, 1]]
    run = matrix(values, order=[[3, 1, 2, 4], [0, 0, 0, 0]], direction=direction)

    assert decisions.luck.promotions(run) == pytest.approx([1.2])


def test_the_best_first_sample_is_followed_to_its_later_nodes(decisions):
    """200 came down to 100 and failed once; the config that came after the first fifty is not looked at.

    It counts as one that climbed.
    """
    absent, nan = -1, np.nan
    values = [[90] * 4, *[[50, nan, nan, nan]] * 48, [200, 100, nan, nan], [900] * 4, [1] * 4]
    order = [[1, 2, 3, 4], *[[10 + i, absent, absent, absent] for i in range(48)], [60, 70, 71, absent]]
    run = matrix(values, candidates=1, order=[*order, [80, 81, 82, 83], [0, 0, 0, 0]])

    assert decisions.luck.climbed(run) == [51, 3, 2]
    assert decisions.luck.best_of_fifty(run) == pytest.approx([3, 0.25, 0.0])


def test_what_is_said_is_counted_where_it_is_open(decisions):
    """Of 3 splits of 6 the fragile config looks steady, and is not; the steady one always does, and is."""
    run = matrix([[200, 200, 200, 80], [120, 120, 100, 120], [5, 5, 5, 5]])
    rows = np.array(decisions.risk.counted(run, 2))

    assert rows.shape == (len(decisions.risk.EDGES) - 1, 5)
    assert rows.sum(axis=0)[[0, 2]].tolist() == [9, 3]
    assert (rows[:, 1] <= rows[:, 0]).all()


def test_a_share_is_over_all_runs_and_its_interval_between_them(decisions):
    """3 of 9, from runs with 0 of 3 and 3 of 6."""
    middle, low, high = decisions.risk.share(np.array([3.0, 6.0]), np.array([0.0, 3.0]))

    assert middle == pytest.approx(100 / 3)
    assert (low, high) == pytest.approx((0, 50))


def test_without_recorded_samples_what_is_known_stays(decisions, monkeypatch):
    """And every piece of it has all of its batches."""
    monkeypatch.delenv("ALBACORE_SAMPLES", raising=False)
    known = decisions.results()

    assert {piece.name: piece.repeats for piece in decisions.all_pieces()} == {n: len(b) for n, b in known.items()}


def test_who_has_neither_samples_nor_results_is_told_what_is_missing(decisions, monkeypatch, tmp_path):
    """By the first piece."""
    monkeypatch.delenv("ALBACORE_SAMPLES", raising=False)
    monkeypatch.setattr(decisions, "RESULTS", tmp_path / "none.json")
    sys.modules["recorded_nodes"].runs.cache_clear()

    with pytest.raises(HistoryError, match="ALBACORE_SAMPLES: expected the folder"):
        decisions.all_pieces()[0].make(0)


def test_the_docs_have_the_tables_that_the_results_make(decisions, tmp_path):
    """Block by block, and the picture; `page.py` writes them, nobody types a figure."""
    text = "\n".join((FOLDER / name).read_text() for name in ("ranking.md", "albacore-policy.md", "ladder.md"))
    known = decisions.results()

    for name, fill in decisions.SECTIONS.items():
        assert f"<!-- recorded: {name} -->\n{fill(known)}\n<!-- end -->" in text, name
    decisions.risk.draw(known, tmp_path / "drawn.svg")
    assert (tmp_path / "drawn.svg").read_text() == (ROOT / "docs" / "figures" / "risk-calibration.svg").read_text()
