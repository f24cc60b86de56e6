"""Ledger: the runs that have been played, a line of JSON each; what is there is not played again."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from studies import STUDIES, Study

from albacore.simulation.contest import Shipped

FOLDER = Path(__file__).with_name("runs")
Row = dict[str, Any]


def _file(study: Study) -> Path:
    return FOLDER / f"{study.name}.jsonl"


def rows(study: Study) -> list[Row]:
    """Return what has been played of a study as it is defined now."""
    file = _file(study)
    lines = file.read_text().splitlines() if file.exists() else []
    return [row for row in map(json.loads, lines) if row["digest"] == study.digest]


def write(study: Study, found: Shipped, default: float) -> None:
    """Add a run.

    Args:
        default: The default's share of the optimum in that world.
    """
    row = asdict(found) | {"default": default, "digest": study.digest}
    FOLDER.mkdir(exist_ok=True)
    with _file(study).open("a") as file:
        file.write(json.dumps(_rounded(row), separators=(",", ":")) + "\n")


def _rounded(value: Any) -> Any:
    """Return a value with its floats to five digits: a ledger is read by people too."""
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def of(name: str, *, study: str | None = None) -> dict[int, Row]:
    """Return run -> row of one contestant, from a study or from the first that has it."""
    for one in [STUDIES[study]] if study else STUDIES.values():
        if not study and (one.per_system or one.contest.optimizer != "forest" or one.name.startswith("noise")):
            continue
        found = {row["run"]: row for row in rows(one) if row["contestant"] == name}
        if found:
            return dict(sorted(found.items()))
    return {}
