"""Laws of what every Airflow process is told at its start."""

import importlib.util
import sqlite3
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

FILE = Path(__file__).parents[2] / "config" / "airflow_local_settings.py"


@pytest.fixture
def settings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("local_settings_at_hand", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def back_fill_a_date(database: Path, settings: ModuleType | None) -> None:
    """Do what Airflow does for one date of a back-fill, while somebody else wants to write in the middle of it."""
    engine = create_engine(f"sqlite:///{database}", connect_args={"timeout": 5})
    if settings:
        event.listen(engine, "savepoint", settings._write_from_the_start)
    other = sqlite3.connect(database, timeout=0.05, isolation_level=None)
    other.executescript("PRAGMA journal_mode=WAL; CREATE TABLE run (id INTEGER)")
    try:
        with Session(engine) as session:
            with session.begin_nested():
                session.scalar(text("SELECT count(*) FROM run"))
                try:
                    other.execute("INSERT INTO run VALUES (1)")
                except sqlite3.OperationalError:
                    assert settings, "nobody holds the lock"  # the scheduler waits for its turn, up to its time-out
                session.execute(text("INSERT INTO run VALUES (2)"))
            session.commit()
    finally:
        other.close()
        engine.dispose()


def test_a_savepoint_that_reads_before_it_writes_is_refused_by_sqlite_as_it_is(tmp_path: Path):
    """The trap: no time-out helps, for SQLite does not wait here."""
    with pytest.raises(OperationalError, match="database is locked"):
        back_fill_a_date(tmp_path / "a.db", None)


def test_a_back_fill_is_never_refused_because_the_scheduler_wrote(tmp_path: Path, settings: ModuleType):
    """The savepoint has the write lock from its start; the other writer is the one that waits."""
    back_fill_a_date(tmp_path / "a.db", settings)

    with sqlite3.connect(tmp_path / "a.db") as look:
        assert look.execute("SELECT id FROM run").fetchall() == [(2,)]
