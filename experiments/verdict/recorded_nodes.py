"""Recorded nodes: what real configs showed on ten nodes each, for drawing fresh nodes out of them.

ALBACORE_SAMPLES names the folder of the recorded samples (docs/policies.md says which). A config's figures are scaled
so that it is exactly as good as the default of its run, in the geometric mean over the run's nodes.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from fresh_nodes import Design, Drawn, measured
from numpy.typing import NDArray

from albacore.errors import HistoryError
from albacore.history import read
from albacore.lab.matrix import Matrix
from albacore.lab.protocol import UNSTABLE, matrices
from albacore.policies.choice import relative_range
from albacore.trial import Direction

FILES = {
    "TPC-C": "azure__postgres__tpcc.samples.csv.gz",
    "epinions": "azure__postgres__epinions.samples.csv.gz",
    "nginx": "azure__nginx__wikipedia.samples.csv.gz",
}
WITHIN = 0.02
"""Standard deviation from repeat to repeat, made up and normal: recorded configs ran once per node."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Configs of one run.

    Attributes:
        gains: (C, n) logarithms of how many times as good as the default a config was on a node, their mean taken out.
        default: (n,) figures of the default.
        direction: Which way figures improve.
    """

    gains: NDArray[np.float64]
    default: NDArray[np.float64]
    direction: Direction

    @classmethod
    def of(cls, matrix: Matrix, *, stable: bool) -> "Pool":
        """Return the configs of a run that are stable on all of its nodes, or those that are not."""
        every, default = matrix.values[: matrix.candidates], matrix.values[-1]
        values = every[(relative_range(every) > UNSTABLE) != stable]
        return cls(gains=_centred(values / default, matrix), default=default, direction=matrix.direction)


def _centred(values: NDArray[np.float64], matrix: Matrix) -> NDArray[np.float64]:
    """Return logarithms of (C, n) figures, above 0 is better than the mean of the row."""
    logs = np.log(values) if matrix.direction is Direction.MAX else -np.log(values)
    return logs - logs.mean(axis=1, keepdims=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Configs of a recorded workload, stable on all of their nodes or not."""

    workload: str
    stable: bool = True

    def draw(self, rng: np.random.Generator, draws: int, design: Design) -> Drawn | None:
        """Draw validations: a run, its configs, and nodes with replacement, the same for all contenders.

        Each config of the runs that have enough of them is as likely. None when no run has.
        """
        pools = [Pool.of(matrix, stable=self.stable) for matrix in runs(self.workload)]
        enough = [pool for pool in pools if len(pool.gains) >= design.contenders]
        if not enough:
            return None
        counts = np.array([len(pool.gains) for pool in enough])
        gains = np.empty((draws, design.contenders, design.nodes))
        default = np.empty((draws, design.nodes))
        for draw, run in enumerate(rng.choice(len(enough), size=draws, p=counts / counts.sum())):
            configs = rng.choice(counts[run], size=design.contenders, replace=False)
            nodes = rng.integers(len(enough[run].default), size=design.nodes)
            gains[draw] = enough[run].gains[np.ix_(configs, nodes)]
            default[draw] = enough[run].default[nodes]
        return measured(rng, gains, default, design.repeats, within=WITHIN, direction=enough[0].direction)


def is_there() -> bool:
    """Whether somebody said where the recorded samples are."""
    return bool(os.environ.get("ALBACORE_SAMPLES"))


@cache
def runs(workload: str) -> tuple[Matrix, ...]:
    """Return the runs of a workload.

    Raises:
        HistoryError: When nothing says where the samples are, or they are not there.
    """
    if not is_there():
        raise HistoryError(
            "ALBACORE_SAMPLES: expected the folder of the recorded samples, got nothing. docs/policies.md says where "
            "they come from."
        )
    return tuple(matrices(read(Path(os.environ["ALBACORE_SAMPLES"]) / FILES[workload])))


def spread(workload: str) -> list[float]:
    """Return how the nodes of a workload differ.

    Returns:
        How many stable configs there are; the median over them of the standard deviation of the gain's logarithm from
        node to node; the quartiles over them of its skew; the skew of all configs' figures, unstable ones included.
    """
    gains = np.concatenate([Pool.of(matrix, stable=True).gains for matrix in runs(workload)])
    figures = np.concatenate([_centred(matrix.values[: matrix.candidates], matrix) for matrix in runs(workload)])
    quartiles = np.percentile([_skew(row) for row in gains], [25, 50, 75])
    return [len(gains), float(np.median(gains.std(axis=1, ddof=1))), *map(float, quartiles), _skew(figures)]


def _skew(centred: NDArray[np.float64]) -> float:
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)
