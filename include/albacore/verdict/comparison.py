"""Comparison: how many times better one config is than another on nodes that had no part in choosing.

Both ran on each node one after the other, so what the node does to both falls out of their ratio. What is left differs
from node to node, and repeats on one node share it: the number of nodes decides how sure one can be, not the number of
samples. With three nodes resampling them would give intervals that are far too narrow, so Student's t over the nodes'
means is used (docs/decisions/verdict-interval.md has the coverage of both).

| symbol | meaning |
|---|---|
| y_nr | log of the ratio on node n in repeat r, above 0 is better |
| m_n, N | mean of y_nr over the repeats of node n; number of nodes |
| s^2 | variance of the m_n, but at least what the repeats alone would give them |
| k | how many configs the better one was picked from, on these very samples |
| t | Student's t with N - 1 degrees of freedom |
"""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from albacore.stats import Interval, student_cdf, student_quantile
from albacore.trial import Direction

LARGEST = 700.0
"""Of a logarithm whose exponential is still a float."""

Figures = Mapping[str, Mapping[int, float]]
"""Node -> repeat -> figure of one config, in the metric's unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What the fresh nodes say of one config against another.

    Attributes:
        estimate: How many times better, the geometric mean over nodes; None when it could not be computed.
        interval: The estimate with its interval; None when one node or none was common to both.
        probability: How sure one may be that it is better at all, 0 to 1; None without an interval.
        nodes: Nodes on which both were measured; `pairs` the samples of each there.
        reason: Why something is None, "" otherwise.
    """

    estimate: float | None = None
    interval: Interval | None = None
    probability: float | None = None
    nodes: int = 0
    pairs: int = 0
    reason: str = ""


def compare(ours: Figures, theirs: Figures, direction: Direction, *, confidence: float, among: int = 1) -> Comparison:
    """Return how many times better `ours` is than `theirs`.

    Args:
        ours: The config's figures; a node or a repeat that the other lacks is left out.
        theirs: The other's.
        direction: Which way the metric improves.
        confidence: Of the two-sided interval.
        among: How many configs `ours` was picked from by these samples. The lower end and the probability hold for
        whichever was picked (Sidak: all k at once); the upper end needs no more room, for the picked one is not low.
    """
    pairs = _pairs(ours, theirs)
    if not pairs:
        return Comparison(reason="no fresh node measured both configs")
    if bad := [node for node, *values in pairs if min(values) <= 0]:
        return Comparison(
            nodes=len({node for node, *_ in pairs}),
            pairs=len(pairs),
            reason=f"a figure on {bad[0]} is not above 0, so a ratio says nothing",
        )
    y: dict[str, list[float]] = {}
    for node, value, reference in pairs:
        y.setdefault(node, []).append(math.log(direction.gain(value, reference)))
    means = [statistics.fmean(values) for values in y.values()]
    estimate = statistics.fmean(means)
    if len(means) == 1:
        reason = "one fresh node says nothing of others"
        return Comparison(estimate=math.exp(estimate), nodes=1, pairs=len(pairs), reason=reason)
    error = math.sqrt(_variance(y, means) / len(means))
    interval, probability = _sureness(estimate, error, len(means) - 1, confidence, among)
    return Comparison(
        estimate=math.exp(estimate), interval=interval, probability=probability, nodes=len(means), pairs=len(pairs)
    )


def _pairs(ours: Figures, theirs: Figures) -> list[tuple[str, float, float]]:
    """Return (node, our figure, their figure) of every node and repeat that both have."""
    return [
        (node, value, theirs[node][repeat])
        for node, values in ours.items()
        for repeat, value in values.items()
        if repeat in theirs.get(node, {})
    ]


def _variance(y: Mapping[str, list[float]], means: list[float]) -> float:
    """Return s^2.

    Three nodes sometimes agree by luck, far better than their own repeats do; the repeats then say how well nodes can
    agree at all.
    """
    freedom = sum(len(values) - 1 for values in y.values())
    if freedom == 0:
        return statistics.variance(means)
    within = sum((v - m) ** 2 for values, m in zip(y.values(), means, strict=True) for v in values) / freedom
    return max(statistics.variance(means), within * statistics.fmean(1 / len(values) for values in y.values()))


def _sureness(y: float, error: float, freedom: int, confidence: float, among: int) -> tuple[Interval, float]:
    """Return the interval of exp(y), and how sure one may be that y is above 0."""
    tail = (1 - confidence) / 2
    low = y - student_quantile((1 - tail) ** (1 / among), freedom) * error
    high = y + student_quantile(1 - tail, freedom) * error
    alone = student_cdf(y / error, freedom) if error > 0 else (0.5 if y == 0 else float(y > 0))
    interval = Interval(estimate=math.exp(y), low=_ratio(low), high=_ratio(high), confidence=confidence)
    return interval, alone**among


def _ratio(y: float) -> float:
    """Return exp(y), which two nodes that differ a lot can take beyond the largest float."""
    return math.exp(min(max(y, -LARGEST), LARGEST))
