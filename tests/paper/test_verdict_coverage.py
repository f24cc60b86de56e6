"""How often a verdict ships what is no better, by long simulation (docs/decisions/verdict-interval.md)."""

import math
import random

import pytest

from albacore.trial import Direction
from albacore.verdict.comparison import compare

pytestmark = pytest.mark.paper

RUNS = 4000


def normal(generator):
    return generator.gauss(0, 1)


def heavy(generator):
    """Student's t with three degrees of freedom, scaled to a variance of 1."""
    chi2 = sum(generator.gauss(0, 1) ** 2 for _ in range(3))
    return generator.gauss(0, 1) / math.sqrt(chi2 / 3) / math.sqrt(3)


def slow(generator):
    """A heavy slow side: mean 0, variance 1, skew -2."""
    return 1 - generator.expovariate(1)


def rates(shape, *, nodes, repeats, configs, between, within=0.02):
    """Return the shares of runs in which the best of some equal configs ships, and in which its interval covers."""
    generator = random.Random(7)
    share = math.sqrt(0.5)
    shipped = covered = 0
    for _ in range(RUNS):
        common = [[between * share * shape(generator), *draws(generator, repeats, within)] for _ in range(nodes)]
        theirs = {str(n): {r: math.exp(v) for r, v in enumerate(row[1:])} for n, row in enumerate(common)}
        found = []
        for _ in range(configs):
            ours = {}
            for n, row in enumerate(common):
                node = row[0] + between * share * shape(generator)
                ours[str(n)] = {r: math.exp(node + v) for r, v in enumerate(draws(generator, repeats, within))}
            found.append(compare(ours, theirs, Direction.MAX, confidence=0.95, among=configs))
        interval = max(found, key=lambda one: one.estimate or 0.0).interval
        assert interval is not None
        shipped += interval.low > 1
        covered += interval.low <= 1 <= interval.high
    return shipped / RUNS, covered / RUNS


def draws(generator, count, within):
    return [within * math.sqrt(0.5) * generator.gauss(0, 1) for _ in range(count)]


DESIGNS = [(3, 3, 1), (3, 3, 2), (4, 2, 1), (5, 2, 2), (10, 2, 2)]


@pytest.mark.parametrize(("nodes", "repeats", "configs"), DESIGNS)
@pytest.mark.parametrize("between", [0.01, 0.03, 0.10])
@pytest.mark.parametrize("shape", [normal, heavy])
def test_under_symmetric_noise_the_level_is_kept(shape, between, nodes, repeats, configs):
    """At most 2.5 % ship without gain and at least 95 % are covered.

    4,000 runs have standard deviations of 0.25 and 0.34 points there; three of them, and 0.2 points because Sidak's
    bound is exact only for contenders that do not hang together, give 3.5 % and 93.8 %.
    """
    shipped, covered = rates(shape, nodes=nodes, repeats=repeats, configs=configs, between=between)

    assert shipped <= 0.035
    assert covered >= 0.938


@pytest.mark.parametrize(("nodes", "repeats", "configs"), DESIGNS)
def test_under_strong_skew_it_is_not_and_by_how_much_is_known(nodes, repeats, configs):
    """The limit that the page tells of: up to 11 % there; 13 % is three standard deviations more (0.5 points each)."""
    shipped, _ = rates(slow, nodes=nodes, repeats=repeats, configs=configs, between=0.05)

    assert shipped <= 0.13
