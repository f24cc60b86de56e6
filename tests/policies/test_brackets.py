"""Laws of the ladder."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from albacore.errors import CampaignError
from albacore.policies.brackets import Brackets, halving_shape
from albacore.trial import Ask


def ask(index, config_id, rung, bracket, lane=0):
    return Ask(
        index=index,
        key=f"k{index}",
        lane=lane,
        config_id=config_id,
        rung=rung,
        bracket=bracket,
        read_n=0,
        inputs_digest="",
    )


def climb(ladder, count, lanes=1, seed=0):
    """Ask `count` times with so many lanes; the lane that finishes is drawn, costs follow from the config's number."""
    generator = random.Random(seed)
    asks, costs, running = [], {}, []
    for index in range(count):
        while len(running) >= lanes:
            done = running.pop(generator.randrange(len(running)))
            costs[done.config_id, done.rung] = float(hash_free_cost(done.config_id))
        step = ladder.step(asks, costs)
        config_id = step.config_id or f"c{index}"
        asks.append(ask(index, config_id, step.rung, step.bracket))
        running.append(asks[-1])
    return asks


def hash_free_cost(config_id):
    """Return a cost that has nothing to do with the order of the asks."""
    return (int(config_id[1:]) * 7919) % 101


def test_smac_gives_the_same_number_of_configs_per_rung_with_hyperband():
    """80 asks in one lane: SMAC 2.4.1's MultiFidelityFacade, whose default is Hyperband, asks 36 : 28 : 16 times."""
    counts = Counter(a.rung for a in climb(Brackets(is_hyperband=True), 80))

    assert [counts[rung] for rung in (0, 1, 2)] == [36, 28, 16]


def test_smac_gives_the_same_number_of_configs_per_rung_with_successive_halving():
    """80 asks in one lane: SMAC 2.4.1 with SuccessiveHalving passed explicitly asks 56 : 18 : 6 times."""
    counts = Counter(a.rung for a in climb(Brackets(), 80))

    assert [counts[rung] for rung in (0, 1, 2)] == [56, 18, 6]


def test_the_best_third_is_promoted():
    """Of the nine of a bracket the three cheapest reach rung 1, and the cheapest of them rung 2."""
    asks = climb(Brackets(), 13)

    first = sorted((a.config_id for a in asks if a.rung == 0), key=hash_free_cost)
    assert {a.config_id for a in asks if a.rung == 1} == set(first[:3])
    assert [a.config_id for a in asks if a.rung == 2] == first[:1]


def test_a_config_that_was_given_up_is_never_promoted():
    """An infinite cost keeps a config below, even when the stage above stays short of one."""
    ladder = Brackets(rungs=(1, 2))
    asks = [ask(i, f"c{i}", 0, 0) for i in range(3)]
    costs = {("c0", 0): math.inf, ("c1", 0): math.inf, ("c2", 0): math.inf}

    step = ladder.step(asks, costs)

    assert step.config_id is None
    assert step.bracket == 1


def test_an_ask_handed_out_again_takes_no_place_in_its_bracket():
    """A rung whose iteration died is asked for again: the bracket still holds nine configs."""
    asks = [ask(i, f"c{min(i, 7)}", 0, 0) for i in range(9)]

    step = Brackets().step(asks, {})

    assert (step.config_id, step.bracket) == (None, 0)


@settings(max_examples=60, deadline=None)
@given(
    lanes=st.integers(1, 14),
    seed=st.integers(0, 10_000),
    is_hyperband=st.booleans(),
    rungs=st.sampled_from([(1, 3, 10), (1, 3, 5), (1,), (10,), (1, 2), (1, 2, 4, 8)]),
)
def test_laws_of_every_climb(lanes, seed, is_hyperband, rungs):
    """No lane waits, no config is asked for twice at a rung, it climbs rung by rung, and stages keep their size."""
    ladder = Brackets(rungs=rungs, is_hyperband=is_hyperband)

    asks = climb(ladder, 120, lanes, seed)

    assert len({(a.config_id, a.rung) for a in asks}) == 120
    for a in asks:
        shape = dict(ladder.shape(a.bracket))
        stage = [b.config_id for b in asks if b.bracket == a.bracket and b.rung == a.rung]
        assert len(stage) <= shape[a.rung]
        below = [b for b in asks if b.bracket == a.bracket and b.rung == a.rung - 1 and b.config_id == a.config_id]
        assert below or a.rung == ladder.shape(a.bracket)[0][0]


@settings(max_examples=30, deadline=None)
@given(lanes=st.integers(1, 10), seed=st.integers(0, 1000), at=st.integers(0, 60))
def test_a_step_is_a_pure_function_of_asks_and_costs(lanes, seed, at):
    """The same asks and costs give the same step, also from a new ladder."""
    asks = climb(Brackets(), 61, lanes, seed)[:at]
    costs = {(a.config_id, a.rung): float(hash_free_cost(a.config_id)) for a in asks}

    assert Brackets().step(asks, costs) == Brackets().step(list(asks), dict(reversed(costs.items())))


@pytest.mark.parametrize("rungs", [(), (0, 1), (3, 1), (1, 1)])
def test_rungs_that_do_not_rise_are_refused(rungs):
    """The message says what was expected and what was given."""
    with pytest.raises(CampaignError, match=r"rungs: expected strictly rising .* got \["):
        Brackets(rungs=rungs)


def test_shapes_are_those_of_hyperband():
    """Eta 3 and three rungs: 9:3:1, 5:1, 3."""
    assert [halving_shape(3, start, 3) for start in (0, 1, 2)] == [
        ((0, 9), (1, 3), (2, 1)),
        ((1, 5), (2, 1)),
        ((2, 3),),
    ]
