"""Laws of racing: samples go where they can still change something."""

import math

from albacore.policies.racing import Racing
from albacore.trial import Ask


def ask(index, config, rung=0):
    return Ask(index=index, key=str(index), lane=0, config_id=config, rung=rung, bracket=0, read_n=0, inputs_digest="d")


def asked(*pairs):
    return [ask(i, config, rung) for i, (config, rung) in enumerate(pairs)]


RACE = Racing(rungs=(1, 2, 3), first=2, width=2)


def test_new_configs_come_first():
    """Nothing races before there is somebody to race with."""
    assert RACE.step([], {}).config_id is None
    assert RACE.step(asked(("a", 0)), {("a", 0): 1.0}).config_id is None


def test_the_best_challenger_gets_the_next_node():
    """One node more, whatever the others have."""
    step = RACE.step(asked(("a", 0), ("b", 0)), {("a", 0): 2.0, ("b", 0): 1.0})

    assert (step.config_id, step.rung) == ("b", 1)


def test_who_has_fallen_behind_the_best_gets_no_more():
    """Its worst sample is worse than that of the best config on all nodes: more samples cannot mend that."""
    asks = asked(("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("c", 0))
    costs = {("a", 0): 1.0, ("a", 1): 1.1, ("a", 2): 1.2, ("b", 0): 0.9, ("b", 1): 1.3, ("c", 0): 1.25}

    assert RACE.step(asks, costs).config_id is None
    assert RACE.step(asks, costs | {("c", 0): 1.19}).config_id == "c"


def test_a_config_that_failed_does_not_race():
    """Its cost is infinite."""
    step = RACE.step(asked(("a", 0), ("b", 0)), {("a", 0): math.inf, ("b", 0): math.inf})

    assert step.config_id is None


def test_no_more_than_its_width_race_at_the_same_time():
    """The other lanes look for new configs meanwhile."""
    asks = asked(("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1))
    costs = {("a", 0): 1.0, ("b", 0): 1.0, ("c", 0): 1.0}

    assert RACE.step(asks, costs).config_id is None
    assert RACE.step(asks[:-1], costs).config_id == "b"


def test_a_config_that_reached_the_top_is_done():
    """And a better one on the way overtakes it."""
    asks = asked(("a", 0), ("a", 1), ("a", 2), ("b", 0))
    costs = {("a", 0): 1.0, ("a", 1): 1.0, ("a", 2): 1.0, ("b", 0): 0.5}

    assert RACE.step(asks, costs).config_id == "b"
