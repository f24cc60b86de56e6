"""Say which plan a statement has on this node, so that plans can be compared between nodes.

A plan is reduced to its shape: the nodes, the tables and the indexes, without costs, row counts and constants. Equal
shapes give equal hashes on every node.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from session import Session

MAX_CHARACTERS = 400
Plan = dict[str, Any]


def capture(session: Session, statements: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Ask for the plan of each statement under the settings in effect; nothing is executed.

    Returns:
        `plans`: statement -> hash; `plan_shapes`: hash -> shape.
    """
    found = {name: shape(_explained(session, sql)) for name, sql in statements.items()}
    hashes = {name: hashlib.sha256(text.encode()).hexdigest()[:8] for name, text in found.items()}
    shapes = {hashes[name]: text[:MAX_CHARACTERS] for name, text in found.items()}
    return {"plans": hashes, "plan_shapes": shapes}


def _explained(session: Session, sql: str) -> Plan:
    rows = session.ask(f"EXPLAIN (COSTS OFF, FORMAT JSON) {sql}").rows
    return json.loads("\n".join(rows))[0]["Plan"]


def shape(plan: Plan) -> str:
    """Write a plan as one line: each node with its table and index, what feeds it in brackets behind it."""
    words = [plan["Node Type"]]
    if plan.get("Parallel Aware"):
        words.insert(0, "Parallel")
    if "Index Name" in plan:
        words.append(f"using {plan['Index Name']}")
    if "Relation Name" in plan:
        words.append(f"on {plan['Relation Name']}")
    below = ", ".join(shape(part) for part in plan.get("Plans", ()))
    return " ".join(words) + (f" ({below})" if below else "")
