"""Write what a run has found where the contract wants it."""

from __future__ import annotations

import json
from typing import Any

import contract
from postgres import Node


def publish(node: Node, metrics: dict[str, tuple[float, str]], notes: dict[str, Any]) -> None:
    """Write notes.json and then, in one step, metrics.json; what `start` has noted stays.

    Args:
        node: Whose job.
        metrics: Name -> value and unit.
        notes: Any JSON.
    """
    path = node.job / "notes.json"
    before = json.loads(path.read_text()) if path.is_file() else {}
    node.write("notes.json", {**before, **notes})
    node.write("metrics.json", contract.metrics(**metrics))
