"""Write what a run has found where the contract wants it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from postgres import Node


def percentile(values: Sequence[float], percent: int) -> float:
    """Give the nearest-rank percentile of at least one value."""
    return sorted(values)[max(0, -(-percent * len(values) // 100) - 1)]


def publish(node: Node, metrics: dict[str, tuple[float, str]], notes: dict[str, Any]) -> None:
    """Write notes.json and then, in one step, metrics.json; what `start` has noted stays.

    Args:
        node: Whose job.
        metrics: Name -> value and unit.
        notes: Any JSON.
    """
    path, partial = node.job / "notes.json", node.job / ".metrics.json"
    before = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**before, **notes}, indent=1))
    table = {name: {"value": round(value, 3), "unit": unit} for name, (value, unit) in metrics.items()}
    partial.write_text(json.dumps({"metrics": table}, indent=1))
    partial.rename(node.job / "metrics.json")
