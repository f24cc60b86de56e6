"""Reading the store for the pages: on from where it was, and without touching it."""

import json

import pytest
from recorded_runs import write_demo
from scenes import sample

from albacore.charts import convergence
from albacore.errors import UserError
from albacore.sample import Purpose
from albacore.store import Store
from albacore.store.run_log import RunLog
from albacore_airflow.web.plain import encode
from albacore_airflow.web.shelf import MOST_RUNS, Shelf


@pytest.fixture
def store(tmp_path):
    found = Store(f"sqlite:///{tmp_path / 'a store.db'}")
    found.migrate()
    write_demo(found, "demo-1", opened_at=1000.0, iterations=10)
    return found


def test_a_store_that_is_not_there_stays_so(tmp_path):
    """Looking makes no file, and there is nothing to see."""
    path = tmp_path / "none.db"
    shelf = Shelf(lambda: Store(f"sqlite:///{path}"))

    assert (shelf.state(), shelf.runs()) == ("absent", [])
    assert not path.exists()


def test_an_empty_database_is_no_store(tmp_path):
    """A file without our tables is not read."""
    path = tmp_path / "empty.db"
    path.touch()

    assert Shelf(lambda: Store(f"sqlite:///{path}")).state() == "absent"


def test_a_store_of_an_earlier_version_is_not_read(store):
    """It is brought up to date by the next run, not by somebody who looks."""
    from sqlalchemy import text

    with store.write("x") as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))

    assert Shelf(lambda: store).state() == "old"


def test_a_book_is_read_on_and_is_what_a_fresh_one_is(store):
    """What was appended since is there; the events read before are not read again."""
    shelf = Shelf(lambda: store)
    before = shelf.book("demo-1")
    assert shelf.book("demo-1") is before, "nothing new, so nothing is made anew"

    RunLog(store, "demo-1").append_sample(sample("new", "n1", 5.0, purpose=Purpose.TUNE))
    RunLog(store, "demo-1").put_config("new", dict(before.scene.space.default()))
    after = shelf.book("demo-1")

    assert len(after.events) == len(before.events) + 1
    assert after.events[0] is before.events[0]
    assert after.events == Shelf(lambda: store).book("demo-1").events
    assert "new" in after.trials


def test_a_page_is_made_once_per_state_of_the_log(store):
    """It is made again when the log has grown."""
    shelf, made = Shelf(lambda: store), []

    def make(book):
        made.append(book)
        return encode(convergence.page(book))

    first = shelf.page("demo-1", "convergence", make)
    assert shelf.page("demo-1", "convergence", make) is first and len(made) == 1
    default = shelf.book("demo-1").default_id
    RunLog(store, "demo-1").append_sample(sample(default, "n1", 5.0, slot=77, repeat=9))

    assert len(json.loads(shelf.page("demo-1", "convergence", make))["raw"]["value"]) == 1 + len(
        json.loads(first)["raw"]["value"]
    )
    assert len(made) == 2


def test_only_the_runs_looked_at_last_are_kept(store):
    """The API server does not grow with the number of runs."""
    for i in range(2, MOST_RUNS + 4):
        write_demo(store, f"demo-{i}", opened_at=1000.0 + i, iterations=1)
    shelf = Shelf(lambda: store)

    for run in shelf.runs():
        shelf.book(run.id)

    assert len(shelf._kept) == MOST_RUNS


def test_an_unknown_run_is_refused(store):
    """With the words of the store."""
    with pytest.raises(UserError, match="no campaign run 'nothing'"):
        Shelf(lambda: store).book("nothing")


def test_numbers_that_json_does_not_have_become_null():
    """A verdict of a run without spread may hold an infinite figure."""
    assert encode({"a": float("inf"), "b": [float("nan"), 1.5]}) == b'{"a":null,"b":[null,1.5]}'
