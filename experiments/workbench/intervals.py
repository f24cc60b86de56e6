"""Intervals: means and shares of repeats with their bootstrap intervals.

B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, §13.3 (percentile interval). Repeats are drawn with
replacement; figures of one repeat stay together, as their runs share a seed.
"""

from collections.abc import Sequence

import numpy as np

DRAWS = 2000
LEVEL = 0.95


def interval(values: Sequence[float] | np.ndarray) -> tuple[float, float, float]:
    """Return the mean of one figure per repeat, and the ends of its 95 % interval."""
    rows = np.asarray(values, dtype=float)
    drawn = np.random.default_rng(1).integers(len(rows), size=(DRAWS, len(rows)))
    low, high = np.percentile(rows[drawn].mean(axis=1), [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(rows.mean()), float(low), float(high)


def mean(values: Sequence[float] | np.ndarray, digits: int = 1, unit: str = "") -> str:
    """Return a mean and its interval, as text."""
    middle, low, high = interval(values)
    return f"{middle:.{digits}f}{unit} ({low:.{digits}f} to {high:.{digits}f})"


def share(values: Sequence[float] | np.ndarray) -> str:
    """Return a share in per cent and its interval, as text."""
    return mean(100 * np.asarray(values, dtype=float), 0, " %")


def wins(costs: np.ndarray) -> np.ndarray:
    """Return (repeats, methods) shares of wins of costs (repeats, methods): the lowest wins, equal ones share."""
    is_lowest = costs <= costs.min(axis=1, keepdims=True) * (1 + 1e-9)
    return is_lowest / is_lowest.sum(axis=1, keepdims=True)
