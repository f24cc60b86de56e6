"""Rule: the choices that look at one config at a time, without a model: TUNA's own, and what is compared with it.

| statistic | of a config's k figures (less is better: its mirror image) |
|---|---|
| min | the worst one (TUNA §4.4) |
| mean, median | themselves |
| p10 | the worst tenth, between neighbours by a straight line |

Then, in this order: `sds` standard deviations off a mean, a smooth penalty by `slope`, a sharp one over `threshold`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from albacore.errors import UserError
from albacore.policies.choice import Seen, goodness, relative_range
from albacore.trial import Direction

STATISTICS = ("min", "mean", "median", "p10")
PENALTIES = ("half", "artifact")
ADJUSTED = ("nothing", "range", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Score a config by a statistic of its figures, less what their range costs.

    Attributes:
        statistic: One of `STATISTICS`.
        sds: Standard deviations (n - 1) to go off the statistic, to the worse side.
        slope: Score x (1 - slope x relative range), never below 0: the smooth penalty.
        threshold: Relative range above which a config is unstable; infinite for never.
        penalty: `half` of the score (TUNA §4.2), or as the `artifact`'s code has it: at the threshold already, half of
            the worse of score and worst default node.
        adjust: What the nodes' effects (median log deviation from each candidate's own median) are taken out of:
            `nothing`, the `range` only, or `all` figures.
    """

    statistic: str = "min"
    sds: float = 0.0
    slope: float = 0.0
    threshold: float = math.inf
    penalty: str = "half"
    adjust: str = "nothing"

    def __post_init__(self) -> None:
        for key, value, known in (
            ("statistic", self.statistic, STATISTICS),
            ("penalty", self.penalty, PENALTIES),
            ("adjust", self.adjust, ADJUSTED),
        ):
            if value not in known:
                raise UserError(f"policy: {key}: expected one of {', '.join(known)}, got {value!r}.")
        for key, number in (("sds", self.sds), ("slope", self.slope), ("threshold", self.threshold)):
            if not number >= 0:
                raise UserError(f"policy: {key}: expected a number of at least 0, got {number!r}.")

    def scores(self, seen: Seen) -> NDArray[np.float64]:
        """Return (S, C) scores: throughputs, or one over times."""
        x = seen.chosen_from
        flat = without_node_effects(x) if self.adjust != "nothing" else x
        ranges = relative_range(flat)
        score = self._score(flat if self.adjust == "all" else x, seen.direction)
        score = score * np.clip(1 - self.slope * ranges, 0, None)
        if self.penalty == "artifact":
            default = goodness(seen.default, seen.direction)
            floor = np.where(np.isnan(default), np.inf, default).min(axis=1, keepdims=True)
            return np.where(ranges >= self.threshold, np.minimum(score, floor) / 2, score)
        return np.where(ranges > self.threshold, score / 2, score)

    def _score(self, x: NDArray[np.float64], direction: Direction) -> NDArray[np.float64]:
        is_min = direction is Direction.MIN
        if self.statistic == "min":
            value = x.max(axis=-1) if is_min else x.min(axis=-1)
        elif self.statistic == "p10":
            value = np.quantile(x, 0.9 if is_min else 0.1, axis=-1)
        else:
            value = x.mean(axis=-1) if self.statistic == "mean" else np.median(x, axis=-1)
        if self.sds and x.shape[-1] > 1:
            away = self.sds * x.std(axis=-1, ddof=1)
            value = value + away if is_min else np.clip(value - away, 0, None)
        return goodness(value, direction)


def without_node_effects(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (S, C, k) figures with each node's effect divided out.

    A node's effect is the median, over the candidates, of the log deviation from the candidate's own median.
    """
    log = np.log(x)
    deviation = log - np.median(log, axis=-1, keepdims=True)
    return np.exp(log - np.median(deviation, axis=1, keepdims=True))
