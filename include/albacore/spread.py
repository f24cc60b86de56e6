"""Spread: how much every metric of some samples varies, between nodes and from repeat to repeat."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from albacore.sample import Sample
from albacore.stats import coefficient_of_variation


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Say how much one metric varies.

    Attributes:
        samples: How many figures there are, on `nodes` nodes.
        cov: Coefficient of variation over all figures; None where there is none (one figure, or a mean of 0).
        between: That of the nodes' means.
        within: Median over the nodes of that of a node's figures.
    """

    metric: str
    unit: str
    nodes: int
    samples: int
    mean: float
    cov: float | None
    between: float | None
    within: float | None


def spreads(samples: Sequence[Sample]) -> list[Spread]:
    """Return the spread of every metric that a sample has, in the order of their names."""
    names = sorted({name for sample in samples for name in sample.metrics})
    return [_of(name, [s for s in samples if name in s.metrics]) for name in names]


def _of(metric: str, samples: Sequence[Sample]) -> Spread:
    """Return the spread of one metric."""
    by_node: dict[str, list[float]] = {}
    for sample in samples:
        by_node.setdefault(sample.node, []).append(sample.value(metric))
    values = [value for each in by_node.values() for value in each]
    inside = [cov for each in by_node.values() if (cov := _cov(each)) is not None]
    return Spread(
        metric=metric,
        unit=samples[0].metrics[metric].unit,
        nodes=len(by_node),
        samples=len(values),
        mean=statistics.fmean(values),
        cov=_cov(values),
        between=_cov([statistics.fmean(each) for each in by_node.values()]),
        within=statistics.median(inside) if inside else None,
    )


def _cov(values: Sequence[float]) -> float | None:
    """Return the coefficient of variation; None for fewer than two figures."""
    return coefficient_of_variation(values) if len(values) > 1 else None
