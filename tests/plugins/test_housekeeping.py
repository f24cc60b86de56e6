"""Laws of the housekeeping: only old iterations go, and only from Airflow."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_campaigns import noop

from albacore.errors import PlatformError
from albacore_airflow import housekeeping

REPOSITORY = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def written(folder, *, days_ago):
    """Write a log file with this age."""
    folder.mkdir(parents=True)
    (folder / "attempt=1.log").write_text("said")
    at = (NOW - timedelta(days=days_ago)).timestamp()
    for path in (folder / "attempt=1.log", folder, folder.parent):
        os.utime(path, (at, at))


def test_logs_of_old_runs_of_the_one_dag_go(tmp_path):
    """A run of which anything was written since stays whole; so do the campaign's own runs and other DAGs."""
    written(tmp_path / "dag_id=a.iteration" / "run_id=old" / "task_id=x", days_ago=31)
    written(tmp_path / "dag_id=a.iteration" / "run_id=new" / "task_id=x", days_ago=29)
    written(tmp_path / "dag_id=a.iteration" / "run_id=going" / "task_id=x", days_ago=31)
    written(tmp_path / "dag_id=a.iteration" / "run_id=going" / "task_id=y", days_ago=1)
    written(tmp_path / "dag_id=a" / "run_id=old" / "task_id=open", days_ago=99)
    written(tmp_path / "dag_id=b.iteration" / "run_id=old" / "task_id=x", days_ago=99)

    removed = housekeeping.remove_logs(tmp_path, "a.iteration", NOW - timedelta(days=30))

    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    assert removed == 1
    assert left == [
        "dag_id=a.iteration/run_id=going",
        "dag_id=a.iteration/run_id=new",
        "dag_id=a/run_id=old",
        "dag_id=b.iteration/run_id=old",
    ]


def test_logs_of_parsing_go_by_their_day(tmp_path):
    """The day of the date itself stays; so does what is no day, `latest` above all."""
    for name in ("2026-10-20", "2026-10-22", "2026-11-21", "notes"):
        (tmp_path / name / "dags-folder").mkdir(parents=True)
    (tmp_path / "latest").symlink_to("2026-10-20")

    assert housekeeping.remove_parsing_logs(tmp_path, NOW - timedelta(days=30)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2026-10-22", "2026-11-21", "latest", "notes"]


def test_a_database_that_is_not_airflows_own_is_not_cleaned(monkeypatch):
    """It does not know the run that asks: the address is elsewhere, and the error says where it can be put."""
    monkeypatch.setattr(housekeeping.sys, "executable", "/bin/false")

    with pytest.raises(PlatformError, match=r"does not know run manual__1.*nothing was cleaned.*ALBACORE_AIRFLOW_DB"):
        next(housekeeping.clean(NOW, witness="manual__1"))


def test_campaigns_are_cleaned_by_their_own_age(tmp_path, monkeypatch):
    """`keep_days` of each file; only iterations are named."""
    for name, days in (("a", 30), ("b", 7), ("c", 30)):
        (tmp_path / f"{name}.toml").write_text(f"keep_days = {days}\n" + noop())
    monkeypatch.setenv("ALBACORE_CAMPAIGNS", str(tmp_path))
    monkeypatch.setenv("ALBACORE_BENCHMARKS", str(REPOSITORY / "include" / "benchmarks"))

    assert housekeeping.by_age() == {30: ["a.iteration", "c.iteration"], 7: ["b.iteration"]}


def test_the_reapers_runs_go_with_those_of_its_campaigns(folder):
    """Four runs an hour are not kept for ever."""
    assert housekeeping.by_age() == {30: ["rented.iteration", "reaper"]}


def test_the_address_that_a_task_is_given_is_not_handed_on():
    """It is a decoy; airflow.cfg has the real one, or the user's own variable."""
    task = {
        "PATH": "/bin",
        "_AIRFLOW_PROCESS_CONTEXT": "client",
        **dict.fromkeys(housekeeping.HIDDEN_IN_TASKS, "airflow-db-not-allowed:///"),
    }

    assert housekeeping.environment(task) == {"PATH": "/bin"}
    known = housekeeping.environment({**task, "ALBACORE_AIRFLOW_DB": "postgresql://db/airflow"})
    assert known["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] == "postgresql://db/airflow"


def test_a_table_that_was_not_cleaned_is_a_fault_unless_it_never_can_be():
    """Airflow exits with 0 and a warning."""
    said = "The following tables were not cleaned due to errors: {}. Check the logs above for details."

    assert housekeeping.left_over("Finished Performing Delete") == set()
    assert housekeeping.left_over(said.format(["deadline"])) == set()
    assert housekeeping.left_over(said.format(["deadline", "task_instance"])) == {"task_instance"}


def test_a_database_that_cannot_be_reached_is_an_error_that_says_where_to_look(monkeypatch):
    """Never a clean that quietly cleaned nothing."""
    monkeypatch.setattr(housekeeping.sys, "executable", "/bin/false")

    with pytest.raises(PlatformError, match=r"exit code 1. Is Airflow's database in airflow\.cfg"):
        housekeeping.database_clean(["a.iteration"], NOW)
