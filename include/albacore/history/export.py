"""Export: one campaign run as a table for pandas, and everything of it beside the table.

| file | what it has |
|---|---|
| `<name>.csv` or `<name>.parquet` | one row per sample or failure; columns per knob and metric |
| `<name>.run.json` | all of the run: events, configs, fleet, space, campaign, digests |

The table is for reading; `albacore import` reads the second file, from which the run comes back as it was: asks,
samples with telemetry and notes, failures, judgements, verdict.
"""

import csv
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from albacore.errors import HistoryError, UserError
from albacore.history.table import LIMIT_BYTES
from albacore.store import CampaignRun, transcript
from albacore.store.transcript import Origin, Transcript

FORMAT = "albacore campaign run"
VERSION = 1
SUFFIX = ".run.json"
FORMATS = ("csv", "parquet")
FIXED = (
    "run", "n", "config_id", "is_default", "purpose", "node", "host", "deployment", "slot", "repeat", "component",
    "started_at", "duration_s", "failure", "message", "stability", "score",
)  # fmt: skip
"""Columns of every table, before the knobs and the metrics. `started_at` is in seconds since the epoch."""


def table_of(found: Transcript) -> list[dict[str, Any]]:
    """Return one row per sample and failure, in the order of the log; None is an empty cell.

    Columns: `FIXED`, then `knob.<name>`, then `<metric> [<unit>]`. `stability` and `score` are of the trial's highest
    rung.
    """
    default_id = _default_id(found)
    top: dict[str, Mapping[str, Any]] = {}
    for row in found.facts.get("judgement", ()):
        if row["config_id"] not in top or row["rung"] >= top[row["config_id"]]["rung"]:
            top[row["config_id"]] = row
    answers = [*found.facts.get("sample", ()), *found.facts.get("failure", ())]
    made = []
    for row in sorted(answers, key=lambda row: row["n"]):
        judged = top.get(row["config_id"], {})
        cells = {name: row.get(name) for name in FIXED}
        cells |= {"run": found.run.id, "is_default": row["config_id"] == default_id, "failure": row.get("blame")}
        cells |= {"stability": judged.get("stability"), "score": judged.get("score")}
        cells |= {f"knob.{name}": value for name, value in found.configs.get(row["config_id"], {}).items()}
        cells |= {f"{name} [{pair[1]}]": pair[0] for name, pair in row.get("metrics", {}).items()}
        made.append(cells)
    names = list(dict.fromkeys([*FIXED, *sorted((n for r in made for n in r if n not in FIXED), key=_place)]))
    return [{name: cells.get(name) for name in names} for cells in made]


def _place(column: str) -> int:
    """Return where a column stands: knobs before metrics; sorting keeps their own order."""
    return 0 if column.startswith("knob.") else 1


def _default_id(found: Transcript) -> str | None:
    answers = [*found.facts.get("sample", ()), *found.facts.get("failure", ())]
    return next((row["config_id"] for row in answers if row["purpose"] == "default"), None)


def write(found: Transcript, origin: Origin | None, target: Path, kind: str) -> tuple[Path, Path]:
    """Write a run as a table and the file beside it; return both paths.

    Args:
        found: The run.
        origin: Where it came from, when it was imported itself.
        target: The table's file, or a folder that gets files named after the run.
        kind: One of `FORMATS`.

    Raises:
        UserError: When one of the files exists, the folder does not, or the target's suffix is another format's.
    """
    if target.suffix.lower() in {f".{name}" for name in FORMATS}:
        if target.suffix.lower() != f".{kind}":
            raise UserError(f"export: expected a file that ends in .{kind}, got {target.name}. Change it, or --format.")
        table = target
    else:
        if target.is_file():
            raise UserError(f"export: {target} is a file; expected a folder, or a name that ends in .{kind}.")
        target.mkdir(parents=True, exist_ok=True)
        table = target / f"{found.run.id}.{kind}"
    whole = table.with_name(table.stem + SUFFIX)
    for path in (table, whole):
        if path.exists():
            raise UserError(f"export: {path} exists, and is not overwritten. Remove it, or choose another place.")
    rows = table_of(found)
    if not table.parent.is_dir():
        raise UserError(f"export: the folder {table.parent} does not exist. Make it, or choose another place.")
    if kind == "parquet":
        _write_parquet(rows, table)
    else:
        _write_csv(rows, table)
    whole.write_text(json.dumps(plain(found, origin), indent=1), encoding="utf-8")
    return table, whole


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, fieldnames=list(rows[0]) if rows else list(FIXED))
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    import pandas as pd

    pd.DataFrame(rows, columns=None if rows else list(FIXED)).to_parquet(path, index=False)


