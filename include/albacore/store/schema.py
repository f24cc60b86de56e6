"""The tables of the store. All is append-only but `node`, `claim` and `lease`.

| table | one row is |
|---|---|
| campaign_run | one execution of a campaign, with its effective campaign and digests |
| config | a config that was asked for, or the default |
| event | a number of the run's log, given without gaps; the fact itself is in the table named by `kind` |
| ask, sample, failure, judgement, note | a fact |
| node | a node of the run's fleet and how to reach it |
| claim | "this slot measures this config on this node": why a config never runs twice on a node |
| lease | who uses a node, a host's slot or a campaign run right now |
| archive | a benchmark folder, or readings of an earlier run that an adjuster learns from, by its digest |
| imported | where a run that was not measured here comes from |
| rescoring | what a policy says of a run that was measured already |
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()
KEY = String(250)

campaign_run = Table(
    "campaign_run",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("campaign", KEY, nullable=False, index=True),
    Column("logical_date", String(40)),
    Column("opened_at", Float, nullable=False),
    Column("effective", JSON, nullable=False),
    Column("benchmark", JSON, nullable=False),
    Column("space", JSON),
    Column("benchmark_digest", KEY, nullable=False),
    Column("policy_digest", KEY, nullable=False),
    Column("library", KEY, nullable=False),
)

config = Table(
    "config",
    metadata,
    Column("run_id", KEY, primary_key=True),
    Column("config_id", KEY, primary_key=True),
    Column("knobs", JSON, nullable=False),
)

event = Table(
    "event",
    metadata,
    Column("run_id", KEY, primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("kind", KEY, nullable=False),
    Column("at", Float, nullable=False),
)


def _fact_table(name: str, *columns: Column | UniqueConstraint | Index) -> Table:
    """Return a table of facts: its rows are numbered by `event`."""
    return Table(
        name,
        metadata,
        Column("run_id", KEY, primary_key=True),
        Column("n", Integer, primary_key=True, autoincrement=False),
        *columns,
        ForeignKeyConstraint(["run_id", "n"], ["event.run_id", "event.n"]),
    )


ask = _fact_table(
    "ask",
    Column("index", Integer, nullable=False),
    Column("key", KEY, nullable=False),
    Column("lane", Integer, nullable=False),
    Column("config_id", KEY, nullable=False),
    Column("rung", Integer, nullable=False),
    Column("bracket", Integer, nullable=False),
    Column("read_n", Integer, nullable=False),
    Column("inputs_digest", KEY, nullable=False),
    Column("repeat", Integer, nullable=False, server_default="0"),
    UniqueConstraint("run_id", "index", name="ask_index_once"),
    UniqueConstraint("run_id", "key", name="ask_once_per_iteration"),
)

sample = _fact_table(
    "sample",
    Column("config_id", KEY, nullable=False),
    Column("node", KEY, nullable=False),
    Column("host", KEY, nullable=False),
    Column("deployment", KEY, nullable=False),
    Column("purpose", KEY, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("component", KEY, nullable=False),
    Column("metrics", JSON, nullable=False),
    Column("telemetry", JSON, nullable=False),
    Column("notes", JSON, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("duration_s", Float, nullable=False),
    Column("benchmark_digest", KEY, nullable=False),
    UniqueConstraint("run_id", "config_id", "purpose", "slot", "repeat", "component", name="sample_once_per_slot"),
    UniqueConstraint(
        "run_id", "config_id", "node", "purpose", "repeat", "component", name="sample_once_per_config_and_node"
    ),
)

failure = _fact_table(
    "failure",
    Column("attempt", Integer, nullable=False),
    Column("config_id", KEY, nullable=False),
    Column("node", KEY, nullable=False),
    Column("host", KEY, nullable=False),
    Column("purpose", KEY, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("blame", KEY, nullable=False),
    Column("message", Text, nullable=False),
    Column("log", Text, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("duration_s", Float, nullable=False),
    UniqueConstraint("run_id", "config_id", "purpose", "slot", "repeat", "attempt", name="failure_once_per_attempt"),
)

judgement = _fact_table(
    "judgement",
    Column("config_id", KEY, nullable=False),
    Column("rung", Integer, nullable=False),
    Column("stability", KEY, nullable=False),
    Column("relative_range", Float, nullable=False),
    Column("raw", JSON, nullable=False),
    Column("adjusted", JSON, nullable=False),
    Column("score", Float),
    Column("reasons", JSON, nullable=False),
    Column("read_n", Integer, nullable=False),
    Column("is_capped", Boolean, nullable=False),
    Column("revision", Integer, nullable=False, server_default="0"),
    UniqueConstraint("run_id", "config_id", "rung", "revision", name="judged_once_per_rung"),
)

note = _fact_table(
    "note",
    Column("kind", KEY, nullable=False),
    Column("key", KEY),
    Column("body", JSON, nullable=False),
    UniqueConstraint("run_id", "kind", "key", name="note_once_per_key"),
)

node = Table(
    "node",
    metadata,
    Column("run_id", KEY, primary_key=True),
    Column("name", KEY, primary_key=True),
    Column("host", KEY, nullable=False),
    Column("role", KEY, nullable=False),
    Column("address", JSON, nullable=False),
    Column("facts", JSON, nullable=False),
)

claim = Table(
    "claim",
    metadata,
    Column("run_id", KEY, primary_key=True),
    Column("config_id", KEY, primary_key=True),
    Column("node", KEY, primary_key=True),
    Column("purpose", KEY, primary_key=True),
    Column("repeat", Integer, primary_key=True, autoincrement=False),
    Column("slot", KEY, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("resource", KEY, primary_key=True),
    Column("owner", KEY),
    Column("epoch", BigInteger, nullable=False),
    Column("expires_at", Float, nullable=False),
)

archive = Table(
    "archive",
    metadata,
    Column("digest", KEY, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

imported = Table(
    "imported",
    metadata,
    Column("run_id", KEY, primary_key=True),
    Column("campaign", KEY, nullable=False),
    Column("digest", KEY, nullable=False),
    Column("source", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("method", KEY, nullable=False),
    Column("licence", Text, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("campaign", "digest", name="imported_once_per_campaign"),
)

rescoring = Table(
    "rescoring",
    metadata,
    Column("run_id", KEY, primary_key=True),
    Column("policy_digest", KEY, primary_key=True),
    Column("policy", KEY, nullable=False),
    Column("at", Float, nullable=False),
    Column("library", KEY, nullable=False),
    Column("body", JSON, nullable=False),
)
