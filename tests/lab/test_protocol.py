"""The protocol of the replay lab on runs small enough to compute by hand."""

from pathlib import Path

import numpy as np
import pytest

from albacore.errors import HistoryError
from albacore.history import HistoricalRun, Samples
from albacore.lab.matrix import Matrix
from albacore.lab.protocol import Truth, matrices, replay
from albacore.policies.named import CHOICES
from albacore.policies.rule import Rule
from albacore.trial import Direction


def run(configs, *, direction=Direction.MAX, default=None, method="TUNA", number=0, workload="mine"):
    """Return a run: config id -> figures on nodes 0, 1, …; None is a failure, an absent tail is not measured."""
    rows = [("d", n, v, True) for n, v in enumerate(default or [])]
    rows += [(c, n, v, False) for c, values in configs.items() for n, v in enumerate(values)]
    return HistoricalRun(
        workload=workload,
        method=method,
        number=number,
        direction=direction,
        metric="performance",
        unit="",
        source=Path("a.csv"),
        digest="0",
        samples=Samples(
            order=np.arange(len(rows)),
            suggestion=np.array([0 if d else 1 for *_, d in rows]),
            config_id=np.array([c for c, *_ in rows], dtype=object),
            node=np.array([str(n) for _, n, *_ in rows], dtype=object),
            value=np.array([0.0 if v is None else float(v) for _, _, v, _ in rows]),
            is_failed=np.array([v is None for _, _, v, _ in rows]),
            is_default=np.array([d for *_, d in rows]),
        ),
        configs={},
    )


FAST_AND_FRAGILE = {"fragile": [200, 200, 200, 80], "steady": [120, 120, 100, 120]}


def test_candidates_have_a_sound_sample_on_every_node():
    """The default, a config of a lower rung and one that failed on a node are none."""
    found = Matrix.of(run({"low": [9, 9], "crash": [9, 9, 9, None], "full": [9, 9, 9, 9]}, default=[5, 5, 5, 5]))

    assert found.candidates == 1
    assert found.values[0].tolist() == [9, 9, 9, 9]
    assert found.values[-1].tolist() == [5, 5, 5, 5]


def test_every_split_is_taken_once():
    """C(4, 2) = 6 splits; what is held out is what is not seen."""
    seen, held = Matrix.of(run(FAST_AND_FRAGILE)).splits(2)

    assert [tuple(s) + tuple(h) for s, h in zip(seen, held, strict=True)] == [
        (0, 1, 2, 3),
        (0, 2, 1, 3),
        (0, 3, 1, 2),
        (1, 2, 0, 3),
        (1, 3, 0, 2),
        (2, 3, 0, 1),
    ]


def test_the_figures_of_a_run_computed_by_hand():
    """`min` with three of four nodes: the bad node is held out once, seen three times.

    Held out node 3: fragile is chosen (200 > 100), its mean 80 of 120, worst the same, below 0.7 x 200. Held out node
    2: steady is chosen (120 > 80), 100 of 200. Nodes 0 and 1: steady, 120 of 200.
    """
    outcome = replay(matrices([run(FAST_AND_FRAGILE)]), {"min": Rule()}, [3], reference="min")

    share = (80 / 120 + 100 / 200 + 2 * 120 / 200) / 4
    assert outcome.figures["min", 3][0].tolist() == pytest.approx([100 * share, 100 * share, 25, 25])


def test_times_are_the_mirror_image():
    """Less is better: a share is best / own, a drop is a time above mean / 0.7, and the range is that of the times."""
    times = {"fragile": [5, 5, 5, 12.5], "steady": [10, 10, 10, 10]}

    outcome = replay(matrices([run(times, direction=Direction.MIN)]), {"min": Rule()}, [3], reference="min")

    # Node 3 held out: fragile, 10 / 12.5 of the best. Else steady (10 < 12.5), 5 / 10.
    share = (10 / 12.5 + 3 * 5 / 10) / 4
    assert outcome.figures["min", 3][0].tolist() == pytest.approx([100 * share, 100 * share, 25, 25])


