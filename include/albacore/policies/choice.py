"""Choice: which of several measured configs to ship, given samples on some of the nodes.

A policy's parts judge one config at a time, as a campaign needs it. A `Choice` compares: it may use everything that
was measured on the nodes it is shown. What it may see is exactly `Seen`, and nothing of any other node.

| symbol | meaning |
|---|---|
| S | splits of the nodes into seen and held out; a choice is made for each on its own |
| A | configs: the candidates first, then the other configs, the default last |
| C | candidates, the first C of the A |
| k | seen nodes |
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from albacore.trial import Direction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """Every sample of one run that was taken on the seen nodes: of candidates, of lower rungs, of the default.

    Attributes:
        values: (S, A, k) figures as measured, positive; NaN where there is no sample, or a failed one.
        order: (S, A, k) rising place of the sample in the run; -1 where there is none.
        is_failed: (S, A, k) whether the config failed there.
        candidates: C; every candidate has a value on every seen node.
        direction: Which way the figures improve.
        worked_out: What choices have computed of these samples, so that others of their kind need not do it again.
    """

    values: NDArray[np.float64]
    order: NDArray[np.int64]
    is_failed: NDArray[np.bool_]
    candidates: int
    direction: Direction
    worked_out: dict[tuple[object, ...], NDArray[np.float64]] = field(default_factory=dict)

    @property
    def chosen_from(self) -> NDArray[np.float64]:
        """(S, C, k) figures of the candidates."""
        return self.values[:, : self.candidates]

    @property
    def default(self) -> NDArray[np.float64]:
        """(S, k) figures of the default config; NaN where it was not measured."""
        return self.values[:, -1]


class Choice(Protocol):
    """Say how good each candidate is, for every split at once."""

    def scores(self, seen: Seen) -> NDArray[np.float64]:
        """Return (S, C) scores, higher is better, in any unit; no NaN. The first of the highest is shipped."""
        ...


def relative_range(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (max - min) / mean over the last axis of positive figures (TUNA §4.2)."""
    return (x.max(axis=-1) - x.min(axis=-1)) / x.mean(axis=-1)


def goodness(value: NDArray[np.float64], direction: Direction) -> NDArray[np.float64]:
    """Return positive figures as scores: themselves, or one over them where less is better."""
    return value if direction is Direction.MAX else 1.0 / value
