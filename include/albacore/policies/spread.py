"""Spread: what the configs of a run have in common about their nodes, learnt from all of them at once.

Five samples say little about one config's spread; those of twenty configs on the same nodes say a lot about what a
spread looks like here. So each config's variance is shrunk to the others', by as much as the others agree, and the
node a config has not seen is expected to be like one of those it has.

G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments", SAGMB 3(1), 2004, §6: moments of log variances give d0 and s0.

| symbol | shape | meaning |
|---|---|---|
| y | (S, C, k) | log scores: log of a throughput, -log of a time |
| b | (S, 1, k) | node effects: median over configs of y less the config's median |
| m | (S, C) | location of a config on an average node |
| s2, d | (S, C) | variance of y - b within a config, with d = k - 1 degrees of freedom |
| s0, d0 | (S, 1) | the run's typical variance, and how many degrees of freedom it is worth |
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMALLEST_VARIANCE = 1e-8
"""A spread of 0.01 %: no two measurements of a real system agree better."""
MOST_DEGREES = 2000.0
"""Configs that agree perfectly; more makes no difference."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """A run's node effects and its configs' variances, of log scores.

    Attributes:
        node: b.
        location: m.
        variance: (S, C) posterior variance of one sample of a config on an average node.
        degrees: (S, 1) degrees of freedom of that variance: those of the config's own and those borrowed.
    """

    node: Array
    location: Array
    variance: Array
    degrees: Array

    @classmethod
    def of(cls, y: Array) -> "Spread":
        """Learn from the log scores of all candidates; k is at least 2."""
        node = np.median(y - np.median(y, axis=-1, keepdims=True), axis=1, keepdims=True)
        rest = y - node
        d = y.shape[-1] - 1.0
        s2 = rest.var(axis=-1, ddof=1) + SMALLEST_VARIANCE
        d0, s0 = prior(s2, d)
        return cls(
            node=node,
            location=np.median(rest, axis=-1),
            variance=(d0 * s0 + d * s2) / (d0 + d),
            degrees=d0 + d,
        )

    def probability_inside(self, low: Array, high: Array) -> Array:
        """Return (S, C) the probability that a new node's log score is between two bounds, (S, C) each.

        The new node is like one of the k seen ones, each as probable; the rest is Student-t.
        """
        from scipy.special import stdtr

        k = self.node.shape[-1]
        scale = np.sqrt(self.variance * (1 + 1 / k))
        inside = np.zeros_like(scale)
        for j in range(k):
            centre = self.location + self.node[..., j]
            inside += stdtr(self.degrees, (high - centre) / scale) - stdtr(self.degrees, (low - centre) / scale)
        return np.clip(inside / k, 0, 1)


def prior(s2: Array, d: float) -> tuple[Array, Array]:
    """Return (d0, s0), (S, 1) each: the scaled inverse chi-squared law that the variances of a run come from.

    Args:
        s2: (S, C) sample variances, above 0.
        d: Their degrees of freedom.
    """
    from scipy.special import digamma, polygamma

    e = np.log(s2) - digamma(d / 2) + np.log(d / 2)
    mean = e.mean(axis=1, keepdims=True)
    excess = (e.var(axis=1, ddof=1, keepdims=True) if s2.shape[1] > 1 else 0 * mean) - polygamma(1, d / 2)
    d0 = np.where(excess > 0, 2 * inverse_trigamma(np.maximum(excess, 1e-6)), MOST_DEGREES)
    d0 = np.minimum(d0, MOST_DEGREES)
    return d0, np.exp(mean + digamma(d0 / 2) - np.log(d0 / 2))


def inverse_trigamma(x: Array) -> Array:
    """Return y with trigamma(y) = x > 0, by Newton's method on 1 / trigamma (Smyth 2004, appendix)."""
    from scipy.special import polygamma

    y = 0.5 + 1 / x
    for _ in range(10):
        trigamma = polygamma(1, y)
        y = np.maximum(y + trigamma * (1 - trigamma / x) / polygamma(2, y), 1e-9)
    return y


def robust_location(y: Array, *, degrees: float, rounds: int = 15) -> Array:
    """Return (S, C) locations of (S, C, k) log scores under Student-t noise of one scale for all configs.

    The scale is the median absolute deviation over all configs of the split. A sample far off counts little, on either
    side: the heavy slow tail does not decide which config is fast.

    Args:
        degrees: Of the Student-t; 1 is the heaviest tail.
    """
    centre = np.median(y, axis=-1, keepdims=True)
    scale = 1.4826 * np.median(np.abs(y - centre), axis=(1, 2), keepdims=True) + SMALLEST_VARIANCE**0.5
    for _ in range(rounds):
        weight = 1 / (1 + ((y - centre) / scale) ** 2 / degrees)
        centre = (weight * y).sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    return centre[..., 0]
