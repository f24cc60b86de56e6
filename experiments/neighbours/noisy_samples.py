"""Samples: what was measured, a JSON line each, and what it says of each config."""

import gzip
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from albacore.policies import Reading

SAMPLES = Path(__file__).with_name("samples.jsonl.gz")
QUIET = "quiet"
"""The node that has no neighbours."""
METRIC = "tps"
Row = dict[str, Any]


def read(path: Path = SAMPLES) -> list[Row]:
    """Return every row that was measured, in order; none where nothing was."""
    if not path.exists():
        return []
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def append(path: Path, row: Row) -> None:
    """Write a row at the end, as a part of its own: a measurement may end at any moment."""
    with gzip.open(path, "at") as file:
        file.write(json.dumps(row, separators=(",", ":")) + "\n")


def pack(path: Path) -> None:
    """Write all rows again as one part, a third as large."""
    fresh = path.with_name(path.name + ".new")
    rows = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in read(path))
    fresh.write_bytes(gzip.compress(rows.encode(), mtime=0))
    fresh.replace(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of a config.

    Attributes:
        trial: A reading of each node that has neighbours.
        strengths: What the neighbours did to each, summed over their kinds; 0 is nothing.
        truth: The median of its quiet samples.
        quiet: Those samples.
    """

    config: int
    trial: tuple[Reading, ...]
    strengths: tuple[float, ...]
    truth: float
    quiet: tuple[float, ...]


def measured(rows: Sequence[Row], nodes: Sequence[str]) -> list[Measured]:
    """Return the configs that have a sample of every node and never failed, by number.

    Args:
        rows: Of `read`.
        nodes: Those that have neighbours.
    """
    found = []
    for config in sorted({row["config"] for row in rows}):
        own = [row for row in rows if row["config"] == config]
        if any("failure" in row for row in own) or {row["node"] for row in own} != {QUIET, *nodes}:
            continue
        quiet = tuple(row["metrics"][METRIC] for row in own if row["node"] == QUIET)
        by_node = {row["node"]: row for row in own}
        trial = tuple(
            Reading(node=node, value=by_node[node]["metrics"][METRIC], telemetry=by_node[node]["telemetry"])
            for node in nodes
        )
        strengths = tuple(sum(by_node[node]["strengths"].values()) for node in nodes)
        truth = statistics.median(quiet)
        found.append(Measured(config=config, trial=trial, strengths=strengths, truth=truth, quiet=quiet))
    return found
