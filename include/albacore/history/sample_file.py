"""Sample files: `<label>.samples.csv.gz` with every run of a workload, configs and manifest.json beside it.

One row per sample: method, run, seq, suggestion, worker, config_id, performance, failed, is_default. The configs are
in `<label>.configs.csv.gz`, one column per knob, their types in manifest.json; both may be missing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from albacore.history import HistoricalRun, Samples, naming
from albacore.history.table import Row, Table
from albacore.trial import Direction

COLUMNS = ("method", "run", "seq", "suggestion", "worker", "config_id", "performance", "failed", "is_default")


class ConfigFile(Mapping[str, Mapping[str, Any]]):
    """The configs of a workload, read from disk when first asked for and then kept: config id -> knob -> value.

    Args:
        path: The `.configs.csv.gz` file; one that is not there has no configs.
        types: Knob -> `int`, `float` or `str`; a knob without one is read as the first of these that fits.
    """

    def __init__(self, path: Path, types: Mapping[str, str]) -> None:
        self._path = path
        self._types = types
        self._read: dict[str, dict[str, Any]] | None = None

    def __getitem__(self, config_id: str) -> Mapping[str, Any]:
        return self._configs()[config_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._configs())

    def __len__(self) -> int:
        return len(self._configs())

    def _configs(self) -> dict[str, dict[str, Any]]:
        if self._read is None:
            rows = Table.open(self._path).rows() if self._path.is_file() else ()
            self._read = {row.text("config_id"): self._knobs(row) for row in rows}
        return self._read

    def _knobs(self, row: Row) -> dict[str, Any]:
        if "config_id" not in row.cells:
            raise row.table.error(1, "a column config_id", f"the columns {', '.join(row.cells)[:200]}")
        names = [name for name in row.cells if name != "config_id"]
        return {name: _typed(row, name, self._types.get(name)) for name in names}


def _typed(row: Row, knob: str, kind: str | None) -> int | float | str:
    """Return a knob's value by its stated type, or as the first of whole number, number and text that fits."""
    text = row.cells[knob]
    if kind == "str":
        return text
    for wanted, convert in (("int", int), ("float", float)):
        if kind in (None, wanted):
            try:
                return convert(text)
            except ValueError as error:
                if kind == wanted:
                    raise row.error(knob, f"a value of type {kind}", repr(text[:80])) from error
    return text


def runs(table: Table, *, label: str | None, direction: Direction | None) -> list[HistoricalRun]:
    """Return every run of a sample file, by method and number.

    Raises:
        HistoryError: At a row that does not parse; file and line are named.
    """
    workload = label or naming.label_of(table.path)
    way = naming.direction_of(table.path, workload, direction)
    metric, unit = naming.metric_of(workload)
    types = naming.manifest_of(table.path).get("knobs", {})
    configs = ConfigFile(_configs_beside(table.path), types if isinstance(types, dict) else {})
    by_run: dict[tuple[str, int], list[Row]] = {}
    for row in table.rows():
        by_run.setdefault((row.text("method"), row.whole("run")), []).append(row)
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
            samples=_samples(sorted(by_run[method, number], key=lambda row: row.whole("seq"))),
            configs=configs,
        )
        for method, number in sorted(by_run)
    ]


def _configs_beside(path: Path) -> Path:
    for suffix in (".gz", ""):
        beside = path.with_name(f"{naming.stem(path)}.configs.csv{suffix}")
        if beside.is_file():
            return beside
    return path.with_name(f"{naming.stem(path)}.configs.csv.gz")


def _samples(rows: list[Row]) -> Samples:
    interned: dict[str, str] = {}
    value = np.array([row.number("performance") for row in rows], dtype=np.float64)
    failed = np.array([row.flag("failed") for row in rows], dtype=np.bool_)
    return Samples(
        order=np.array([row.whole("seq") for row in rows], dtype=np.int64),
        suggestion=np.array([row.whole("suggestion") for row in rows], dtype=np.int64),
        config_id=np.array([interned.setdefault(t, t) for t in (r.text("config_id") for r in rows)], dtype=object),
        node=np.array([interned.setdefault(t, t) for t in (r.text("worker") for r in rows)], dtype=object),
        value=value,
        is_failed=failed | ~np.isfinite(value),
        is_default=np.array([row.flag("is_default") for row in rows], dtype=np.bool_),
    )
