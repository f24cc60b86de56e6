"""Luck: what becomes of a config's first sample, on the nodes that it was measured on later.

Three questions to the recorded runs. How many configs climbed how far? Of those that reached all nodes: how far was the
first sample, which earned the first promotion, above the mean of the others? And of a run's first fifty configs, as a
tuner on one node would see them: what did the best first sample show elsewhere?

Shares are above 1 where the first sample was the better one, whichever way the metric improves.
"""

from collections.abc import Sequence

import numpy as np
import pieces
import recorded_nodes
from markdown import table
from numpy.typing import NDArray

from albacore.lab.matrix import Matrix
from albacore.lab.protocol import DROP
from albacore.policies.choice import goodness
from albacore.stats import binomial_upper

FIFTY, NODES = 50, 10
DRAWS = 2000
"""Of runs, for the intervals of percentiles."""


def first(matrix: Matrix) -> NDArray[np.int_]:
    """Return (A,) the node that each config was measured on first."""
    return np.where(matrix.order < 0, np.iinfo(np.int64).max, matrix.order).argmin(axis=1)


def climbed(matrix: Matrix) -> list[int]:
    """Return how many configs beside the default were measured, on three nodes or more, and on all of them."""
    counts = (matrix.order[:-1] >= 0).sum(axis=1)
    return [int((counts >= least).sum()) for least in (1, 3, matrix.nodes)]


def promotions(matrix: Matrix) -> list[float]:
    """Return how many times as good as the mean of its later ones each candidate's first sample was."""
    rows = np.arange(matrix.candidates)
    values = matrix.values[rows]
    early = values[rows, first(matrix)[rows]]
    later = (values.sum(axis=1) - early) / (matrix.nodes - 1)
    return [pieces.rounded(v) for v in goodness(early, matrix.direction) / goodness(later, matrix.direction)]


def best_of_fifty(matrix: Matrix) -> list[float]:
    """Return what the best first sample of the first configs became: nodes, mean and worst of the later samples.

    Both as shares of the first sample, a failure is 0; only the nodes, 1, where there is no later sample.
    """
    begun = np.where(matrix.order < 0, np.iinfo(np.int64).max, matrix.order).min(axis=1)[:-1]
    rows = np.argsort(begun)[:FIFTY]
    scores = np.nan_to_num(goodness(matrix.values, matrix.direction), nan=0.0)
    node = first(matrix)
    best = int(rows[scores[rows, node[rows]].argmax()])
    is_later = (matrix.order[best] >= 0) & (np.arange(matrix.nodes) != node[best])
    later = scores[best, is_later] / scores[best, node[best]]
    worth = [pieces.rounded(share) for share in (later.mean(), later.min())] if len(later) else []
    return [1 + len(later), *worth]


def all_pieces() -> list[pieces.Piece]:
    """Return a piece per workload; nothing of it is random."""
    return [_piece(workload) for workload in recorded_nodes.FILES]


def _piece(workload: str) -> pieces.Piece:
    def make(batch: int) -> list[dict[str, list[float]]]:
        return [
            {"climbed": [*climbed(run)], "promotions": promotions(run), "best of fifty": best_of_fifty(run)}
            for run in recorded_nodes.runs(workload)
        ]

    return pieces.Piece(name=f"luck | {workload}", make=make, repeats=1)


def _runs(results: pieces.Results) -> dict[str, list[dict[str, list[float]]]]:
    """Return the runs of each workload, and of all."""
    own = {workload: results[f"luck | {workload}"][0] for workload in recorded_nodes.FILES}
    return {**own, "all": [run for runs in own.values() for run in runs]}


def reached(results: pieces.Results) -> str:
    """Return how many configs were measured on how many nodes, and their ratio to those on all."""
    rows = []
    for workload, runs in _runs(results).items():
        every = np.sum([run["climbed"] for run in runs], axis=0)
        ratio = " : ".join(f"{count / every[-1]:.3g}" for count in every)
        rows.append([workload, *(f"{count:,.0f}" for count in every), ratio])
    return table(["workload", "configs", "on three nodes or more", "on ten", "ratio"], rows)


def promoted(results: pieces.Results) -> str:
    """Return by how many per cent the first sample is above the mean of the later ones: median and 90th percentile."""
    rows = []
    for workload, runs in _runs(results).items():
        shares = [np.array(run["promotions"]) for run in runs]
        rows.append([workload, str(sum(map(len, shares))), _percentile(shares, 50), _percentile(shares, 90)])
    return table(["workload", "configs", "median, %", "90th percentile, %"], rows)


def _percentile(shares: Sequence[NDArray[np.float64]], q: float) -> str:
    """Return a percentile and its interval, by runs drawn with replacement, whole; in per cent above 1."""
    draws = np.random.default_rng(1).integers(len(shares), size=(DRAWS, len(shares)))
    found = [np.percentile(np.concatenate([shares[run] for run in draw]), q) for draw in draws]
    middle, low, high = (100 * value - 100 for value in (np.percentile(np.concatenate(shares), q), *_ends(found)))
    return f"{middle:+.1f} ({low:+.1f} to {high:+.1f})"


def _ends(found: Sequence[float]) -> tuple[float, float]:
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


def lost(results: pieces.Results) -> str:
    """Return what the best first sample of the first fifty configs showed on later nodes."""
    rows = []
    for workload, runs in _runs(results).items():
        found = [run["best of fifty"] for run in runs if len(run["best of fifty"]) > 1]
        fell = sum(worst <= DROP for _, _, worst in found)
        low, high = 1 - binomial_upper(len(found) - fell, len(found), 0.975), binomial_upper(fell, len(found), 0.975)
        later = [f"{100 * np.mean([row[i] for row in found]):.0f} %" for i in (1, 2)]
        bounds = f"{fell} of {len(found)} ({100 * low:.0f} to {100 * high:.0f} %)"
        rows.append([workload, str(sum(nodes == NODES for nodes, _, _ in found)), *later, bounds])
    head = ["workload", "reached all nodes", "mean later sample", "worst later sample", "lost 30 % or more on a node"]
    return table(head, rows)
