"""Our own exports as recorded runs: what was tuned, without the validation, for whoever replays recorded samples."""

import math
from pathlib import Path

import numpy as np

from albacore.history import HistoricalRun, Samples, export
from albacore.sample import Blame, Purpose
from albacore.trial import Direction

METHODS = {"tuna": "TUNA"}
"""Preset of a campaign -> method, as the artifact's files call it; other presets go by their own name."""


def runs(path: Path, *, label: str | None, direction: Direction | None) -> list[HistoricalRun]:
    """Return the run of an export.

    Args:
        path: The file with all of the run (`export.beside`).
        label: Workload to use instead of the run's own.
        direction: To use instead of the run's own.

    Raises:
        HistoryError: When the file is no export.
    """
    found, origin = export.read_transcript(path), export.origin_of(path)
    load = found.run.benchmark["workload"]
    return [
        HistoricalRun(
            workload=label or origin.label,
            method=METHODS.get(str(found.run.effective["policy"]["preset"]), "other"),
            number=0,
            direction=direction or Direction(load["direction"]),
            metric=str(load["metric"]),
            unit=str(load["unit"]),
            source=path,
            digest=origin.digest,
            samples=_samples(found, str(load["metric"])),
            configs=found.configs,
        )
    ]


def _samples(found: export.Transcript, metric: str) -> Samples:
    """Return samples and the configs' own failures in the order of the log; a config has one suggestion number."""
    answers = [row for row in found.facts.get("sample", ()) if metric in row["metrics"]]
    answers += [row for row in found.facts.get("failure", ()) if row["blame"] == Blame.CONFIG.value]
    tuned = sorted((row for row in answers if Purpose(row["purpose"]).is_tuning), key=lambda row: row["n"])
    is_default = [row["purpose"] == Purpose.DEFAULT.value for row in tuned]
    numbers: dict[str, int] = {}
    for row, default in zip(tuned, is_default, strict=True):
        numbers.setdefault(row["config_id"], 0 if default else max(1, len(numbers)))
    values = [row["metrics"][metric][0] if "metrics" in row else math.nan for row in tuned]
    return Samples(
        order=np.array([row["n"] for row in tuned], dtype=np.int64),
        suggestion=np.array([numbers[row["config_id"]] for row in tuned], dtype=np.int64),
        config_id=np.array([row["config_id"] for row in tuned], dtype=object),
        node=np.array([row["node"] for row in tuned], dtype=object),
        value=np.array(values, dtype=np.float64),
        is_failed=np.array(["metrics" not in row for row in tuned], dtype=np.bool_),
        is_default=np.array(is_default, dtype=np.bool_),
    )
