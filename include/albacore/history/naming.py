"""What a file's name and its manifest say: workload, method, number of the run, direction, unit.

| name | label |
|---|---|
| `azure__postgres__tpcc.samples.csv.gz` | azure/postgres/tpcc |
| `azure-nginx-wikipedia-TUNA_run_0.csv` | azure/nginx/wikipedia |
| `azure/nginx/wikipedia/TUNA_run_0.csv`, as the artifact's folders have it | azure/nginx/wikipedia |
"""

import json
import re
from pathlib import Path
from typing import Any

from albacore.errors import HistoryError
from albacore.trial import Direction

MANIFEST = "manifest.json"

RUN = re.compile(r"(?:^|[-_.])(?P<method>[A-Za-z]+)_run_(?P<number>\d+)(?P<rest>[A-Za-z_]*)$")
"""The end of the artifact's file names, without suffix: method and number of the run."""

KNOWN: dict[str, tuple[Direction, str, str]] = {
    "nginx": (Direction.MIN, "p95 page latency", "us"),
    "wikipedia": (Direction.MIN, "p95 page latency", "us"),
    "redis": (Direction.MIN, "p95 latency", "ms"),
    "tpch": (Direction.MIN, "runtime", "s"),
    "mssales": (Direction.MIN, "runtime", "s"),
    "tpcc": (Direction.MAX, "throughput", "tps"),
    "epinions": (Direction.MAX, "throughput", "tps"),
}
"""Word in a workload's label -> direction, metric and unit (TUNA §6; units of the two latencies as published)."""


def stem(path: Path) -> str:
    """Return the file's name without its suffixes (`.csv`, `.samples.csv.gz`)."""
    return re.sub(r"(\.samples)?\.csv(\.gz)?$|\.gz$", "", path.name)


def label_of(path: Path) -> str:
    """Return the workload that a file's name says; of a bare `TUNA_run_0.csv` its last three folders say it."""
    name = RUN.sub("", stem(path))
    if not name:
        return "/".join(path.absolute().parent.parts[1:][-3:]) or stem(path)
    return re.sub(r"__+|-", "/", name)


def run_of(path: Path) -> tuple[str, int]:
    """Return method and number of the run that a raw file's name says; `TUNA`, 0 when it says neither."""
    found = RUN.search(stem(path))
    return (found["method"] + found["rest"], int(found["number"])) if found else ("TUNA", 0)


def manifest_of(path: Path) -> dict[str, Any]:
    """Return what manifest.json beside the file says of the file's workload; empty when it says nothing.

    Raises:
        HistoryError: When manifest.json is there and is not a JSON object.
    """
    beside = path.parent / MANIFEST
    if not beside.is_file():
        return {}
    try:
        found = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HistoryError(f"{beside}: expected JSON, got: {error}.") from error
    if not isinstance(found, dict):
        raise HistoryError(f"{beside}: expected an object, workload -> facts, got {type(found).__name__}.")
    names = (stem(path), label_of(path), label_of(path).replace("/", "__"))
    own = next((found[name] for name in names if name in found), {})
    return own if isinstance(own, dict) else {}


def direction_of(path: Path, label: str, given: Direction | None) -> Direction:
    """Return which way the value improves: as given, else manifest.json beside the file, else the known names.

    Raises:
        HistoryError: When none of them says it.
    """
    if given is not None:
        return given
    stated = manifest_of(path).get("direction")
    if stated is not None:
        if stated not in list(Direction):
            where = f"{path.parent / MANIFEST}: {stem(path)}"
            raise HistoryError(f"{where}: expected direction min or max, got {stated!r}.")
        return Direction(stated)
    known = _known(label) or _known(label_of(path))
    if known is None:
        raise HistoryError(
            f"{path}: expected to know whether {label!r} is to be minimised or maximised; neither {MANIFEST} beside it "
            "nor its name says so. Give --direction min or --direction max."
        )
    return known[0]


def metric_of(label: str) -> tuple[str, str]:
    """Return metric and unit of a known workload; `performance` without a unit for others."""
    known = _known(label)
    return (known[1], known[2]) if known else ("performance", "")


def _known(label: str) -> tuple[Direction, str, str] | None:
    words = re.split(r"[^a-z0-9]+", label.lower())
    return next((KNOWN[word] for word in reversed(words) if word in KNOWN), None)
