"""Fresh nodes: figures of configs and of the default on nodes that had no part in choosing, drawn many times.

| symbol | meaning |
|---|---|
| D, k, N, r | draws, contenders, fresh nodes, repeats on each |
| between | standard deviation of a ratio's logarithm from node to node; within: from repeat to repeat |

Half of the repeats' variance is the default's: all contenders are divided by the same samples of it, and share that
half.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from albacore.trial import Direction
from albacore.verdict.comparison import Figures

Shape = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]
"""Draws an array of noise with mean 0 and variance 1; above 0 is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How a validation is laid out."""

    nodes: int
    repeats: int
    contenders: int

    def __str__(self) -> str:
        several = "contenders" if self.contenders > 1 else "contender"
        return f"{self.nodes} nodes x {self.repeats}, {self.contenders} {several}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """What D validations measured.

    Attributes:
        ours: (D, k, N, r) figures of the contenders.
        default: (D, N, r) figures of the default on the same nodes in the same repeats.
        direction: Which way they improve.
    """

    ours: NDArray[np.float64]
    default: NDArray[np.float64]
    direction: Direction

    def one(self, draw: int) -> tuple[list[Figures], Figures]:
        """Return one validation as the verdict reads it."""
        return [figures(each) for each in self.ours[draw]], figures(self.default[draw])


def figures(values: NDArray[np.float64]) -> Figures:
    """Return (N, r) figures by node and repeat."""
    return {f"f{n}": dict(enumerate(row)) for n, row in enumerate(values.tolist())}


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw Gaussian noise."""
    return rng.standard_normal(shape)


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw Student's t with three degrees of freedom."""
    return rng.standard_t(3, shape) / math.sqrt(3)


def slow(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw exponential noise with its tail on the slow side: skew -2."""
    return 1 - rng.standard_exponential(shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """Configs that are exactly as good as the default, with noise from a formula.

    Attributes:
        shape: Of the noise from node to node; that of repeats is normal.
        between: Its standard deviation; `within` that from repeat to repeat. Both of a ratio's logarithm.
        shared: How much of the variance from node to node is the default's, 0 to 1: all contenders share that.
    """

    shape: Shape
    between: float
    within: float
    shared: float = 0.5

    def draw(self, rng: np.random.Generator, draws: int, design: Design) -> Drawn:
        """Draw validations of a design."""
        k, n = design.contenders, design.nodes
        theirs, own = self.shape(rng, (draws, 1, n)), self.shape(rng, (draws, k, n))
        gains = math.sqrt(self.shared) * theirs + math.sqrt(1 - self.shared) * own
        return measured(rng, self.between * gains, np.ones((draws, n)), design.repeats, within=self.within)


def measured(
    rng: np.random.Generator,
    gains: NDArray[np.float64],
    default: NDArray[np.float64],
    repeats: int,
    *,
    within: float,
    direction: Direction = Direction.MAX,
) -> Drawn:
    """Measure contenders and the default with repeats.

    Args:
        rng: The only randomness.
        gains: (D, k, N) logarithms of how many times as good a contender is on a node.
        default: (D, N) what the default shows there but for the repeats' noise.
        repeats: r.
        within: Standard deviation of a ratio's logarithm from repeat to repeat.
        direction: Which way the figures improve.
    """
    half, (draws, k, n) = within * math.sqrt(0.5), gains.shape
    theirs = default[:, :, None] * np.exp(half * rng.standard_normal((draws, n, repeats)))
    better = gains[..., None] + half * rng.standard_normal((draws, k, n, repeats))
    if direction is Direction.MIN:
        better = -better
    return Drawn(ours=default[:, None, :, None] * np.exp(better), default=theirs, direction=direction)
