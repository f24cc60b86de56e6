"""Risk: whether what policy `albacore` says of configs comes about.

For every choice of k nodes of a recorded run the policy says how probable it is that a config's relative range over
all ten nodes will exceed 0.30. Only configs that are within 0.30 on the seen nodes are looked at: of the others it
is known. Splits of one run share their samples, so intervals are over runs, drawn with replacement.

| symbol | meaning |
|---|---|
| said | mean of the probabilities |
| came | share of the same that have exceeded 0.30 over all nodes, in per cent like said |
| Brier | mean of (said - came)^2, of each by itself; that of a forecast that always says the share is beside it |
"""

from itertools import pairwise
from pathlib import Path

import drawing
import numpy as np
import pieces
import recorded_nodes
from markdown import table
from numpy.typing import NDArray

from albacore.lab.matrix import Matrix
from albacore.lab.protocol import UNSTABLE
from albacore.policies.albacore import Albacore
from albacore.policies.choice import relative_range

KS = (3, 5, 7)
EDGES = (0.0, 0.02, 0.1, 0.3, 0.6, 1.0)
"""Of the bins of what is said."""
DRAWS = 2000
FEWEST = 3
"""Runs in which something came about, for an interval."""
DRAWN = "TPC-C"
"""The workload of the picture: the others have hardly an unstable config."""


def counted(matrix: Matrix, k: int) -> list[list[float]]:
    """Return, per bin of a run: splits, sums of said, came and (said - came)^2, and how many configs these are of."""
    nodes, _ = matrix.splits(k)
    seen = matrix.seen(nodes)
    is_open = relative_range(seen.chosen_from) <= UNSTABLE
    said = Albacore().risk(seen)
    came = np.broadcast_to(relative_range(matrix.values[: matrix.candidates]) > UNSTABLE, said.shape).astype(float)
    places = np.digitize(said, EDGES[1:-1])
    rows = []
    for place in range(len(EDGES) - 1):
        own = is_open & (places == place)
        squares = (said - came) ** 2
        sums = [float(each[own].sum()) for each in (said, came, squares)]
        rows.append([int(own.sum()), *map(pieces.rounded, sums), int(own.any(axis=0).sum())])
    return rows


def all_pieces() -> list[pieces.Piece]:
    """Return a piece per workload and number of nodes; nothing of it is random."""
    return [_piece(workload, k) for workload in recorded_nodes.FILES for k in KS]


def _name(workload: str, k: int) -> str:
    return f"risk | {workload} | {k}"


def _piece(workload: str, k: int) -> pieces.Piece:
    def make(batch: int) -> list[list[list[float]]]:
        return [counted(matrix, k) for matrix in recorded_nodes.runs(workload)]

    return pieces.Piece(name=_name(workload, k), make=make, repeats=1)


def found(results: pieces.Results, workload: str, k: int) -> NDArray[np.float64]:
    """Return (R, bins, 5): the figures of `counted`, run by run."""
    return np.array(results[_name(workload, k)][0])


def share(count: NDArray[np.float64], came: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return a share over (R,) runs in per cent, and the ends of its interval."""
    draws = np.random.default_rng(1).integers(len(count), size=(DRAWS, len(count)))
    counts = count[draws].sum(axis=1)
    ends = np.percentile(came[draws].sum(axis=1)[counts > 0] / counts[counts > 0], [2.5, 97.5])
    low, high = (100 * ends).tolist()
    return float(100 * came.sum() / count.sum()), low, high


def overall(results: pieces.Results) -> str:
    """Return said and came by workload and number of nodes, and how good the forecasts are one by one."""
    rows = []
    for workload in recorded_nodes.FILES:
        for k in KS:
            count, said, came, squares = found(results, workload, k).sum(axis=1).T[:4]
            total, middle = count.sum(), came.sum() / count.sum()
            cells = [_cell(share(count, each)) for each in (said, came)]
            brier = f"{squares.sum() / total:.3f} / {middle * (1 - middle):.3f}"
            rows.append([workload, str(k), *cells, _cell(share(count, said - came), "+"), brier])
    head = ["workload", "nodes seen", "said, %", "came, %", "said less came", "Brier: said / always the share"]
    return table(head, rows)


def _cell(values: tuple[float, float, float], sign: str = "") -> str:
    middle, low, high = values
    return f"{middle:{sign}.1f} ({low:{sign}.1f} to {high:{sign}.1f})"


def bins(results: pieces.Results) -> str:
    """Return said, came and the number of configs, by bin."""
    rows = []
    for workload in recorded_nodes.FILES:
        for place, (low, high) in enumerate(pairwise(EDGES)):
            cells = [_bin(found(results, workload, k)[:, place]) for k in KS]
            rows.append([workload, f"{100 * low:g} to {100 * high:g}", *cells])
    return table(["workload", "it says, %", *(f"{k} nodes: said / came / configs" for k in KS)], rows)


def _bin(own: NDArray[np.float64]) -> str:
    """Return a cell; a share that fewer than three runs make has no interval."""
    count, said, came, _, configs = own.T
    if not count.sum():
        return "-"
    share_came = _cell(share(count, came)) if (came > 0).sum() >= FEWEST else f"{100 * came.sum() / count.sum():.1f}"
    return f"{100 * said.sum() / count.sum():.1f} / {share_came} / {configs.sum():.0f}"


def draw(results: pieces.Results, path: Path) -> None:
    """Draw said against came of one workload, by bin."""
    curves = [drawing.Curve(label="as said", x=(0, 100), y=(0, 100), dash=True)]
    for k in KS:
        count, said, came = found(results, DRAWN, k).T[:3].transpose(0, 2, 1)
        every = np.array([share(count[:, place], came[:, place]) for place in range(len(EDGES) - 1)])
        x = (100 * said.sum(axis=0) / count.sum(axis=0)).tolist()
        y, low, high = every.T.tolist()
        curves.append(drawing.Curve(label=f"{k} nodes seen", x=x, y=y, low=low, high=high))
    axes = drawing.Axes(
        title=f"What albacore says of instability, {DRAWN}", x="said, %", y="came about, %",
        x_range=(0, 100), y_range=(0, 100),
    )  # fmt: skip
    path.write_text(drawing.curves(axes, curves))
