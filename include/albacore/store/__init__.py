"""Store: the science, append-only, behind SQLAlchemy.

This file opens the database and holds what is fixed when a campaign run opens: the run, its fleet, its benchmark
folder. What happens in
the run is in `run_log.py`, who holds which node in `leases.py`, where the store is in `address.py`.
"""

import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, text
from sqlalchemy.exc import OperationalError

from albacore.errors import PlatformError, UserError
from albacore.store import schema

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_TIMEOUT_S = 30
SERVER_WAIT_S, SERVER_LOOK_S = 30.0, 0.5
"""How long a PostgreSQL that does not answer is waited for, and how often it is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRun:
    """One execution of a campaign: what was fixed when it opened.

    Attributes:
        effective: The effective campaign (file, form values, seed) as plain data.
        benchmark: What of the benchmark later steps need (metric, unit, direction, fragment …) as plain data.
        space: The effective space as plain data; None until the nodes' facts are known.
    """

    id: str
    campaign: str
    logical_date: str | None
    opened_at: float
    effective: Mapping[str, Any]
    benchmark: Mapping[str, Any]
    space: Mapping[str, Any] | None = None
    benchmark_digest: str
    policy_digest: str
    library: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A node of a run's fleet: its role (`tuning` or `validation`), how to reach it, and its facts."""

    name: str
    host: str
    role: str
    address: Mapping[str, Any]
    facts: Mapping[str, Any]


class Store:
    """Read and append what happened; every method is one transaction.

    Args:
        url: SQLAlchemy URL of an SQLite file or a PostgreSQL database.
        clock: Seconds since the epoch.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self.url = url
        self.clock = clock
        self.engine = _engine(url)

    def migrate(self) -> None:
        """Bring the tables to this version; safe to run by several processes at once."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        with self.write("migrations") as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def state(self) -> str:
        """Return `absent`, `old` (made by an earlier version, not migrated yet) or `ready`; nothing is made or changed.

        Opening an SQLite file that is not there would make it, so somebody who only reads asks this first.
        """
        if self.engine.dialect.name == "sqlite" and not Path(self.engine.url.database or "").is_file():
            return "absent"
        from alembic.config import Config
        from alembic.script import ScriptDirectory

        with self.read() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return "absent"
            found = connection.scalar(text("SELECT version_num FROM alembic_version"))
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        return "ready" if found == ScriptDirectory.from_config(config).get_current_head() else "old"

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _connection(self) -> Connection:
        """Return a connection; a server that starts again is waited for, as nothing has been asked of it yet.

        Raises:
            OperationalError: When it does not answer within `SERVER_WAIT_S`, or the file cannot be opened.
        """
        ends_at = time.monotonic() + (0.0 if self.engine.dialect.name == "sqlite" else SERVER_WAIT_S)
        while True:
            try:
                return self.engine.connect()
            except OperationalError:
                if time.monotonic() >= ends_at:
                    raise
                time.sleep(SERVER_LOOK_S)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that reads."""
        with self._connection() as connection:
            yield connection

    @contextmanager
    def write(self, lock: str) -> Iterator[Connection]:
        """Open a transaction that writes, alone under the named lock; SQLite has one lock for all."""
        with self._connection() as connection:
            if self.engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": zlib.crc32(lock.encode())})
            yield connection
            connection.commit()

    def open_run(self, run: CampaignRun) -> CampaignRun:
        """Record a campaign run; one that exists is returned as it was opened (law of opening)."""
        with self.write(run.id) as connection:
            found = self._run(connection, run.id)
            if found is None:
                connection.execute(insert(schema.campaign_run).values(asdict(run)))
            return found or run

    def run(self, run_id: str) -> CampaignRun:
        """Return a campaign run.

        Raises:
            UserError: When there is none with this id.
        """
        with self.read() as connection:
            found = self._run(connection, run_id)
            known = [] if found else list(connection.scalars(select(schema.campaign_run.c.id).limit(20)))
        if found is None:
            raise UserError(f"run: no campaign run {run_id!r} in this store. It has: {', '.join(known) or 'none'}.")
        return found

    def has_run(self, run_id: str) -> bool:
        """Whether there is a campaign run with this id."""
        with self.read() as connection:
            return self._run(connection, run_id) is not None

    def runs(self) -> list[CampaignRun]:
        """Return all campaign runs, oldest first."""
        with self.read() as connection:
            query = select(schema.campaign_run).order_by(schema.campaign_run.c.opened_at)
            return [CampaignRun(**row) for row in connection.execute(query).mappings()]

    def set_space(self, run_id: str, space: Mapping[str, Any]) -> Mapping[str, Any]:
        """Record the effective space once; one that is there already stays and is returned."""
        table = schema.campaign_run
        with self.write(run_id) as connection:
            found = connection.scalar(select(table.c.space).where(table.c.id == run_id))
            if found is None:
                connection.execute(table.update().where(table.c.id == run_id).values(space=dict(space)))
            return found or space

    @staticmethod
    def _run(connection: Connection, run_id: str) -> CampaignRun | None:
        table = schema.campaign_run
        row = connection.execute(select(table).where(table.c.id == run_id)).mappings().one_or_none()
        return CampaignRun(**row) if row else None

    def put_nodes(self, run_id: str, nodes: list[NodeRecord]) -> None:
        """Record the run's fleet; a node that is there already is brought up to date."""
        with self.write(run_id) as connection:
            connection.execute(schema.node.delete().where(schema.node.c.run_id == run_id))
            for node in nodes:
                connection.execute(insert(schema.node).values(run_id=run_id, **asdict(node)))

    def nodes(self, run_id: str) -> list[NodeRecord]:
        """Return the run's fleet, by name."""
        table = schema.node
        query = select(table).where(table.c.run_id == run_id).order_by(table.c.name)
        with self.read() as connection:
            found = [dict(row) for row in connection.execute(query).mappings()]
        return [NodeRecord(**{k: v for k, v in row.items() if k != "run_id"}) for row in found]

    def put_archive(self, digest: str, content: bytes) -> None:
        """Keep a benchmark folder, or readings of an earlier run, under its digest."""
        with self.write("archive") as connection:
            table = schema.archive
            if connection.scalar(select(table.c.digest).where(table.c.digest == digest)) is None:
                connection.execute(insert(table).values(digest=digest, content=content))

    def has_archive(self, digest: str) -> bool:
        """Whether something is kept under a digest."""
        with self.read() as connection:
            found = select(schema.archive.c.digest).where(schema.archive.c.digest == digest)
            return connection.scalar(found) is not None

    def archive(self, digest: str) -> bytes:
        """Return what is kept under a digest.

        Raises:
            PlatformError: When there is nothing.
        """
        with self.read() as connection:
            found = connection.scalar(select(schema.archive.c.content).where(schema.archive.c.digest == digest))
        if found is None:
            raise PlatformError(
                f"store: expected content archived under {digest}, there is none: the run was opened elsewhere. Use "
                "the store that it was opened in."
            )
        return found


def _engine(url: str) -> Engine:
    """Return an engine; SQLite gets WAL, a busy timeout and transactions that we begin ourselves."""
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver must not begin transactions behind our back
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")

    return engine
