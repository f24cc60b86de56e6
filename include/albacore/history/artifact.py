"""The TUNA artifact's raw files (github.com/uw-mad-dash/TUNA, `sample_configs/`): one file is one tuning run.

Columns: an index without a name, `Suggestion` (0 is the default config; a promoted config comes again under a later
number with its new samples only), `Config` (a Python dict as text), `Worker` (node inside the run), `Performance`.
"""

import ast
import hashlib
from typing import Any

import numpy as np

from albacore.history import HistoricalRun, Samples, naming
from albacore.history.failing import is_failed
from albacore.history.table import Row, Table
from albacore.trial import Direction

COLUMNS = ("Suggestion", "Config", "Worker", "Performance")
LIMIT_CHARACTERS = 100_000
"""Of one config as text."""
LIMIT_KNOBS = 5_000
LIMIT_DEPTH = 4
"""Of brackets in a config as text: deep nesting is no config, and costs the parser its stack."""


def runs(table: Table, *, label: str | None, direction: Direction | None) -> list[HistoricalRun]:
    """Return the one run of a raw file.

    Raises:
        HistoryError: At a row that does not parse; file and line are named.
    """
    workload = label or naming.label_of(table.path)
    way = naming.direction_of(table.path, workload, direction)
    metric, unit = naming.metric_of(workload)
    method, number = naming.run_of(table.path)
    configs: dict[str, dict[str, Any]] = {}
    samples = _samples(list(table.rows()), configs, way)
    return [
        HistoricalRun(
            workload=workload,
            method=method,
            number=number,
            direction=way,
            metric=metric,
            unit=unit,
            source=table.path,
            digest=table.digest,
            samples=samples,
            configs=configs,
        )
    ]


def _samples(rows: list[Row], configs: dict[str, dict[str, Any]], direction: Direction) -> Samples:
    """Return the columns of a file, and fill `configs` with what its texts say."""
    ids: dict[str, str] = {}
    for row in rows:
        text = row.cells["Config"]
        if text not in ids:
            knobs = config_of(row)
            ids[text] = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:12]
            configs[ids[text]] = knobs
    suggestion = np.array([row.whole("Suggestion") for row in rows], dtype=np.int64)
    value = np.array([row.number("Performance") for row in rows], dtype=np.float64)
    return Samples(
        order=np.arange(len(rows), dtype=np.int64),
        suggestion=suggestion,
        config_id=np.array([ids[row.cells["Config"]] for row in rows], dtype=object),
        node=np.array([node_of(row) for row in rows], dtype=object),
        value=value,
        is_failed=is_failed(value, suggestion == 0, direction),
        is_default=suggestion == 0,
    )


def node_of(row: Row) -> str:
    """Return the node's name: the text of `Worker`, `3` also when it is written `3.0`."""
    text = row.text("Worker")
    return text.removesuffix(".0") if text.removesuffix(".0").isdigit() else text


def config_of(row: Row) -> dict[str, Any]:
    """Return a config out of its text, which is data and never run: numbers, texts and booleans by name.

    Raises:
        HistoryError: When the text is no such dict, or larger than any config.
    """
    text = row.cells["Config"]
    expected = "a Python dict, knob -> number or text,"
    if len(text) > LIMIT_CHARACTERS or _depth(text) > LIMIT_DEPTH:
        raise row.error("Config", expected, f"{len(text)} characters, brackets {_depth(text)} deep")
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise row.error("Config", expected, repr(text[:80])) from error
    if not isinstance(found, dict) or len(found) > LIMIT_KNOBS:
        raise row.error("Config", expected, repr(text[:80]))
    return {_name(row, name): _value(row, name, value) for name, value in found.items()}


def _name(row: Row, name: object) -> str:
    if not isinstance(name, str):
        raise row.error("Config", "knobs with a name", repr(name)[:80])
    return name


def _value(row: Row, name: object, value: object) -> object:
    if not isinstance(value, (int, float, str, type(None))):
        raise row.error("Config", f"a number or a text for {name!r}", repr(value)[:80])
    return value


def _depth(text: str) -> int:
    deepest = depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest
