"""Airflow's own backfill sends recorded runs through policies, twice over dates that already have runs."""

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest
import recorded_files as small
from browser import Listener, browser
from clone import Clone, wait_until
from playwright.sync_api import expect
from signing_in import back_fill, sign_in
from small_campaigns import SMALL

from albacore.store import rescorings, transcript
from albacore_ops.rest import path

pytestmark = pytest.mark.e2e
DAG = "imported.history"
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


def completed(clone: Clone, dag: str) -> bool:
    """Whether Airflow has closed every back-fill of a DAG: it does so up to half a minute after the last date."""
    found = clone.airflow.call("GET", path("backfills"), query={"dag_id": dag})["backfills"]
    return all(one["completed_at"] for one in found)


def task_states(clone: Clone, dag: str, run: dict) -> dict:
    where = path("dags", dag, "dagRuns", run["dag_run_id"], "taskInstances")
    return {task["task_id"]: task["state"] for task in clone.airflow.call("GET", where)["task_instances"]}


def skipped(clone: Clone, dag: str, run: dict) -> list[str]:
    """Return why `find` left a date out: its XCom; the log of `find` says the same."""
    where = ("dags", dag, "dagRuns", run["dag_run_id"], "taskInstances", "find")
    reasons = clone.airflow.call("GET", path(*where, "xcomEntries", "skipped"))["value"]
    log = json.dumps(clone.airflow.call("GET", path(*where, "logs", "1")))
    assert all(reason in log for reason in reasons), log
    return reasons


@dataclass(frozen=True, slots=True)
class Twice:
    """What there was of three recorded runs before, after the first and after the second policy."""

    before: dict
    first: dict
    kept: dict
    naive_by_default: dict
    second: dict


@pytest.fixture(scope="module")
def twice(clone, tmp_path_factory) -> Twice:
    """Three dates with records and one without, back-filled under two policies."""
    files = small.write(tmp_path_factory.mktemp("recorded"), runs=3)
    clone.albacore("import", *map(str, files), "--first-date", DATES[0])
    wait_until(lambda: clone.airflow.find(path("dags", DAG)), 120.0, "Airflow knows the history")
    store = clone.store()
    before = {run.id: transcript.read(store, run.id) for run in store.runs() if run.campaign == "imported"}

    backfill(clone, DAG, DATES, {"policy": "tuna"})
    first = ended(clone, DAG, 4)
    kept = rescorings.of_campaign(store, "imported", "tuna")
    backfill(clone, DAG, DATES, {"policy": "naive"})
    by_default = rescorings.of_campaign(store, "imported", "naive")
    backfill(clone, DAG, DATES, {"policy": "naive"}, reprocess_behavior="completed")
    wait_until(lambda: len(rescorings.of_campaign(store, "imported", "naive")) == 3, 240.0, "the second policy")
    store.close()
    return Twice(before, first, kept, by_default, ended(clone, DAG, 4))


def clear(clone: Clone, dag: str, run: dict, task: str) -> None:
    """Clear a task of a DAG run, and wait until that is seen."""
    body = {"dry_run": False, "only_failed": False, "dag_run_id": run["dag_run_id"], "task_ids": [task]}
    clone.airflow.call("POST", path("dags", dag, "clearTaskInstances"), body=body)
    wait_until(
        lambda: runs(clone, dag)[run["logical_date"][:10]]["state"] in ("queued", "running"), 60.0, "it is clear"
    )


def test_dates_are_back_filled_under_two_policies(clone, twice):
    """Results stand beside each other and the runs' own; the default re-does no date."""
    store = clone.store()

    assert {run["state"] for run in (*twice.first.values(), *twice.second.values())} == {"success"}
    assert len(twice.kept) == 3 and twice.naive_by_default == {}
    assert rescorings.of_campaign(store, "imported", "tuna") == twice.kept
    assert {run_id: transcript.read(store, run_id) for run_id in twice.before} == twice.before
    said = json.loads(clone.albacore("compare", "imported", "--policy", "tuna", "--policy", "naive", "--json"))
    assert said["changed"] == 3
    store.close()


def test_a_date_without_a_record_is_skipped_with_its_reason(clone, twice):
    """Both times: in the grid, in the task's log, and as a value."""
    for found in (twice.first, twice.second):
        empty = found["2026-01-04"]
        assert task_states(clone, DAG, empty) == {"find": "skipped", "rescore": "skipped"}
        (reason,) = skipped(clone, DAG, empty)
        assert reason.startswith("no run of campaign imported is recorded from 2026-01-04")


