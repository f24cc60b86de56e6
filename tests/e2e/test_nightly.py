"""Three nights by schedule, the third with a machine that has drifted, on a real Airflow.

The schedule is every minute, so that three nights pass in minutes: each run is one that the scheduler creates. Minutes
that fall into a night find the campaign's lock held and are skipped.
"""

import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import law
import pytest
from clone import Clone, Followed, wait_until
from small_campaigns import noop

from albacore import sentinel
from albacore.nightly import incumbent, nights
from albacore.sample import Purpose, Sample
from albacore_ops.campaign import ENDED
from albacore_ops.rest import Json, path

pytestmark = pytest.mark.e2e

CAMPAIGN = "nightly"
NIGHTLY = 'schedule = "* * * * *"\ntimezone = "Europe/Berlin"\nstart_within = 0.5\n' + noop(
    limits="{ samples = 9, hours = 1.0 }",
    nodes="{ tuning = 3, validation = 3 }",
    validation="{ repeats = 2 }",
    warm_start="{ runs = 3, configs = 2 }",
    params="{ seconds = 1.0, noise = 0.005 }",  # so that a night is longer than a minute on any machine
)
SLOW_NODE = "n2"


def dag_runs(clone: Clone) -> list[Json]:
    """Return the campaign's DAG runs, oldest first."""
    where = path("dags", CAMPAIGN, "dagRuns")
    return clone.airflow.call("GET", where, query={"limit": 100, "order_by": "run_after"})["dag_runs"]


def followed(clone: Clone, run: Json) -> Followed:
    return Followed(clone=clone, campaign=CAMPAIGN, dag_run_id=run["dag_run_id"])


def begun(clone: Clone) -> list[Followed]:
    """Return the nights that have begun: those whose `open` has named a campaign run."""
    return [one for one in (followed(clone, run) for run in dag_runs(clone)) if one.xcom("open")]


def switch_on(clone: Clone) -> None:
    clone.airflow.call("PATCH", path("dags", CAMPAIGN), body={"is_paused": False})


def next_night(clone: Clone, *, but: list[Followed]) -> Followed:
    """Wait until the scheduler has begun another night."""
    known = names(but)
    found = wait_until(
        lambda: [one for one in begun(clone) if one.dag_run_id not in known], 240, "a night has begun", pause_s=3.0
    )
    return found[0]


def has_tuned(night: Followed) -> bool:
    """Whether a night's tuning nodes are left alone from now on."""
    return any(task["task_id"] == "plan_validation" and task["state"] == "success" for task in night.seen.tasks())


def names(runs: list[Followed]) -> set[str]:
    return {run.dag_run_id for run in runs}


@pytest.fixture(scope="module")
def three(clone) -> Iterator[list[Followed]]:
    """Three nights; before the third one machine becomes slower. Afterwards the schedule is taken out of the file."""
    clone.campaign(CAMPAIGN, NIGHTLY)
    clone.wait_known(CAMPAIGN)
    assert clone.airflow.call("GET", path("dags", CAMPAIGN))["is_paused"], "a schedule is off until it is switched on"
    switch_on(clone)
    nights_: list[Followed] = []
    for index in range(3):
        night = next_night(clone, but=nights_)
        nights_.append(night)
        if index == 1:
            wait_until(lambda night=night: has_tuned(night), 300, "the second night has tuned", pause_s=1.0)
            next(clone.nodes_root.glob(f"*/{SLOW_NODE}")).joinpath("moved").write_text("0.6")
        night.wait(400)
    yield nights_
    clone.campaign(CAMPAIGN, NIGHTLY.replace('schedule = "* * * * *"\n', ""))


def test_three_nights_run_by_schedule_and_keep_every_law(three):
    """Each is a scheduled run that was switched on, not triggered."""
    types = {run["dag_run_id"]: run["run_type"] for run in dag_runs(three[0].clone)}

    assert [types[night.dag_run_id] for night in three] == ["scheduled"] * 3
    for night in three:
        law.check(night)


def test_minutes_that_fall_into_a_night_are_skipped_and_name_the_holder(three):
    """Never two runs at once: the others say whose lock they found, and measure nothing."""
    clone = three[0].clone
    # The schedule goes on meanwhile: a fourth night may have begun, and even have ended.
    others = [followed(clone, run) for run in dag_runs(clone) if run["state"] in ENDED]
    others = [one for one in others if not one.xcom("open")]
    reasons = [one.xcom("open", "skipped") for one in others]

    assert reasons, "no minute fell into a night"
    ids = [night.id for night in begun(clone)]
    assert all("never two runs at once" in reason and any(i in reason for i in ids) for reason in reasons)
    assert {one.seen.state() for one in others} == {"success"}
    assert all(not one.seen.failed_tasks() for one in others)


