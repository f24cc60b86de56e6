"""Rows of the store to values of the library and back; nothing else knows both."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Table

from albacore.errors import PlatformError
from albacore.sample import Blame, Failure, Metric, Purpose, Sample
from albacore.store import schema
from albacore.trial import Ask, Fact, Judgement, Note, Stability

TABLES: dict[type, Table] = {
    Ask: schema.ask,
    Sample: schema.sample,
    Failure: schema.failure,
    Judgement: schema.judgement,
    Note: schema.note,
}


def to_row(fact: Fact) -> dict[str, Any]:
    """Return the columns of a fact, without its run, its number and its slot."""
    row = {f.name: getattr(fact, f.name) for f in dataclasses.fields(fact)}
    if isinstance(fact, Sample):
        row["metrics"] = {name: [m.value, m.unit] for name, m in fact.metrics.items()}
        row["telemetry"], row["notes"] = dict(fact.telemetry), dict(fact.notes)
    if isinstance(fact, Judgement):
        row["raw"], row["adjusted"], row["reasons"] = dict(fact.raw), dict(fact.adjusted), list(fact.reasons)
    if isinstance(fact, Note):
        row["body"] = dict(fact.body)
    return row


def to_fact(kind: str, row: Mapping[Any, Any]) -> Fact:
    """Return the value that a row of the table `kind` stands for."""
    return reader(kind, tuple(row.keys()))(tuple(row.values()))


def reader(kind: str, columns: Sequence[str]) -> Callable[[Sequence[Any]], Fact]:
    """Return what makes facts out of rows of one table: the columns are looked up once, not once per row.

    Args:
        kind: Name of the table.
        columns: Names of the columns in a row, in their order; those that are no field of the fact are left out.
    """
    cls = next((cls for cls, table in TABLES.items() if table.name == kind), None)
    if cls is None:
        raise PlatformError(
            f"store: unknown kind of event {kind!r}. It was written by a newer Albacore; upgrade this one."
        )
    fields = {f.name for f in dataclasses.fields(cls)}
    places = [(name, i, CONVERT.get(name)) for i, name in enumerate(columns) if name in fields]

    def read(row: Sequence[Any]) -> Fact:
        """Return the fact of one row."""
        return cls(**{name: convert(row[i]) if convert else row[i] for name, i, convert in places})

    return read


def _metrics(value: Mapping[str, Any]) -> dict[str, Metric]:
    return {name: Metric(value=pair[0], unit=pair[1]) for name, pair in value.items()}


CONVERT: dict[str, Callable[[Any], Any]] = {
    "metrics": _metrics,
    "reasons": tuple,
    "purpose": Purpose,
    "blame": Blame,
    "stability": Stability,
}
"""Column -> how its value becomes the field's; all others are the same."""
