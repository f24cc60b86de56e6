"""Small statistics: spreads, and the two distributions that few samples need.

Written out here, in some twenty lines, so that the same log gives the same verdict to the last bit under every version
of a numerical library.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

TINY, TERMS = 1e-300, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with the interval around it, in the unit of what was estimated."""

    estimate: float
    low: float
    high: float
    confidence: float


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation over the mean; 0 for one value, None around a mean of 0."""
    if len(values) < 2:
        return 0.0
    mean = abs(statistics.fmean(values))
    return statistics.stdev(values) / mean if mean > 0 else None


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for x in [0, 1] and positive a, b.

    By its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22), evaluated as Lentz does.
    """
    if x <= 0 or x >= 1:
        return min(1.0, max(0.0, x))
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, the other tail's does not
        return 1 - incomplete_beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    upper, lower, value = 1.0, 0.0, 1.0
    for term in range(TERMS):
        m = term // 2
        if term == 0:
            step = 1.0
        elif term % 2 == 0:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        lower = 1 / _away_from_zero(1 + step * lower)
        upper = _away_from_zero(1 + step / upper)
        value *= upper * lower
        if abs(1 - upper * lower) < 1e-15:
            break
    return front * (value - 1)


def _away_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY


def student_cdf(t: float, freedom: float) -> float:
    """Return the chance that Student's t with so many degrees of freedom is at most t."""
    square = t * t
    if square < freedom:  # near 0 the tails would be a difference of nearly equal numbers
        tail = (1 - incomplete_beta(square / (freedom + square), 0.5, freedom / 2)) / 2
    else:
        tail = incomplete_beta(freedom / (freedom + square), freedom / 2, 0.5) / 2
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=256)
def student_quantile(p: float, freedom: float) -> float:
    """Return the t below which Student's t with so many degrees of freedom lies with chance p, 0 < p < 1."""
    if p < 0.5:
        return -student_quantile(1 - p, freedom)
    high = 1.0
    while student_cdf(high, freedom) < p:
        high *= 2
    return _root(lambda t: student_cdf(t, freedom) - p, 0.0, high)


def binomial_upper(seen: int, of: int, confidence: float) -> float:
    """Return the upper bound of a probability that showed itself `seen` times in `of` trials (Clopper and Pearson).

    The bound is above the truth with at least the given confidence. Never seen in three trials is still up to 63 %.
    """
    if of == 0 or seen >= of:
        return 1.0
    return _root(lambda p: incomplete_beta(p, seen + 1, of - seen) - confidence, 0.0, 1.0)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function crosses 0, by halving until the two ends meet."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if rising(middle) >= 0 else (middle, high)
    return (low + high) / 2


def mean_ratio(ratios: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Return the geometric mean of at least two positive ratios, with Student's t interval of their logarithms."""
    logs = [math.log(ratio) for ratio in ratios]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
    reach = student_quantile((1 + confidence) / 2, len(logs) - 1) * error
    low, high = math.exp(mean - reach), math.exp(mean + reach)
    return Interval(estimate=math.exp(mean), low=low, high=high, confidence=confidence)
