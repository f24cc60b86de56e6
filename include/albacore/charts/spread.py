"""Spread: one strip per config across nodes, and the histogram of relative ranges (TUNA §4.2, Fig. 8).

The page re-colours by any threshold itself, so it is given the ranges, not a verdict.
"""

from typing import Any

from albacore.charts import finite, rounded
from albacore.charts.book import Book
from albacore.policies.relative_range import RelativeRange, relative_range

LEAST_NODES = 2
"""A relative range needs two values."""


def page(book: Book) -> dict[str, Any]:
    """Return every config measured on two nodes or more, widest first, with its values node by node."""
    scene = book.scene
    if scene is None:
        return {"strips": [], "nodes": [], "threshold": None, "rungs": []}
    strips = []
    for config_id, trial in book.trials.items():
        own = [s for s in trial.samples if scene.metric in s.metrics]
        values = [s.value(scene.metric) for s in own]
        if len(values) < LEAST_NODES:
            continue
        strips.append(
            {
                "config": config_id,
                "name": book.name(config_id),
                "relative_range": finite(relative_range(values)),
                "nodes": [s.node for s in own],
                "values": rounded(values),
                "stability": trial.top.stability.value if trial.top else None,
            }
        )
    strips.sort(key=lambda strip: (strip["relative_range"] is not None, -(strip["relative_range"] or 0.0)))
    detector = scene.policy.detector
    return {
        "strips": strips,
        "nodes": [r.name for r in book.nodes if r.role == "tuning"],
        "threshold": detector.threshold if isinstance(detector, RelativeRange) else None,
        "rungs": list(scene.policy.ladder.rungs),
    }
