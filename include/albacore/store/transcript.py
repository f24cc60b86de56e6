"""Transcript: everything that the store has of one campaign run, as rows, read and written whole.

What comes from elsewhere enters the store this way, one transaction a run: an export of another store, or a run that
another tuner recorded. Leases and claims stay behind: they say who uses a node now.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from albacore.errors import PlatformError
from albacore.fact import EARLIER
from albacore.store import CampaignRun, Store, rows, schema
from albacore.trial import Fact

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One run with its log.

    Attributes:
        configs: Config id -> knob values.
        nodes: Rows of the fleet, without the run's id.
        events: Rows of `event` in their order, without the run's id.
        facts: Name of a table -> its rows, numbered by `n`, without the run's id.
        archives: Digest -> content of what the log only names: readings of earlier runs (`earlier.py`).
    """

    run: CampaignRun
    configs: Mapping[str, Row]
    nodes: Sequence[Row]
    events: Sequence[Row]
    facts: Mapping[str, Sequence[Row]]
    archives: Mapping[str, str] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        """How many samples there are, those of the validation too."""
        return len(self.facts.get(schema.sample.name, ()))

    @property
    def failures(self) -> int:
        """How many failures there are."""
        return len(self.facts.get(schema.failure.name, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an imported run comes from.

    Attributes:
        digest: Digest of the recorded run's content: the same content is one run of a campaign.
        source: Name of the file; `label`, `method` and `licence` are as it says, "" where it does not.
    """

    digest: str
    source: str
    label: str = ""
    method: str = ""
    licence: str = ""


def of_facts(run: CampaignRun, facts: Sequence[Fact], configs: Mapping[str, Row], nodes: Sequence[Row]) -> Transcript:
    """Return the transcript of a run whose facts happened in this order, all at the time the run opened."""
    tables: dict[str, list[Row]] = {}
    events = []
    for i, fact in enumerate(facts):
        name = rows.TABLES[type(fact)].name
        extra = {"failure": {"attempt": 0}, "note": {"key": None}}.get(name, {})
        tables.setdefault(name, []).append({"n": i + 1, **rows.to_row(fact), **extra})
        events.append({"n": i + 1, "kind": name, "at": run.opened_at})
    return Transcript(run=run, configs=configs, nodes=nodes, events=events, facts=tables)


def read(store: Store, run_id: str) -> Transcript:
    """Return everything of a run, in one consistent read.

    Raises:
        UserError: When there is no such run.
    """
    run = store.run(run_id)
    with store.read() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")  # one snapshot for all tables
        configs = _rows(connection, schema.config, run_id, "config_id")
        found = Transcript(
            run=run,
            configs={str(row["config_id"]): row["knobs"] for row in configs},
            nodes=_rows(connection, schema.node, run_id, "name"),
            events=_rows(connection, schema.event, run_id, "n"),
            facts={table.name: _rows(connection, table, run_id, "n") for table in rows.TABLES.values()},
        )
    return replace(found, archives={digest: store.archive(digest).decode() for digest in named(found)})


def named(found: Transcript) -> list[str]:
    """Return the digests of what a run's log names."""
    notes = [row["body"] for row in found.facts.get(schema.note.name, ()) if row["kind"] == EARLIER]
    return [str(one["archive"]) for body in notes for one in body["runs"]]


def is_whole(found: Transcript) -> bool:
    """Whether all that a run's log names is there and nothing else, each under the digest of its content."""
    digests = {digest: hashlib.sha256(text.encode()).hexdigest() for digest, text in found.archives.items()}
    return set(named(found)) == set(digests) and all(digest == own for digest, own in digests.items())


def _rows(connection: Connection, table: Any, run_id: str, order: str) -> list[dict[str, Any]]:
    query = select(table).where(table.c.run_id == run_id).order_by(table.c[order])
    return [{k: v for k, v in row.items() if k != "run_id"} for row in connection.execute(query).mappings()]


def write(store: Store, found: Transcript, origin: Origin) -> bool:
    """Write a run that was not measured here, whole or not at all; False when its campaign has this content already.

    Raises:
        PlatformError: When another run has this id.
    """
    run = found.run
    for digest, content in found.archives.items():
        store.put_archive(digest, content.encode())  # by its content: whoever has it already has the same
    with store.write("imported") as connection:
        if _known(connection, run.campaign, origin.digest) is not None:
            return False
        if connection.scalar(select(schema.campaign_run.c.id).where(schema.campaign_run.c.id == run.id)):
            raise PlatformError(
                f"import: the store has another run {run.id!r}. Nothing of it was changed; import into another store."
            )
        try:
            _insert(connection, schema.campaign_run, None, [asdict(run)])
            where = {"run_id": run.id, "campaign": run.campaign, "at": store.clock()}
            _insert(connection, schema.imported, None, [{**where, **asdict(origin)}])
            knobs = [{"config_id": i, "knobs": dict(values)} for i, values in found.configs.items()]
            _insert(connection, schema.config, run.id, knobs)
            _insert(connection, schema.node, run.id, found.nodes)
            _insert(connection, schema.event, run.id, found.events)
            for name, own in found.facts.items():
                _insert(connection, schema.metadata.tables[name], run.id, own)
        except IntegrityError as error:
            raise PlatformError(f"import: run {run.id} contradicts itself: {error.orig}. Nothing came in.") from error
    return True


def _insert(connection: Connection, table: Any, run_id: str | None, found: Sequence[Row]) -> None:
    if found:
        own = {} if run_id is None else {"run_id": run_id}
        connection.execute(insert(table), [{**row, **own} for row in found])


def known(store: Store, campaign: str, digest: str) -> str | None:
    """Return the id of the campaign's run with this content, if it has one."""
    with store.read() as connection:
        return _known(connection, campaign, digest)


def _known(connection: Connection, campaign: str, digest: str) -> str | None:
    table = schema.imported
    return connection.scalar(select(table.c.run_id).where(table.c.campaign == campaign, table.c.digest == digest))


def origin(store: Store, run_id: str) -> Origin | None:
    """Return where a run comes from; None for one that was measured here."""
    table = schema.imported
    with store.read() as connection:
        row = connection.execute(select(table).where(table.c.run_id == run_id)).mappings().one_or_none()
    return None if row is None else Origin(**{name: row[name] for name in Origin.__slots__})