def test_two_policies_are_compared_on_one_page(clone, twice):
    """In the browser, from the link in the head of a run's page; what it says is what the command says."""
    listener = Listener(only="/albacore/")
    with browser() as chromium:
        page = listener.listen(chromium.new_page(viewport={"width": 1280, "height": 900}))
        sign_in(page, clone)
        page.goto(f"{clone.layout.url}/albacore/dags/imported/runs/{next(iter(twice.before))}/convergence")
        page.get_by_role("link", name="Compare policies").click()
        expect(page.locator("#gains.js-plotly-plot")).to_be_visible(timeout=30_000)
        page.locator("#a").select_option("tuna")
        page.locator("#b").select_option("naive")

        expect(page.locator("#sum")).to_contain_text("The choice changes in 3 of 3 runs.")
        expect(page.locator("tbody tr")).to_have_count(3)
        page.locator("#b").select_option("tuna")
        expect(page.locator("#sum")).to_contain_text("The choice changes in 0 of 3 runs.")
    assert listener.complaints == []


def test_the_form_of_the_ui_back_fills_under_two_policies(clone, tmp_path):
    """The click path of the tutorial; without the box at the end Airflow would send the first policy again."""
    (clone.root / "include" / "histories" / "shelf.toml").touch()
    files = small.write(tmp_path, runs=2)
    clone.albacore("import", *map(str, files), "--campaign", "shelf", "--first-date", "2026-03-01")
    wait_until(lambda: clone.airflow.find(path("dags", "shelf.history")), 120.0, "Airflow knows the history")
    store, days = clone.store(), ("2026/03/01", "2026/03/02")

    def is_scored(policy: str) -> bool:
        return len(rescorings.of_campaign(store, "shelf", policy)) == 2

    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 1400})
        sign_in(page, clone)
        back_fill(page, clone, "shelf.history", days, "tuna")
        wait_until(lambda: is_scored("tuna"), 240.0, "the first policy")
        ended(clone, "shelf.history", 2)
        wait_until(lambda: completed(clone, "shelf.history"), 120.0, "Airflow takes another back-fill")
        back_fill(page, clone, "shelf.history", days, "naive", "All Runs", "Override parameters on existing runs")
        wait_until(lambda: is_scored("naive"), 240.0, "the second policy")
    assert is_scored("tuna")
    store.close()


def test_a_policy_that_does_not_exist_fails_with_the_list(clone):
    """In the first task, and nothing is written."""
    wait_until(lambda: clone.airflow.find(path("dags", DAG)), 120.0, "Airflow knows the history")
    backfill(clone, DAG, ("2025-06-01", "2025-06-01"), {"policy": "best"})

    at = "2025-06-01"
    wait_until(lambda: runs(clone, DAG).get(at, {}).get("state") == "failed", 120.0, "it fails")
    assert rescorings.policies_of(clone.store(), "imported").keys() <= {"tuna", "naive"}


def test_a_past_run_is_measured_again(clone):
    """With the folder that was archived when it opened; it says what it is."""
    clone.campaign("past", SMALL)  # of its own: a date's runs are all measured again, one after the other
    wait_until(lambda: clone.airflow.find(path("dags", "past.history")), 120.0, "Airflow knows its history")
    past = clone.start("past").wait()
    store = clone.store()
    date = rescorings.date_of(store.run(past.id)).date().isoformat()

    backfill(clone, "past.history", (date, date), {"mode": "retune"})
    wait_until(lambda: len([run for run in store.runs() if run.campaign == "past"]) == 2, 240.0, "it is measured again")
    begun = runs(clone, "past.history")[date]
    clear(clone, "past.history", begun, "retune")  # a retry while the run that it has started goes on
    (over,) = ended(clone, "past.history", 1).values()
    assert task_states(clone, "past.history", over)["retune"] == "success"
    clear(clone, "past.history", begun, "retune")  # and one afterwards
    (over,) = ended(clone, "past.history", 1).values()
    assert task_states(clone, "past.history", over)["retune"] == "success"

    (again,) = [run for run in store.runs() if run.benchmark.get("retune_of") == past.id]
    assert again.benchmark["origin"] == "retune"
    assert again.benchmark_digest == store.run(past.id).benchmark_digest
    assert again.effective == store.run(past.id).effective
    store.close()
