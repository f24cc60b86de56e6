"""Rows of the store to values of the library and back; nothing else knows both."""

import dataclasses
from collections.abc import Mapping
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
    for cls, table in TABLES.items():
        if table.name == kind:
            names = {f.name for f in dataclasses.fields(cls)}
            return cls(**{str(k): _value(str(k), v) for k, v in row.items() if k in names})
    raise PlatformError(f"store: unknown kind of event {kind!r}. It was written by a newer Albacore; upgrade this one.")


def _value(name: str, value: Any) -> Any:
    """Return a column's value as the type of the field."""
    if name == "metrics":
        return {key: Metric(value=pair[0], unit=pair[1]) for key, pair in value.items()}
    if name == "reasons":
        return tuple(value)
    types = {"purpose": Purpose, "blame": Blame, "stability": Stability}
    return types[name](value) if name in types else value
