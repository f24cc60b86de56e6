"""Laws of optimal computing budget allocation: the closed form, and what it means for a ladder."""

import math

import pytest
from scenes import ask

from albacore.policies.budget_allocation import BudgetAllocation, shares

LADDER = BudgetAllocation(rungs=(1, 2, 3, 4), first=3, per_config=3.0)


def asked(*pairs):
    return [ask(i, config, rung) for i, (config, rung) in enumerate(pairs)]


THREE = asked(("a", 0), ("b", 0), ("c", 0))


def test_the_shares_are_those_of_the_theorem():
    """Costs 1, 2, 3 with deviation 1: the second has (2/1)^2 = 4 times the third's, the best sqrt(4^2 + 1^2)."""
    best = math.sqrt(17)
    assert shares([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]) == pytest.approx([x / (5 + best) for x in (best, 4, 1)])


def test_a_deviation_counts_as_much_as_a_distance():
    """Twice as far away and twice as noisy is the same; a quieter best needs fewer samples for it.

    By hand: ratios (2/2)^2 = (1/1)^2 = 1; the best 0.5 * sqrt((1/1)^2 + (1/2)^2).
    """
    best = 0.5 * math.sqrt(1.25)
    assert shares([0.0, 1.0, 2.0], [0.5, 1.0, 2.0]) == pytest.approx([x / (2 + best) for x in (best, 1, 1)])


@pytest.mark.parametrize("costs", [[5.0], [2.0, 2.0, 2.0], [-3.0, -3.0, 1.0], [0.0, 1e9]])
def test_shares_are_finite_and_sum_to_one(costs):
    """Also of one config, and of several that are equal: nobody of these is left out."""
    found = shares(costs, [1.0] * len(costs))

    assert sum(found) == pytest.approx(1.0)
    assert all(share > 0 for share in found)


def test_new_configs_come_first_and_whenever_the_budget_is_spent():
    """Nothing is allocated among two; nor when there are three samples per config already."""
    costs = {("a", 0): 1.0, ("b", 0): 2.0, ("c", 0): 3.0}
    many = [*THREE, *asked(("a", 3), ("b", 2), ("c", 1))]

    assert LADDER.step(THREE[:2], costs).config_id is None
    assert LADDER.step(many, costs | {("a", 3): 1.0, ("b", 2): 2.0, ("c", 1): 3.0}).config_id is None


def test_the_next_sample_goes_to_who_lacks_most_of_its_share():
    """Worked by hand.

    At 1, 2, 3 with a sample each the shares of four samples are 1.81, 1.75, 0.44: the best lacks most. Once it has
    two, of five samples 2.26, 2.19, 0.55 are due: the second lacks 1.19, the best 0.26.
    """
    costs = {("a", 0): 1.0, ("b", 0): 2.0, ("c", 0): 3.0}
    first = LADDER.step(THREE, costs)
    second = LADDER.step([*THREE, ask(3, "a", 1)], costs | {("a", 1): 1.0})

    assert (first.config_id, first.rung) == ("a", 1)
    assert (second.config_id, second.rung) == ("b", 1)


def test_a_config_that_is_certain_to_lose_gets_no_more():
    """It is behind the best on all nodes, and a worst value only gets worse; one that failed is out as well."""
    asks = asked(("a", 0), ("a", 1), ("a", 2), ("a", 3), ("b", 0), ("c", 0), ("d", 0), ("e", 0))
    costs = {("a", 3): 1.0, ("b", 0): 1.01, ("c", 0): math.inf, ("d", 0): 1.0, ("e", 0): 0.99}

    assert LADDER.step(asks, costs).config_id == "e"
    assert LADDER.step(asks, costs | {("e", 0): 1.02}).config_id is None


def test_the_default_takes_part_without_having_been_asked_for():
    """It has been measured on all nodes before the first ask: whoever is behind it is certain to lose."""
    costs = {("default", 3): 1.0, ("a", 0): 1.1, ("b", 0): 1.2, ("c", 0): 0.9}

    assert LADDER.step(THREE, costs).config_id == "c"


def test_a_config_that_is_being_measured_is_not_given_a_second_node_meanwhile():
    """The next one in need is."""
    costs = {("a", 0): 1.0, ("b", 0): 2.0, ("c", 0): 3.0}

    assert LADDER.step([*THREE, ask(3, "a", 1)], costs).config_id == "b"


def test_the_same_log_gives_the_same_step():
    """Whatever order the costs are kept in."""
    costs = {("a", 0): 1.0, ("b", 0): 1.5, ("c", 0): 3.0}

    assert LADDER.step(THREE, costs) == LADDER.step(THREE, dict(reversed(costs.items())))
