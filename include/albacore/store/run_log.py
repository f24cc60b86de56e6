"""RunLog: the log of one campaign run in the store, read whole and appended to one fact at a time.

Law of the log: events are numbered without gaps per campaign run, inside the transaction that writes them, under a
lock of that run
(PostgreSQL: an advisory lock; SQLite: BEGIN IMMEDIATE). Whoever decides something reads the log first and writes down
the last number it read.

Every append is idempotent: an iteration asks once, a slot has one sample, a rung is judged once. The second writer
gets what the first wrote.
"""

import statistics
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import IntegrityError

from albacore.errors import PlatformError
from albacore.sample import Failure, Purpose, Sample
from albacore.store import Store, rows, schema
from albacore.trial import Ask, Event, Fact, Judgement, Log, Note


class StaleError(PlatformError):
    """Say that the log went on while a decision was being made: read again and decide again."""


class RunLog:
    """Read and append the log of one campaign run; every method is one transaction."""

    def __init__(self, store: Store, run_id: str) -> None:
        self.store = store
        self.run_id = run_id

    def read(self, *, telemetry: bool = False, notes: bool = False, after: int = 0) -> Log:
        """Return the log of a run, in one consistent read.

        Args:
            telemetry: Whether samples carry their guest metrics; only the noise adjuster needs them.
            notes: Whether samples carry what their workload noted; only the comparison of plans needs it.
            after: Number of an event that the caller has: only later ones are returned, for a reader that goes on.
        """
        with self.store.read() as connection:
            left_out = {name for name, wanted in (("telemetry", telemetry), ("notes", notes)) if not wanted}
            return self._read(connection, left_out, after)

    def _read(self, connection: Connection, left_out: Collection[str], after: int) -> Log:
        found: dict[int, Event] = {}
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")  # one snapshot for all tables
        event = schema.event.c
        numbers = select(event.n, event.at).where(event.run_id == self.run_id, event.n > after)
        at = {row[0]: row[1] for row in connection.execute(numbers)}
        for table in rows.TABLES.values() if at else ():
            columns = [c for c in table.c if c.name not in left_out]
            own = select(*columns).where(table.c.run_id == self.run_id, table.c.n > after)
            names = [c.name for c in columns]
            to_fact, place = rows.reader(table.name, names), names.index("n")
            for row in connection.execute(own):
                if (n := row[place]) in at:
                    found[n] = Event(n=n, at=at[n], fact=to_fact(row))
        return Log(tuple(found[n] for n in sorted(found)))

    def configs(self) -> dict[str, dict[str, Any]]:
        """Return config id -> knob values of every config of the run."""
        query = select(schema.config.c.config_id, schema.config.c.knobs).where(schema.config.c.run_id == self.run_id)
        with self.store.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def put_config(self, config_id: str, knobs: Mapping[str, Any]) -> None:
        """Record a config's values once."""
        with self.store.write(self.run_id) as connection:
            self._put_config(connection, config_id, knobs)

    def _put_config(self, connection: Connection, config_id: str, knobs: Mapping[str, Any]) -> None:
        table = schema.config
        known = select(table.c.config_id).where(table.c.run_id == self.run_id, table.c.config_id == config_id)
        if connection.scalar(known) is None:
            connection.execute(insert(table).values(run_id=self.run_id, config_id=config_id, knobs=dict(knobs)))

    def append_ask(self, ask: Ask, knobs: Mapping[str, Any]) -> Ask:
        """Append an ask; return the one that is there when this iteration has asked before.

        Raises:
            StaleError: When another iteration has asked after `ask.read_n`: its config was not known to be pending.
        """
        with self.store.write(self.run_id) as connection:
            if found := self._one(connection, Ask, key=ask.key):
                return found
            table = schema.event
            newer = select(func.count()).where(
                table.c.run_id == self.run_id, table.c.n > ask.read_n, table.c.kind == schema.ask.name
            )
            if connection.scalar(newer):
                raise StaleError(
                    f"ask {ask.index} of run {self.run_id} was decided on event {ask.read_n}; another ask came since."
                )
            self._put_config(connection, ask.config_id, knobs)
            self._append(connection, ask)
            return ask

    def append_sample(self, sample: Sample) -> Sample:
        """Append a slot's sample; return the one that is there when the slot has been filled before."""
        with self.store.write(self.run_id) as connection:
            if found := self._one(connection, Sample, **_slot(sample)):
                return found
            self._append(connection, sample)
            return sample

    def append_failure(self, failure: Failure, *, attempt: int) -> Failure:
        """Append the failure of a slot's attempt; return the one that is there when it was recorded before."""
        with self.store.write(self.run_id) as connection:
            if found := self._one(connection, Failure, **_slot(failure), attempt=attempt):
                return found
            self._append(connection, failure, attempt=attempt)
            return failure

    def append_judgement(self, judgement: Judgement) -> Judgement:
        """Append a judgement; return the one that is there: a full rung is told once (T13), and once per revision."""
        with self.store.write(self.run_id) as connection:
            key = {"config_id": judgement.config_id, "rung": judgement.rung, "revision": judgement.revision}
            if found := self._one(connection, Judgement, **key):
                return found
            self._append(connection, judgement)
            return judgement

    def append_note(self, note: Note, *, key: str | None = None) -> Note:
        """Append a note; with a key, return the one that is there when it was written before."""
        with self.store.write(self.run_id) as connection:
            if key is not None and (found := self._one(connection, Note, kind=note.kind, key=key)):
                return found
            self._append(connection, note, key=key)
            return note

    def slot_facts(self, config_id: str, purpose: Purpose, slot: int, repeat: int = 0) -> list[Sample | Failure]:
        """Return what a slot ended in so far: failures of its attempts, and its sample, in their order.

        Args:
            repeat: How often the config's samples were taken away before; each time its slots are asked for anew.
        """
        found: list[tuple[int, Sample | Failure]] = []
        with self.store.read() as connection:
            for kind in (Failure, Sample):
                table = rows.TABLES[kind]
                query = select(table).where(
                    table.c.run_id == self.run_id,
                    table.c.config_id == config_id,
                    table.c.purpose == purpose.value,
                    table.c.slot == slot,
                    table.c.repeat == repeat,
                )
                for row in connection.execute(query).mappings():
                    found.append((row["n"], rows.to_fact(table.name, row)))  # type: ignore[arg-type]
        return [fact for _, fact in sorted(found, key=lambda pair: pair[0])]

    def notes_of(self, config_id: str) -> dict[tuple[str, int, int], Mapping[str, Any]]:
        """Return (purpose, slot, repeat) -> what the workload noted, for the samples of one config."""
        table = schema.sample.c
        query = select(table.purpose, table.slot, table.repeat, table.notes)
        own = query.where(table.run_id == self.run_id, table.config_id == config_id)
        with self.store.read() as connection:
            return {(row[0], row[1], row[2]): row[3] for row in connection.execute(own)}

    def songs(self, last: int = 200) -> list[tuple[str, Mapping[str, float]]]:
        """Return (node, figures) of what canaries sang before the last samples, oldest first."""
        table = schema.sample
        query = select(table.c.node, table.c.notes["canary"]).where(table.c.run_id == self.run_id)
        with self.store.read() as connection:
            found = connection.execute(query.order_by(table.c.n.desc()).limit(last)).all()
        return [(row[0], row[1]) for row in reversed(found) if row[1]]

    def usual_s(self, last: int = 5) -> float:
        """Return the middle duration of the last samples; 0 before the first."""
        table = schema.sample
        query = select(table.c.duration_s).where(table.c.run_id == self.run_id).order_by(table.c.n.desc()).limit(last)
        with self.store.read() as connection:
            return statistics.median(connection.scalars(query).all() or [0.0])

    def ask_of(self, key: str) -> Ask | None:
        """Return the ask of an iteration, if it has asked."""
        with self.store.read() as connection:
            return self._one(connection, Ask, key=key)

    def _one(self, connection: Connection, kind: type, /, **where: object) -> Any:
        table = rows.TABLES[kind]
        conditions = [table.c[name] == value for name, value in where.items()]
        row = connection.execute(select(table).where(table.c.run_id == self.run_id, *conditions)).mappings().first()
        return rows.to_fact(table.name, row) if row else None

    def _append(self, connection: Connection, fact: Fact, **columns: object) -> int:
        """Give the fact the run's next number and write both, inside the caller's transaction."""
        table = rows.TABLES[type(fact)]
        last = connection.scalar(select(func.max(schema.event.c.n)).where(schema.event.c.run_id == self.run_id)) or 0
        numbered = {"run_id": self.run_id, "n": last + 1}
        try:
            connection.execute(insert(schema.event).values(**numbered, kind=table.name, at=self.store.clock()))
            connection.execute(insert(table).values(**numbered, **rows.to_row(fact), **columns))
        except IntegrityError as error:
            raise PlatformError(
                f"store: run {self.run_id} already has this {table.name}: {error.orig}. Nothing was written."
            ) from error
        return last + 1


def _slot(fact: Sample | Failure) -> dict[str, object]:
    """Return the columns that name the slot of a fact."""
    return {
        "config_id": fact.config_id,
        "purpose": fact.purpose.value,
        "slot": fact.slot,
        "repeat": fact.repeat,
    }
