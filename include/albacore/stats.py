"""Small statistics: means, spreads and bootstrap intervals over nodes."""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with the interval around it, in the unit of what was estimated."""

    estimate: float
    low: float
    high: float
    confidence: float


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive values: the mean for ratios."""
    return math.exp(statistics.fmean(math.log(v) for v in values))


def coefficient_of_variation(values: Sequence[float]) -> float:
    """Return the sample standard deviation over the mean; 0 for one value."""
    return statistics.stdev(values) / abs(statistics.fmean(values)) if len(values) > 1 else 0.0


def quantile(ordered: Sequence[float], q: float) -> float:
    """Return the q-quantile of sorted values, between neighbours by a straight line."""
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def bootstrap_ratio(
    ratios: Mapping[str, Sequence[float]], *, confidence: float = 0.95, draws: int = 4000, seed: int = 0
) -> Interval:
    """Return the geometric mean of ratios and its percentile interval, resampling nodes, then repeats on a node.

    Nodes are drawn first because repeats on one node share its noise (TUNA §4.1, Fig. 6: sample in space). With few
    nodes the interval is wide and still optimistic; the caller says how many there were.

    Args:
        ratios: Node -> positive ratios measured on it, at least one node with at least one.
    """
    nodes = {node: [math.log(r) for r in values] for node, values in ratios.items() if values}
    names = sorted(nodes)
    generator = random.Random(seed)
    means = []
    for _ in range(draws):
        drawn = [
            statistics.fmean(generator.choices(nodes[n], k=len(nodes[n])))
            for n in generator.choices(names, k=len(names))
        ]
        means.append(math.exp(statistics.fmean(drawn)))
    means.sort()
    tail = (1 - confidence) / 2
    estimate = math.exp(statistics.fmean(statistics.fmean(values) for values in nodes.values()))
    return Interval(estimate=estimate, low=quantile(means, tail), high=quantile(means, 1 - tail), confidence=confidence)
