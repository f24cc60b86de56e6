"""Comparison: figures per workload and pooled, their differences to a reference, intervals over runs.

Runs are what varies: splits of one run share its nodes and configs. So runs are drawn with replacement, the same draw
for every policy (paired), and the interval is between percentiles of the means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from albacore.lab.protocol import FIGURES, Outcome

POOLED = "pooled"
CONFIDENCE = 0.95
DRAWS = 4_000
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over runs in per cent or points, and its interval; none of one run."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One policy at one k on one workload or pooled: figure -> estimate.

    Attributes:
        figures: Per cent.
        differences: Points above the reference's, paired over runs.
    """

    policy: str
    k: int
    figures: Mapping[str, Estimate]
    differences: Mapping[str, Estimate]


def scopes(outcome: Outcome) -> dict[str, NDArray[np.bool_]]:
    """Return each workload, and `pooled` at last, with the runs that belong to it."""
    names = np.array(outcome.workloads)
    return {**{w: names == w for w in dict.fromkeys(outcome.workloads)}, POOLED: np.ones(len(names), dtype=bool)}


def rows(outcome: Outcome, scope: NDArray[np.bool_], policies: Sequence[str], *, k: int, reference: str) -> list[Row]:
    """Return one row per policy, over the runs of a scope."""
    weights = _weights(int(scope.sum()))
    base = outcome.figures[reference, k][scope]
    found = []
    for policy in policies:
        own = outcome.figures[policy, k][scope]
        found.append(
            Row(
                policy=policy,
                k=k,
                figures=_estimates(own, weights),
                differences=_estimates(own - base, weights),
            )
        )
    return found


def _weights(runs: int) -> NDArray[np.float64]:
    """Return (draws, runs): how often each run is in each draw, over the number of runs."""
    drawn = np.random.default_rng(SEED).integers(0, runs, size=(DRAWS, runs))
    return np.stack([(drawn == r).sum(axis=1) for r in range(runs)], axis=1) / runs


def _estimates(values: NDArray[np.float64], weights: NDArray[np.float64]) -> dict[str, Estimate]:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(weights @ values, [tail, 100 - tail], axis=0)
    one = len(values) < 2
    return {
        name: Estimate(
            value=float(values[:, i].mean()),
            low=None if one else float(low[i]),
            high=None if one else float(high[i]),
        )
        for i, name in enumerate(FIGURES)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place in the trade: held-out mean against share of unstable picks, both in per cent."""

    policy: str
    mean: float
    unstable: float


def points(outcome: Outcome, policies: Sequence[str], *, k: int) -> list[Point]:
    """Return the pooled place of each policy."""
    i, j = FIGURES.index("mean"), FIGURES.index("unstable")
    means = {p: outcome.figures[p, k].mean(axis=0) for p in policies}
    return [Point(policy=p, mean=float(means[p][i]), unstable=float(means[p][j])) for p in policies]


def above(curve: Sequence[Point], others: Sequence[Point]) -> dict[str, float]:
    """Return, of each other policy, how many points of mean it is above the curve at its own unstable share.

    Below 0 the curve dominates it. Between its points the curve is a straight line: choosing between two settings by
    the throw of a coin reaches it. Beyond its ends the nearest end counts, whose share of unstable picks differs.
    """
    line = sorted(curve, key=lambda p: (p.unstable, p.mean))
    reached = np.maximum.accumulate([p.mean for p in line])
    return {p.policy: p.mean - float(np.interp(p.unstable, [q.unstable for q in line], reached)) for p in others}


def as_json(
    outcome: Outcome, policies: Sequence[str], curve: Sequence[str], *, ks: Sequence[int], reference: str
) -> dict[str, Any]:
    """Return everything as JSON values.

    `workloads` and `pooled` have policy -> k -> the four figures. Beside them: `differences` to the reference with
    intervals, pooled; the `ceiling`; the `curve` of the default choice.
    """
    by_scope = {
        name: {k: rows(outcome, scope, policies, k=k, reference=reference) for k in ks}
        for name, scope in scopes(outcome).items()
    }
    figures = {
        name: {
            policy: {str(k): {f: found[k][i].figures[f].value for f in FIGURES} for k in ks}
            for i, policy in enumerate(policies)
        }
        for name, found in by_scope.items()
    }
    pooled = figures.pop(POOLED)
    return {
        "workloads": figures,
        "pooled": pooled,
        "reference": reference,
        "differences": {
            name: {
                policy: {str(k): {f: _interval(found[k][i].differences[f]) for f in FIGURES} for k in ks}
                for i, policy in enumerate(policies)
            }
            for name, found in by_scope.items()
        },
        "ceiling": {str(k): dict(zip(FIGURES, outcome.ceiling[k].mean(axis=0).tolist(), strict=True)) for k in ks},
        "curve": {
            str(k): [{"policy": p.policy, "mean": p.mean, "unstable": p.unstable} for p in points(outcome, curve, k=k)]
            for k in ks
        },
    }


def _interval(estimate: Estimate) -> list[float | None]:
    return [estimate.value, estimate.low, estimate.high]
