"""Laws of the searches whose state is read off the scores: DDS, annealing, swarm, genetic, recursive random search."""

import random as shuffler

import numpy as np
import pytest
from squares import at, plain, scored

from albacore.optimizers import by_name, initial_design
from albacore.optimizers.annealing import Annealing
from albacore.optimizers.dynamically_dimensioned_search import neighbour, share
from albacore.optimizers.recursive_random_search import EXPLOIT, EXPLORE, C, R, state
from albacore.optimizers.standing import standings

SPACE = plain(6)
STATEFUL = ["annealing", "bestconfig", "particle_swarm", "recursive_random_search"]


@pytest.mark.parametrize("kind", STATEFUL)
def test_scores_may_come_in_any_order(kind: str) -> None:
    """The state follows the asks: told in another order, the same scores give the same proposal."""
    seen = scored([(config, float(sum(config.values()))) for config in initial_design(SPACE, 60, seed=1)])
    first = by_name(kind).suggest(SPACE, seen, [], seed=2, ask_index=61)
    shuffler.Random(3).shuffle(seen)
    assert by_name(kind).suggest(SPACE, seen, [], seed=2, ask_index=61) == first


def test_fewer_knobs_are_moved_the_nearer_the_end_is() -> None:
    """P(i) = 1 - ln i / ln m: all at first, about half in the middle of the logarithm, one in the end (step 3)."""
    assert share(1, 100) == 1.0
    assert share(10, 100) == pytest.approx(0.5)
    assert share(100, 100) == 0.0 == share(500, 100)
    rng = np.random.default_rng(1)
    best = np.full(6, 0.5)
    assert all((neighbour(SPACE, best, 0.0, rng) != best).sum() == 1 for _ in range(20))
    assert (neighbour(SPACE, best, 1.0, rng) != best).all()


def test_a_step_of_dds_has_the_papers_length_and_stays_in_the_cube() -> None:
    """R = 0.2, mirrored at the bounds (step 4). 4,000 steps: the error of the deviation is 0.2 / sqrt(8000) = 0.002."""
    rng = np.random.default_rng(1)
    steps = [neighbour(plain(1), np.array([0.5]), 1.0, rng)[0] - 0.5 for _ in range(4000)]
    # A normal step of 0.2 is mirrored beyond 2.5 deviations, which shortens the deviation by less than 2 %.
    assert np.std(steps) == pytest.approx(0.2, abs=0.01)
    assert all(0 <= neighbour(plain(1), np.array([0.01]), 1.0, rng)[0] <= 1 for _ in range(200))


def test_a_hot_walk_climbs_and_a_cold_one_does_not() -> None:
    """A rise of a third of a quartile distance is often taken early, never late; a fall is always taken."""
    pairs = [(at(i / 100), 1.0 + 0.01 * i) for i in range(10)]
    start, worse, better = at(0.0), at(0.5), at(0.9)
    taken = {"early": 0, "late": 0}
    for seed in range(40):
        for name, budget in (("early", 10_000), ("late", 11)):
            walk = Annealing(initial=10, budget=budget)
            index = 10 if name == "early" else 11
            seen = [*scored(pairs), *scored([(worse, 1.015)])]
            seen[-1] = type(seen[-1])(config=worse, score=1.015, ask_index=index)
            taken[name] += walk.stand(seen, seed) == worse
            fell = [*scored(pairs), type(seen[-1])(config=better, score=0.9, ask_index=index)]
            assert walk.stand(fell, seed) == better
    # The quartiles are 0.05 apart, so the rise is 0.3 of them: exp(-0.3 / 0.5) = 0.55 of 40 early, exp(-60) late.
    assert 10 < taken["early"] < 34 and taken["late"] == 0
    assert Annealing(initial=10).stand(scored(pairs), 1) == start


def test_a_particle_without_speed_at_the_best_place_is_only_shaken() -> None:
    """X = p = g and no velocity: the next position is next to it, by no more than the shake allows."""
    here = at(*[0.4] * 6)
    seen = scored([(here, 0.0)])
    config = by_name("particle_swarm").suggest(SPACE, seen, [], seed=1, ask_index=10)
    # 50 shakes at most, each with a deviation of 0.02 (k + 1): the first new config is that of the first shake.
    assert config != here and np.abs(SPACE.encode(config) - 0.4).max() < 0.2


def test_children_take_each_knob_from_a_parent_or_mutate_it() -> None:
    """Of the knobs of a child of two parents all but a few are those of one of them."""
    mother, father = at(*[0.2] * 6), at(*[0.8] * 6)
    seen = scored([(mother, 0.0), (father, 0.1)])
    inherited = [
        sum(v in (0.2, 0.8) for v in by_name("genetic").suggest(SPACE, seen, [], seed=1, ask_index=i).values())
        for i in range(10, 60)
    ]
    # Each of 6 knobs mutates with 1/6, and one does for sure when both parents are the same: 4.5 to 5 are inherited.
    assert 4.2 < np.mean(inherited) < 5.3


def asked(costs: list[float]):
    return standings(scored([(at((i + 1) / 1000), cost) for i, cost in enumerate(costs)]))


def test_recursive_random_search_explores_zooms_moves_shrinks_and_starts_anew() -> None:
    """The paper's Alg. 1, transition by transition."""
    explored = [5.0] * (EXPLORE - 1)
    assert state(asked(explored)).centre is None
    zoomed = state(asked([*explored, 1.0]))
    assert zoomed.centre == at(EXPLORE / 1000) and zoomed.rho == R
    moved = state(asked([*explored, 1.0, 0.5]))
    assert moved.centre == at((EXPLORE + 1) / 1000) and moved.rho == R
    shrunk = state(asked([*explored, 1.0, *[2.0] * EXPLOIT]))
    assert shrunk.rho == C * R and shrunk.centre == zoomed.centre
    assert state(asked([*explored, 1.0, *[2.0] * EXPLOIT * 7])).centre is None  # 0.1 / 2^7 < 0.001
    again = state(asked([*explored, 1.0, *[2.0] * EXPLOIT * 7, 3.0, 0.9]))
    assert again.centre is not None and again.rho == R  # 0.9 is below the mark of the first exploration
