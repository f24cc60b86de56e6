"""Campaign files for tests that run Airflow: `noop`, small, and every other workload, as small as its folder can."""

import json
from collections.abc import Mapping
from typing import Any


def noop(**tables: str) -> str:
    """Return a campaign file of the system `noop`; a keyword replaces a table's line."""
    chosen = {
        "limits": "{ samples = 8, hours = 1.0 }",
        "optimizer": '{ name = "random" }',
        "policy": "{ rungs = [1, 3] }",
        "nodes": "{ tuning = 3, validation = 1 }",
        "validation": "{ repeats = 1 }",
        "params": "{ seconds = 0.0 }",
        "space": '{ knobs = ["size", "ratio", "delay", "threads", "cache"] }',
        **tables,
    }
    lines = [f"{key} = {value}" for key, value in chosen.items()]
    return "\n".join(['system = "noop"', 'workload = "sleep"', *lines]) + "\n"


def of_workload(system: str, workload: str, params: Mapping[str, Any]) -> str:
    """Return a campaign file of any workload: the default and two more configs, on one node."""
    values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in params.items())
    return "\n".join(
        [
            f'system = "{system}"',
            f'workload = "{workload}"',
            "limits = { samples = 3, hours = 1.0 }",
            'optimizer = { name = "random" }',
            "policy = { rungs = [1] }",
            "nodes = { tuning = 1, validation = 0 }",
            "lanes = { count = 1 }",
            f"params = {{ {values} }}",
        ]
    )


LADDER = noop(
    limits="{ samples = 30, hours = 1.0 }",
    policy="{ rungs = [1, 3, 5] }",
    nodes="{ tuning = 5, validation = 2 }",
)
SMALL = noop()
