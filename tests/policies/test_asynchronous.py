"""Laws of the asynchronous ladder: no lane waits, and no rung takes more than its share."""

import math
import random

import pytest
from scenes import ask

from albacore.errors import CampaignError
from albacore.policies.asynchronous import Asynchronous

LADDER = Asynchronous()


def walked(steps, *, lag, seed=0):
    """Return the asks and costs of a walk in which the last `lag` asks are always on the way."""
    rng, asks, costs = random.Random(seed), [], {}
    for index in range(steps):
        for done in asks[: max(0, len(asks) - lag)]:
            costs.setdefault((done.config_id, done.rung), rng.random() if rng.random() > 0.1 else math.inf)
        step = LADDER.step(asks, costs)
        asks.append(ask(index, step.config_id or f"c{index}", step.rung, step.bracket))
    return asks, costs


@pytest.mark.parametrize("lag", [0, 1, 11])
def test_at_most_a_third_of_what_has_finished_climbs(lag):
    """At every rung, at every moment, however scores come in."""
    for seed in range(5):
        asks, costs = walked(200, lag=lag, seed=seed)
        for rung in (0, 1):
            finished = sum((a.config_id, rung) in costs for a in asks if a.rung == rung)
            assert sum(a.rung == rung + 1 for a in asks) <= finished // 3


def test_every_rung_gets_close_to_its_share():
    """Of 200 asks with nothing on the way about 9 : 3 : 1."""
    asks, _ = walked(200, lag=0)
    counts = [sum(a.rung == rung for a in asks) for rung in (0, 1, 2)]

    assert counts[1] >= counts[0] // 3 - 1
    assert counts[2] >= counts[1] // 3 - 1


def test_nothing_climbs_twice_and_nothing_that_failed():
    """A config is asked for once per rung."""
    asks, costs = walked(200, lag=3)

    assert len({(a.config_id, a.rung) for a in asks}) == len(asks)
    assert all(costs[a.config_id, a.rung - 1] < math.inf for a in asks if a.rung)


def test_the_best_climbs_first():
    """Of three finished ones the cheapest."""
    asks = [ask(i, f"c{i}") for i in range(3)]

    step = LADDER.step(asks, {("c0", 0): 3.0, ("c1", 0): 1.0, ("c2", 0): 2.0})

    assert (step.config_id, step.rung) == ("c1", 1)


def test_while_samples_are_awaited_a_lane_asks_for_a_new_config():
    """No lane ever waits."""
    asks = [ask(i, f"c{i}") for i in range(9)]

    assert LADDER.step(asks, {}).config_id is None


def test_rungs_that_do_not_rise_are_refused():
    """As by every ladder."""
    with pytest.raises(CampaignError, match="strictly rising"):
        Asynchronous(rungs=(3, 1))
