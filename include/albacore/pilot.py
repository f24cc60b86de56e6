"""Pilot: one config measured several times on every node, from a file or from a run that did so."""

import csv
from collections.abc import Sequence
from pathlib import Path

from albacore.errors import UserError
from albacore.replay import Scene
from albacore.sample import Purpose, Sample

COLUMNS = ("node", "round", "value", "seconds")
Row = tuple[str, int, float, float]
"""Node, round, figure, seconds."""


def of_file(path: Path) -> list[Row]:
    """Return the rows of a CSV file.

    Raises:
        UserError: When it cannot be read, lacks a column, or has a row that does not parse; with the line's number.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [c for c in COLUMNS if c not in (reader.fieldnames or [])]:
                raise UserError(f"{path}: expected the columns {', '.join(COLUMNS)}; {', '.join(missing)} missing.")
            return [_row(row, f"{path}:{reader.line_num}") for row in reader]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: expected a readable CSV file, got {type(error).__name__}.") from error


def _row(row: dict[str, str], where: str) -> Row:
    try:
        return row["node"], int(row["round"]), float(row["value"]), float(row["seconds"])
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: expected a node, a whole number and two figures, got {row!r:.120}.") from error


def of_scene(scene: Scene) -> Sequence[Row]:
    """Return the default's samples of a run's validation: those of the tuning are not repeated."""
    own = [s for s in scene.log.facts(Sample) if s.config_id == scene.default_id and s.purpose is Purpose.VALIDATE]
    return [(s.node, s.repeat, s.value(scene.metric), s.duration_s) for s in own]
