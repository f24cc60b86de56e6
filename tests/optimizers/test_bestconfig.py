"""Laws of BestConfig: divide-and-diverge sampling (B01, B02), bound (B03), recursion (B04), set size (B10)."""

import numpy as np
import pytest
from squares import at, plain, scored

from albacore.optimizers.bestconfig import BestConfig, bounds, divided, set_size
from albacore.optimizers.standing import standings
from albacore.space import Knob, Space

SPACE = plain(2)
N = set_size(30, 2)  # six per round


def round_of(costs: list[list[float]], places: list[list[tuple[float, float]]]):
    """Return the round that follows rounds of these costs at these places."""
    pairs = [(at(*p), c) for ps, cs in zip(places, costs, strict=True) for p, c in zip(ps, cs, strict=True)]
    return BestConfig(budget=30).round(SPACE, standings(scored(pairs)), len(costs), N)


SCATTERED = [(0.1, 0.5), (0.3, 0.9), (0.5, 0.4), (0.6, 0.1), (0.8, 0.7), (0.95, 0.2)]
INSIDE = [(0.35, 0.25), (0.45, 0.42), (0.48, 0.3), (0.52, 0.41), (0.55, 0.22), (0.58, 0.45)]


def test_each_interval_of_each_knob_comes_once_per_call() -> None:
    """Every column of a call is a permutation of the intervals (§4.1)."""
    for call in range(5):
        cells = divided(7, 4, 3, call)
        assert (np.sort(cells, axis=0) == np.arange(7)[:, None]).all()


@pytest.mark.parametrize("knobs", [2, 5])
def test_later_calls_cover_subspaces_that_were_not_covered(knobs: int) -> None:
    """The first n calls have n x n different subspaces: none is sampled twice (§4.1, unlike a Latin hypercube)."""
    cells = [tuple(cell) for call in range(7) for cell in divided(7, knobs, 3, call)]
    assert len(set(cells)) == 49


def test_the_bounds_are_the_nearest_sampled_values() -> None:
    """Fig. 4: per knob the largest sampled value below the best's and the smallest above it."""
    sampled = standings(scored([(at(*place), float(i != 2)) for i, place in enumerate(SCATTERED)]))
    low, high = bounds(SPACE, sampled, sampled[2])
    assert low.tolist() == [0.3, 0.2] and high.tolist() == [0.6, 0.5]


def test_at_the_border_the_bound_is_the_knobs_own() -> None:
    """Where nothing was sampled below or above, the box reaches the end of the range."""
    sampled = standings(scored([(at(0.2, 0.9), 0.0), (at(0.7, 0.4), 1.0)]))
    low, high = bounds(SPACE, sampled, sampled[0])
    assert low.tolist() == [0.0, 0.4] and high.tolist() == [0.7, 1.0]


def test_a_gain_is_followed_and_a_round_without_one_starts_anew() -> None:
    """Bound around the best; around the better one after a gain; the complete space after none (§4.2)."""
    first = [1.0, 1.0, 0.5, 1.0, 1.0, 1.0]
    assert round_of([], []).box is None
    low, high = round_of([first], [SCATTERED]).box
    assert (low < (0.5, 0.4)).all() and (high > (0.5, 0.4)).all()
    better = round_of([first, [0.9, 0.4, 0.9, 0.9, 0.9, 0.9]], [SCATTERED, INSIDE])
    assert (better.box[0] < (0.45, 0.42)).all() and (better.box[1] - better.box[0] < high - low).all()
    worse = round_of([first, [0.9] * 6], [SCATTERED, INSIDE])
    assert worse.box is None and worse.call == 1


def test_the_asks_of_a_bounded_round_lie_in_the_box() -> None:
    """All six proposals after the first round lie between the neighbours of its best."""
    seen = scored([(at(*place), float(i != 2)) for i, place in enumerate(SCATTERED)])
    for index in range(6, 12):
        config = BestConfig(budget=30).suggest(SPACE, seen, [], seed=1, ask_index=index)
        assert 0.3 <= config["x0"] <= 0.6 and 0.2 <= config["x1"] <= 0.5


def test_a_round_has_as_many_tests_as_there_are_knobs_if_the_budget_has() -> None:
    """A fifth of the budget, more when there are more knobs, never more than all of it (§5.6, Table 4)."""
    assert set_size(100, 13) == 20
    assert set_size(100, 40) == 40
    assert set_size(50, 100) == 50


def test_a_small_round_is_warned_of() -> None:
    """Fewer tests per round than knobs: the finding, the evidence, the remedy (§5.6)."""
    assert "20 tests per round for 25 knobs" in BestConfig(budget=20).advice(plain(25))
    assert BestConfig(budget=100).advice(plain(25)) == ""


def test_switches_and_choices_are_divided_like_ranges() -> None:
    """Six intervals of a switch are three times each of its two values (§4.1, heterogeneity)."""
    space = Space(
        knobs=(
            Knob(name="on", kind="bool", default=True),
            Knob(name="mode", kind="choice", choices=("a", "b", "c"), default="a"),
            Knob(name="x", kind="real", low=0.0, high=1.0, default=0.5),
        )
    )
    asked = [BestConfig(budget=30).suggest(space, [], [], seed=1, ask_index=i) for i in range(6)]
    assert sorted(config["on"] for config in asked) == [False] * 3 + [True] * 3
    assert sorted(str(config["mode"]) for config in asked) == ["a", "a", "b", "b", "c", "c"]
