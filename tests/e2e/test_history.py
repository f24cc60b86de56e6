"""Airflow's own backfill sends recorded runs through policies, twice over dates that already have runs."""

import json
import subprocess
import sys

import pytest
import recorded_files as small
from clone import Clone, wait_until
from small_campaigns import SMALL

from albacore.store import rescorings, transcript
from albacore_ops.rest import path

pytestmark = pytest.mark.e2e
DATES = ("2026-01-01", "2026-01-04")
BUSY = "AlreadyRunningBackfill"
"""Why a back-fill is not made now, and may be in a moment: nothing has been made then."""


def backfill(clone: Clone, dag: str, dates, conf, **options: str) -> None:
    """Back-fill some dates with Airflow's command, again while the one before has not ended."""
    span = ["--dag-id", dag, "--from-date", dates[0], "--to-date", dates[1]]
    more = [text for key, value in options.items() for text in (f"--{key.replace('_', '-')}", value)]

    def is_made() -> bool:
        done = subprocess.run(
            [sys.executable, "-m", "airflow", "backfill", "create", *span, "--dag-run-conf", json.dumps(conf), *more],
            env=clone.layout.environment(clone.environment),
            cwd=clone.root,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0 or BUSY in said, said
        return done.returncode == 0

    wait_until(is_made, 240.0, f"{dag} is back-filled")


def runs(clone: Clone, dag: str):
    """Return logical date -> state of the DAG runs that a back-fill made."""
    found = clone.airflow.call("GET", path("dags", dag, "dagRuns"), query={"limit": 100})["dag_runs"]
    return {run["logical_date"][:10]: run for run in found if run["run_type"] == "backfill"}


def ended(clone: Clone, dag: str, count: int):
    """Wait until so many dates have ended."""

    def all_over():
        found = runs(clone, dag)
        return len(found) == count and all(run["state"] in ("success", "failed") for run in found.values()) and found

    return wait_until(all_over, 240.0, f"{count} dates of {dag} are back-filled")


def task_states(clone: Clone, dag: str, run: dict) -> dict:
    where = path("dags", dag, "dagRuns", run["dag_run_id"], "taskInstances")
    return {task["task_id"]: task["state"] for task in clone.airflow.call("GET", where)["task_instances"]}


def test_dates_are_back_filled_under_two_policies(clone, tmp_path):
    """Results stand beside each other and the runs' own; the default re-does no date; one date has no record."""
    clone.albacore("import", *map(str, small.write(tmp_path, runs=3)), "--first-date", DATES[0])
    wait_until(lambda: clone.airflow.find(path("dags", "imported.history")), 120.0, "Airflow knows the history")
    store = clone.store()
    before = {run.id: transcript.read(store, run.id) for run in store.runs() if run.campaign == "imported"}

    backfill(clone, "imported.history", DATES, {"policy": "tuna"})
    first = ended(clone, "imported.history", 4)
    kept = rescorings.of_campaign(store, "imported", "tuna")
    backfill(clone, "imported.history", DATES, {"policy": "naive"})
    assert rescorings.of_campaign(store, "imported", "naive") == {}
    backfill(clone, "imported.history", DATES, {"policy": "naive"}, reprocess_behavior="completed")
    wait_until(lambda: len(rescorings.of_campaign(store, "imported", "naive")) == 3, 240.0, "the second policy")
    second = ended(clone, "imported.history", 4)

    assert {run["state"] for run in (*first.values(), *second.values())} == {"success"}
    assert task_states(clone, "imported.history", first["2026-01-04"]) == {"find": "skipped", "rescore": "skipped"}
    assert rescorings.of_campaign(store, "imported", "tuna") == kept
    assert {run_id: transcript.read(store, run_id) for run_id in before} == before
    said = json.loads(clone.albacore("compare", "imported", "--policy", "tuna", "--policy", "naive", "--json"))
    assert said["changed"] == 3
    store.close()


def test_a_policy_that_does_not_exist_fails_with_the_list(clone):
    """In the first task, and nothing is written."""
    wait_until(lambda: clone.airflow.find(path("dags", "imported.history")), 120.0, "Airflow knows the history")
    backfill(clone, "imported.history", ("2025-06-01", "2025-06-01"), {"policy": "best"})

    at = "2025-06-01"
    wait_until(lambda: runs(clone, "imported.history").get(at, {}).get("state") == "failed", 120.0, "it fails")
    assert rescorings.policies_of(clone.store(), "imported").keys() <= {"tuna", "naive"}


def test_a_past_run_is_measured_again(clone):
    """With the folder that was archived when it opened; it says what it is."""
    clone.campaign("past", SMALL)  # of its own: a date's runs are all measured again, one after the other
    wait_until(lambda: clone.airflow.find(path("dags", "past.history")), 120.0, "Airflow knows its history")
    past = clone.start("past").wait()
    store = clone.store()
    date = rescorings.date_of(store.run(past.id)).date().isoformat()

    backfill(clone, "past.history", (date, date), {"mode": "retune"})
    ended(clone, "past.history", 1)

    (again,) = [run for run in store.runs() if run.benchmark.get("retune_of") == past.id]
    assert again.benchmark["origin"] == "retune"
    assert again.benchmark_digest == store.run(past.id).benchmark_digest
    assert again.effective == store.run(past.id).effective
    store.close()
