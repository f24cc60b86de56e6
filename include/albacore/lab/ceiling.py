"""The ceiling: what a policy with perfect knowledge would reach at the same share of unstable picks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from albacore.lab.protocol import Truth


def ceiling(truths: "Sequence[Truth]", unstable: float) -> NDArray[np.float64]:
    """Return (R, 4) figures of the picks with the highest held-out mean at a given share of unstable picks.

    Every split starts with its best stable candidate. Then splits change to their best candidate, those first that
    gain most, as long as the share of unstable picks over all runs allows.

    Args:
        truths: Of each of the R runs.
        unstable: Allowed share of unstable picks, in per cent, runs counting equally.
    """
    safe = [np.where(t.unstable > 0, t.mean - 2, t.mean).argmax(axis=1) for t in truths]
    free = [t.mean.argmax(axis=1) for t in truths]
    gains, costs, places = [], [], []
    for r, truth in enumerate(truths):
        i = np.arange(len(safe[r]))
        gains.append(truth.mean[i, free[r]] - truth.mean[i, safe[r]])
        costs.append((truth.unstable[i, free[r]] - truth.unstable[i, safe[r]]) / len(i) / len(truths))
        places.append(np.stack([np.full(len(i), r), i], axis=1))
    spent = sum(t.unstable[np.arange(len(s)), s].mean() for t, s in zip(truths, safe, strict=True)) / len(truths)
    gain, cost, place = np.concatenate(gains), np.concatenate(costs), np.concatenate(places)
    with np.errstate(divide="ignore", invalid="ignore"):
        best_first = np.argsort(-np.where(cost > 0, gain / cost, np.where(gain > 0, np.inf, -np.inf)), kind="stable")
    allowed = best_first[spent + np.cumsum(cost[best_first]) <= unstable / 100 + 1e-12]
    picks = [s.copy() for s in safe]
    for r, i in place[allowed[gain[allowed] > 0]]:
        picks[r][i] = free[r][i]
    return np.stack([t.figures(p) for t, p in zip(truths, picks, strict=True)])
