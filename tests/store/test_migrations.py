"""A store of an earlier version is brought up to date with everything that is in it."""

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from scenes import ask, failure, sample

from albacore.sample import Blame
from albacore.store import MIGRATIONS, Store, rows, schema
from albacore.store.run_log import RunLog
from albacore.trial import Judgement, Stability

ADDED = {schema.judgement: "revision", schema.ask: "repeat"}
"""Columns that later versions have added."""
FIRST = [
    ask(0, "c"),
    sample("c", "n1", 1.5),
    failure("c", "n2", Blame.NODE, slot=1),
    Judgement(
        config_id="c",
        rung=0,
        stability=Stability.STABLE,
        relative_range=0.0,
        raw={"n1": 1.5},
        adjusted={"n1": 1.25},
        score=1.25,
        reasons=("one",),
        read_n=3,
    ),
]


def upgrade(store: Store, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with store.write("migrations") as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def as_first(store: Store) -> None:
    """Write the log as the first version did: without what was added since."""
    with store.write("run") as connection:
        for n, fact in enumerate(FIRST, 1):
            table = rows.TABLES[type(fact)]
            row = {k: v for k, v in rows.to_row(fact).items() if k != ADDED.get(table)}
            extra = {"attempt": 0} if table is schema.failure else {}
            connection.execute(sa.insert(schema.event).values(run_id="run", n=n, kind=table.name, at=1.0))
            names = [c.name for c in table.c if c.name != ADDED.get(table)]
            old = sa.table(table.name, *(sa.column(name, table.c[name].type) for name in names))
            connection.execute(sa.insert(old).values(run_id="run", n=n, **row, **extra))


def test_a_log_of_the_first_version_is_the_same_afterwards_and_can_be_judged_again(tmp_path):
    """Nothing is lost, a second judgement and a second repeat find their place, a second of the same does not."""
    store = Store(f"sqlite:///{tmp_path / 'old.db'}", clock=lambda: 2.0)
    upgrade(store, "0001")
    as_first(store)

    store.migrate()
    log = RunLog(store, "run")

    assert [e.fact for e in log.read().events] == FIRST
    again = Judgement(**{name: getattr(FIRST[3], name) for name in FIRST[3].__slots__} | {"revision": 1, "score": 9.0})
    assert log.append_judgement(again) == again
    assert log.append_judgement(FIRST[3]) == FIRST[3]
    second = sample("c", "n1", 2.5, repeat=1)
    assert log.append_sample(second) == second
    assert log.append_sample(sample("c", "n1", 3.5)) == FIRST[1]
    assert log.read().last_n == 6


def test_the_tables_are_those_of_the_schema(tmp_path):
    """What the migrations make and what the library writes to have the same columns and unique constraints."""
    store = Store(f"sqlite:///{tmp_path / 'new.db'}")
    store.migrate()

    with store.read() as connection:
        found = sa.inspect(connection)
        for name, table in schema.metadata.tables.items():
            assert {c["name"] for c in found.get_columns(name)} == set(table.c.keys()), name
            unique = {tuple(u["column_names"]) for u in found.get_unique_constraints(name)}
            wanted = {tuple(u.columns.keys()) for u in table.constraints if isinstance(u, sa.UniqueConstraint)}
            assert unique == wanted, name
