"""The protocol: choose from k nodes, judge on the others.

| figure | of a pick, averaged over all C(n, k) splits, in per cent |
|---|---|
| mean | its mean over the held-out nodes, of the best candidate's on the same nodes |
| worst | its worst held-out node, of the best candidate's worst |
| unstable | whether its relative range over all n nodes exceeds 0.30 |
| drop | whether a held-out node is below 0.7 x the plain mean of its k seen samples |

Means are of the figures as published; where less is better, a share is best / own, and a drop is a time above
mean / 0.7. Runs count equally. Candidates are the configs, without the default, that have a sound sample on all nodes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from albacore.errors import HistoryError
from albacore.history import HistoricalRun
from albacore.lab.matrix import Matrix
from albacore.policies.choice import Choice, relative_range
from albacore.trial import Direction

FIGURES = ("mean", "worst", "unstable", "drop")
METHOD = "TUNA"
"""The method of the runs that are replayed: configs that climbed to all nodes."""
UNSTABLE = 0.30
DROP = 0.7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """What every candidate turns out to be, for every split: (S, C) each; shares of 1."""

    mean: NDArray[np.float64]
    worst: NDArray[np.float64]
    unstable: NDArray[np.float64]
    drop: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: Matrix, seen: NDArray[np.int_], held: NDArray[np.int_]) -> "Truth":
        """Judge all candidates on the held-out nodes of all splits."""
        own = matrix.values[: matrix.candidates]
        there, here = own[:, held].transpose(1, 0, 2), own[:, seen].transpose(1, 0, 2)
        mean, promised = there.mean(axis=2), here.mean(axis=2)
        if matrix.direction is Direction.MAX:
            worst = there.min(axis=2)
            return cls(
                mean=mean / mean.max(axis=1, keepdims=True),
                worst=worst / worst.max(axis=1, keepdims=True),
                unstable=np.broadcast_to(relative_range(own) > UNSTABLE, mean.shape).astype(float),
                drop=(worst < DROP * promised).astype(float),
            )
        worst = there.max(axis=2)
        return cls(
            mean=mean.min(axis=1, keepdims=True) / mean,
            worst=worst.min(axis=1, keepdims=True) / worst,
            unstable=np.broadcast_to(relative_range(own) > UNSTABLE, mean.shape).astype(float),
            drop=(worst > promised / DROP).astype(float),
        )

    def figures(self, picks: NDArray[np.int_]) -> NDArray[np.float64]:
        """Return (4,) the figures of (S,) picks in per cent, in the order of `FIGURES`."""
        columns = picks[:, None]
        return np.array([100 * np.take_along_axis(getattr(self, f), columns, axis=1).mean() for f in FIGURES])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """The figures of every policy on every run.

    Attributes:
        workloads: Workload of each of the R runs.
        numbers: Number of each run in its workload.
        figures: (policy, k) -> (R, 4) per cent, in the order of `FIGURES`.
        ceiling: k -> (R, 4): what perfect knowledge picks at the share of unstable picks of the reference.
    """

    workloads: tuple[str, ...]
    numbers: tuple[int, ...]
    figures: Mapping[tuple[str, int], NDArray[np.float64]]
    ceiling: Mapping[int, NDArray[np.float64]]


def matrices(runs: Iterable[HistoricalRun]) -> list[Matrix]:
    """Return the runs that can be replayed; the same samples count once.

    Those are the runs of `METHOD` that have a candidate.

    Raises:
        HistoryError: When there is none.
    """
    kept: dict[bytes, Matrix] = {}
    given: list[str] = []
    for run in runs:
        given.append(f"{run.workload} {run.method} {run.number}")
        if run.method.upper() == METHOD:
            matrix = Matrix.of(run)
            if matrix.candidates:
                kept.setdefault(run.workload.encode() + matrix.values.tobytes(), matrix)
    if not kept:
        raise HistoryError(
            "replay: expected at least one run of method TUNA with a config measured soundly on all of its nodes, got "
            f"{', '.join(given) or 'no run'}."
        )
    return sorted(kept.values(), key=lambda m: (m.workload, m.number))


def replay(runs: Sequence[Matrix], choices: Mapping[str, Choice], ks: Sequence[int], *, reference: str) -> Outcome:
    """Choose and judge: every choice on every run and split.

    Args:
        choices: Name -> choice; the reference, whose share of unstable picks the ceiling has, is one of them.
        ks: Numbers of seen nodes.

    Raises:
        HistoryError: When a run has not more nodes than k.
    """
    from albacore.lab.ceiling import ceiling

    figures = {(name, k): np.zeros((len(runs), len(FIGURES))) for name in choices for k in ks}
    highest: dict[int, NDArray[np.float64]] = {}
    for k in ks:
        truths, shares = [], []
        for r, matrix in enumerate(runs):
            if not 1 <= k < matrix.nodes:
                where = f"{matrix.workload} run {matrix.number}"
                raise HistoryError(f"--k: expected 1 to {matrix.nodes - 1}, {where} has {matrix.nodes} nodes; got {k}.")
            nodes, held = matrix.splits(k)
            seen, truth = matrix.seen(nodes), Truth.of(matrix, nodes, held)
            for name, choice in choices.items():
                figures[name, k][r] = truth.figures(choice.scores(seen).argmax(axis=1))
            truths.append(truth)
            shares.append(figures[reference, k][r, FIGURES.index("unstable")])
        highest[k] = ceiling(truths, float(np.mean(shares)))
    return Outcome(
        workloads=tuple(m.workload for m in runs),
        numbers=tuple(m.number for m in runs),
        figures=figures,
        ceiling=highest,
    )