def plain(found: Transcript, origin: Origin | None) -> dict[str, Any]:
    """Return everything of a run as plain JSON data, with the digest of its content."""
    data = dataclasses.asdict(found)
    from_where = dataclasses.asdict(origin) if origin else None
    return {"format": FORMAT, "version": VERSION, "digest": _digest(data), "origin": from_where, **data}


def digest(found: Transcript) -> str:
    """Return the digest of a run's log and configs: the same in every store, campaign and date."""
    return _digest(dataclasses.asdict(found))


def _digest(data: Mapping[str, Any]) -> str:
    """Return the digest of a run's log and configs: the same in every store, campaign and date."""
    told = {name: data[name] for name in ("configs", "events", "facts")}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def beside(path: Path) -> Path | None:
    """Return the file with all of a run, for that file itself or for its table; None for any other file."""
    if path.name.endswith(SUFFIX):
        return path
    found = path.with_name(path.stem + SUFFIX)
    return found if path.suffix.lower()[1:] in FORMATS and found.is_file() else None


def read_transcript(path: Path) -> Transcript:
    """Return the run of an export.

    Raises:
        HistoryError: When the file is not there, too large, of another version, or was changed by hand.
    """
    data = _data(path)
    try:
        found = Transcript(
            run=CampaignRun(**data["run"]),
            configs=dict(data["configs"]),
            nodes=list(data["nodes"]),
            events=list(data["events"]),
            facts={str(name): list(rows) for name, rows in data["facts"].items()},
            archives={str(digest): str(content) for digest, content in data.get("archives", {}).items()},
        )
        is_whole = transcript.is_whole(found)
    except (KeyError, TypeError, AttributeError) as error:
        raise HistoryError(f"{path}: expected what 'albacore export' writes, got something else ({error}).") from error
    if not is_whole:
        raise HistoryError(
            f"{path}: expected in 'archives' what the notes of kind 'earlier' name, under its digest; got something "
            "else. Export the run again."
        )
    return found


def origin_of(path: Path) -> Origin:
    """Return where an exported run comes from: what it was imported from itself, else this file."""
    data = _data(path)
    if data.get("origin"):
        return Origin(**data["origin"])
    load = data["run"]["benchmark"].get("workload", {})
    label = f"{load.get('system')}/{load.get('name')}"
    return Origin(digest=data["digest"], source=path.name, label=label, method="albacore")


def _data(path: Path) -> dict[str, Any]:
    """Return an export's data, whole and as it was written."""
    try:
        if path.stat().st_size > LIMIT_BYTES:
            raise HistoryError(f"{path}: expected at most {LIMIT_BYTES} bytes, got {path.stat().st_size}.")
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HistoryError(f"{path}: expected an export, got: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{path}: expected JSON as 'albacore export' writes it, got: {error}.") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise HistoryError(
            f"{path}: expected what 'albacore export' writes, got other JSON. Import the .run.json file."
        )
    if data.get("version") != VERSION:
        raise HistoryError(f"{path}: expected version {VERSION} of the export, got {data.get('version')!r:.20}.")
    try:
        is_whole = _digest(data) == data.get("digest")
    except KeyError as error:
        raise HistoryError(f"{path}: expected a part {error}, there is none. Export the run again.") from error
    if not is_whole:
        raise HistoryError(f"{path}: its digest does not fit its content: it was changed by hand. Export it again.")
    return data