def test_a_night_begins_with_what_the_last_one_left(three):
    """The incumbent of the first is a sentinel of the second, measured on every tuning node beside the default."""
    first, second, third = (law.log_of(night) for night in three)

    assert sentinel.taken_over(first) == []
    kept = sentinel.incumbent_id(second)
    assert kept == incumbent.left_by(three[0].xcom("verdict", "verdict"))[1]
    assert {s.node for s in second.samples(kept)} == {
        s.node for s in second.facts(Sample) if s.purpose is Purpose.DEFAULT
    }
    assert sentinel.incumbent_id(third)
    said = three[1].clone.albacore("show", three[1].id)
    assert f"incumbent, warm start from run {three[0].id}" in said


def test_the_sentinels_find_the_machine_that_moved_and_are_silent_before(three):
    """It is named in the log, in the verdict's warnings and by `albacore show`."""
    first, second, third = (nights.findings(law.log_of(night)) for night in three)

    assert (first, second) == ([], [])
    assert [(found.what, found.nodes) for found in third] == [("machine", (SLOW_NODE,))]
    assert third[0].sentence in three[2].xcom("verdict", "verdict")["warnings"]
    assert third[0].sentence in three[2].clone.albacore("show", three[2].id)


def test_a_run_by_hand_while_another_goes_on_fails_and_names_it(three):
    """Whoever pressed the button is told; the night is not disturbed."""
    clone = three[0].clone
    fourth = next_night(clone, but=three)
    mine = clone.start(CAMPAIGN).wait(120, state="failed")

    (failed,) = [task for task in mine.seen.failed_tasks() if task["task_id"] == "open"]
    text = str(mine.seen.log(failed))
    assert "never two runs at once" in text and fourth.id in text
    law.check(fourth.wait(400))


def test_status_says_when_the_next_night_is(three):
    """In words, with the campaign's name and its schedule."""
    said = three[0].clone.make("status")

    assert "nightly: schedule '* * * * *', next run 20" in said


def test_airflow_forgets_old_iterations_and_nothing_else_is_lost(three):
    """After housekeeping the first night's iterations and their logs are gone; the night itself, the other nights'
    iterations, its replay and its history are there.
    """
    clone, first, second = three[0].clone, three[0], three[1]
    logs = clone.layout.logs / f"dag_id={CAMPAIGN}.iteration"
    ages(clone, first)
    parsed = clone.layout.logs / "dag_processor" / "2020-01-01"
    parsed.mkdir()
    was = clone.albacore("show", first.id)
    assert first.iterations() and list(logs.glob(f"run_id={first.id}.*"))

    clone.airflow.call("POST", path("dags", "housekeeping", "dagRuns"), body={"logical_date": None})
    wait_until(lambda: not first.iterations(), 120, "the iterations are gone", pause_s=2.0)
    wait_until(lambda: not list(logs.glob(f"run_id={first.id}.*")), 60, "their logs are gone")
    wait_until(lambda: not parsed.exists(), 60, "old logs of parsing are gone")

    assert list(parsed.parent.glob("20*"))
    assert first.seen.state() == "success" and first.xcom("verdict", "verdict")
    assert second.iterations() and list(logs.glob(f"run_id={second.id}.*"))
    assert clone.albacore("show", first.id) == was
    assert "every one of them replays" in clone.albacore("show", first.id, "--verify")
    assert "are gone from Airflow" in clone.make("clean-history")
    assert nights.findings(law.log_of(three[2]))


def ages(clone: Clone, night: Followed) -> None:
    """Make a night's iterations 40 days old for Airflow, in its database and in the dates of their logs."""
    old = datetime.now(UTC) - timedelta(days=40)
    with sqlite3.connect(clone.layout.database, timeout=30) as database:
        for table in ("dag_run", "task_instance"):
            database.execute(
                f"UPDATE {table} SET start_date = ? WHERE dag_id = ? AND run_id LIKE ?",
                (old.strftime("%Y-%m-%d %H:%M:%S.%f"), f"{CAMPAIGN}.iteration", f"{night.id}.l%"),
            )
    for run in (clone.layout.logs / f"dag_id={CAMPAIGN}.iteration").glob(f"run_id={night.id}.*"):
        for file in (run, *run.rglob("*")):
            os.utime(file, (old.timestamp(), old.timestamp()))