def test_a_drop_is_measured_from_the_plain_mean_whatever_the_policy_promised():
    """Seen 100, 100, 40: mean 80. A held-out 57 is above 0.7 x 80 = 56, 55 is not."""
    for held, drop in ((57, 0), (55, 1)):
        matrix = Matrix.of(run({"c": [100, 100, 40, held]}))

        truth = Truth.of(matrix, np.array([[0, 1, 2]]), np.array([[3]]))

        assert truth.drop.tolist() == [[drop]]


def test_exactly_thirty_per_cent_is_stable():
    """(115 - 85) / 100 = 0.30 is not over it."""
    truth = Truth.of(Matrix.of(run({"c": [115, 85, 100], "u": [116, 84, 100]})), np.array([[0, 1]]), np.array([[2]]))

    assert truth.unstable.tolist() == [[0, 1]]


def test_runs_count_equally():
    """A workload's figure is the mean over its runs, not over their configs."""
    runs = matrices([run(FAST_AND_FRAGILE), run({"only": [10, 10, 10, 10]}, number=1)])

    outcome = replay(runs, {"min": Rule()}, [3], reference="min")

    assert outcome.figures["min", 3][1].tolist() == [100, 100, 0, 0]
    assert outcome.figures["min", 3].shape == (2, 4)


def test_the_ceiling_spends_the_share_of_unstable_picks_where_it_gains_most():
    """At no unstable pick it is the best steady one; at the reference's 25 %, one of four splits may be fragile."""
    runs = matrices([run(FAST_AND_FRAGILE)])

    none = replay(runs, {"never": Rule(threshold=0.0001, statistic="min")}, [3], reference="never").ceiling[3]
    some = replay(runs, {"min": Rule()}, [3], reference="min").ceiling[3]

    assert none[0, 2] <= some[0, 2] == 25
    # Node 3 held out: steady is best anyway. One of the others is fragile: 1 instead of 0.6 or 0.5.
    assert some[0, 0] == pytest.approx(100 * (1 + 1 + 0.6 + 0.6) / 4)


def test_only_runs_over_several_nodes_are_replayed():
    """A single-node method has nothing to hold out; without any run left that is said."""
    with pytest.raises(HistoryError, match="mine traditional 0"):
        matrices([run(FAST_AND_FRAGILE, method="traditional")])


def test_a_file_given_twice_counts_once():
    """The same samples, raw and in a sample file, are one run."""
    assert len(matrices([run(FAST_AND_FRAGILE), run(FAST_AND_FRAGILE)])) == 1


def test_k_has_to_leave_a_node():
    """With all nodes seen nothing judges."""
    with pytest.raises(HistoryError, match="expected 1 to 3"):
        replay(matrices([run(FAST_AND_FRAGILE)]), {"min": Rule()}, [4], reference="min")


@pytest.mark.parametrize("name", list(CHOICES))
@pytest.mark.parametrize("direction", list(Direction))
def test_no_choice_looks_at_held_out_nodes(name, direction):
    """Whatever happens on the nodes that are held out, the scores are the same to the bit."""
    rng = np.random.default_rng(1)
    figures = 100 * np.exp(rng.normal(0, 0.2, (12, 1)) + rng.normal(0, 0.1, (12, 8)))
    other = figures.copy()
    other[:, 5:] = 100 * np.exp(rng.normal(0, 1, (12, 3)))
    lower = {"low": [90, 91]}
    nodes = np.array([[0, 1, 2, 3, 4]])

    def scores(m):
        configs = {**{f"c{i}": list(row) for i, row in enumerate(m)}, **lower}
        return CHOICES[name].scores(Matrix.of(run(configs, default=list(m[0]), direction=direction)).seen(nodes))

    one, two = scores(figures), scores(other)

    assert np.array_equal(one, two)
    assert not np.isnan(one).any()


@pytest.mark.parametrize("name", list(CHOICES))
@pytest.mark.parametrize("k", [1, 2, 9])
def test_every_choice_works_at_every_k(name, k):
    """One node, one candidate, equal figures and more nodes than the fleet are no special case for the caller."""
    rng = np.random.default_rng(2)
    for configs in ({"c": [50.0] * 11}, {f"c{i}": list(100 + rng.normal(0, 5, 11)) for i in range(5)}):
        matrix = Matrix.of(run(configs, default=[40.0] * 11))

        scores = CHOICES[name].scores(matrix.seen(matrix.splits(k)[0]))

        assert scores.shape[1] == matrix.candidates
        assert np.isfinite(scores).all()
