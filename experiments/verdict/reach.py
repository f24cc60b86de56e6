"""Reach: how far below its estimate the interval of a gain ends, and how much the nodes of recorded workloads differ.

```
reach     distance of the lower end from the estimate, as logarithms, in standard deviations from node to node
```
"""

import math

import numpy as np
import pieces
import recorded_nodes
import verdicts
from fresh_nodes import figures
from markdown import table

from albacore.trial import Direction

NODES = (2, 3, 4, 5, 6, 10)
SPREAD = 0.04
"""Standard deviation of a ratio's logarithm from node to node, for a gain in words that people use."""


def reach(nodes: int, contenders: int) -> float:
    """Return the reach of the verdict's interval when nodes differ by exactly one standard deviation."""
    places = np.arange(nodes) - (nodes - 1) / 2
    logs = SPREAD * places / places.std(ddof=1)
    ours = [figures(np.exp(logs)[:, None])] * contenders
    gain = verdicts.contender(ours, 0, figures(np.ones((nodes, 1))), Direction.MAX).gain
    if gain is None:
        raise ValueError(f"nodes: expected 2 or more, got {nodes}: one node has no interval.")
    return (math.log(gain.estimate) - math.log(gain.low)) / SPREAD


def widths(results: pieces.Results) -> str:
    """Return reach and smallest gain by fresh nodes; nothing of it is random."""
    rows = []
    for contenders, name in ((1, "one contender"), (2, "two contenders")):
        every = [reach(nodes, contenders) for nodes in NODES]
        rows.append([name, *(f"{r:.3g}" if r < 10 else f"{r:.1f}" for r in every)])
        rows.append([f"{name}: gain at {100 * SPREAD:g} %", *(f"{math.exp(SPREAD * r):.2f}" for r in every)])
    return table(["fresh nodes", *map(str, NODES)], rows)


def all_pieces(known: pieces.Results) -> list[pieces.Piece]:
    """Return a piece per recorded workload; nothing of it is random either."""
    found = [_piece(name) for name in recorded_nodes.FILES]
    return [one for one in found if recorded_nodes.is_there() or one.name in known]


def _piece(workload: str) -> pieces.Piece:
    def make(batch: int) -> list[float]:
        return [pieces.rounded(value) for value in recorded_nodes.spread(workload)]

    return pieces.Piece(name=f"spread | {workload}", make=make, repeats=1)


def spreads(results: pieces.Results) -> str:
    """Return how much the nodes of recorded workloads differ."""
    found = {name: results[f"spread | {name}"][0] for name in recorded_nodes.FILES if f"spread | {name}" in results}
    rows = [
        [name, f"{n:.0f}", f"{100 * sd:.1f} %", f"{skew:+.1f} ({low:+.1f} to {high:+.1f})", f"{whole:+.1f}"]
        for name, (n, sd, low, skew, high, whole) in found.items()
    ]
    return table(["workload", "stable configs", "from node to node", "skew", "skew of all configs' figures"], rows)
