"""Analysis: from runs to figures with intervals. All are paired: the same resamples of runs for every contestant.

| symbol | shape | meaning |
|---|---|---|
| S | (runs, grid) | true share of the optimum of what would be shipped after so many samples |
| t(A, B) | | samples after which A's mean curve reaches what B's has in the end |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = Mapping[str, Any]
Runs = Mapping[int, Row]
RESAMPLES = 2_000
UNSTABLE = 0.30


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval."""

    value: float
    low: float
    high: float

    def words(self, digits: int = 1, *, scale: float = 1.0, sign: str = "") -> str:
        """Return it for a table."""
        parts = [f"{scale * v:{sign}.{digits}f}" for v in (self.value, self.low, self.high)]
        return f"{parts[0]} [{parts[1]}, {parts[2]}]"


def estimate(figure: Callable[[NDArray[np.int_]], float], runs: int, confidence: float = 0.95) -> Estimate:
    """Return a figure of all runs and its bootstrap interval; `figure` takes the numbers of the runs it is of."""
    picks = np.random.default_rng(0).integers(runs, size=(RESAMPLES, runs))
    drawn = np.array([figure(pick) for pick in picks])
    side = (1.0 - confidence) / 2
    low, high = np.quantile(drawn, [side, 1 - side])
    return Estimate(figure(np.arange(runs)), float(low), float(high))


def mean(values: Sequence[float]) -> Estimate:
    """Return a mean over runs."""
    array = np.asarray(values, dtype=float)
    return estimate(lambda pick: float(array[pick].mean()), len(array))


def paired(*found: Runs) -> list[list[Row]]:
    """Return the rows of the runs that all have, in the same order."""
    common = sorted(set.intersection(*(set(rows) for rows in found)))
    return [[rows[run] for run in common] for rows in found]


def curve(rows: Sequence[Row], grid: Sequence[float], *, axis: int = 0) -> NDArray[np.float64]:
    """Return S; `axis` 0 is samples, 1 hours. Before anything would be shipped it is the default's share."""
    found = np.empty((len(rows), len(grid)))
    for i, row in enumerate(rows):
        at = np.array([mark[axis] for mark in row["trace"]])
        shares = np.array([row["default"], *(mark[2] for mark in row["trace"])])
        found[i] = shares[np.searchsorted(at, grid, side="right")]
    return found


def time_to(shares: NDArray[np.float64], grid: Sequence[float], level: float) -> float:
    """Return the first place of the grid at which a mean curve reaches a level; infinite when it never does."""
    reached = np.nonzero(shares >= level - 1e-12)[0]
    return float(grid[reached[0]]) if len(reached) else float("inf")


def speed(fast: Sequence[Row], slow: Sequence[Row], grid: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Return how many times fewer samples the fast one takes to where the slow one ends; 0: it never gets there."""
    s_fast, s_slow = curve(fast, grid), curve(slow, grid)

    def ratio(pick: NDArray[np.int_]) -> float:
        end = float(s_slow[pick].mean(axis=0)[-1])
        return float(grid[-1]) / time_to(s_fast[pick].mean(axis=0), grid, end)

    return estimate(ratio, len(fast), confidence)


def band(shares: NDArray[np.float64], confidence: float) -> tuple[list[float], list[float], list[float]]:
    """Return the mean curve and its bootstrap band, in per cent."""
    picks = np.random.default_rng(0).integers(len(shares), size=(500, len(shares)))
    drawn = np.stack([shares[pick].mean(axis=0) for pick in picks])
    side = (1.0 - confidence) / 2
    low, high = np.quantile(drawn, [side, 1 - side], axis=0)
    return ((100 * a).tolist() for a in (shares.mean(axis=0), low, high))  # type: ignore[return-value]


def deployed(row: Row) -> NDArray[np.float64]:
    """Return what a shipped config shows on ten new nodes, in parts of the optimum."""
    return np.asarray(row["deployed"], dtype=float)


def is_torn(row: Row) -> bool:
    """Whether the relative range over the ten new nodes exceeds the threshold."""
    values = deployed(row)
    return bool(np.ptp(values) > UNSTABLE * values.mean()) if values.mean() > 0 else True


def is_good(row: Row) -> bool:
    """Whether a stable config within 10 % of the optimum was shipped."""
    return not row["is_unstable"] and row["share"] >= 0.90
