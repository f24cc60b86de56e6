"""Three nights by schedule, the third with a machine that has drifted, on a real Airflow.

The schedule is every minute, so that three nights pass in minutes: each run is one that the scheduler creates. Minutes
that fall into a night find the campaign's lock held and are skipped.
"""

import law
import pytest
from clone import Clone, Followed, wait_until
from small_campaigns import noop

from albacore import nights, sentinel
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
    params="{ seconds = 0.0, noise = 0.005 }",
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


def switch(clone: Clone, *, is_on: bool) -> None:
    clone.airflow.call("PATCH", path("dags", CAMPAIGN), body={"is_paused": not is_on})


def next_night(clone: Clone) -> Followed:
    """Let the scheduler begin one night, then switch the schedule off and wait for the night's end."""
    known = {one.dag_run_id for one in begun(clone)}
    switch(clone, is_on=True)
    (night,) = wait_until(
        lambda: [one for one in begun(clone) if one.dag_run_id not in known], 180, "a night has begun", pause_s=2.0
    )
    return night


@pytest.fixture(scope="module")
def three(clone) -> list[Followed]:
    """Three nights; before the third one machine becomes slower. The schedule is on during the first two."""
    clone.campaign(CAMPAIGN, NIGHTLY)
    clone.wait_known(CAMPAIGN)
    assert clone.airflow.call("GET", path("dags", CAMPAIGN))["is_paused"], "a schedule is off until it is switched on"
    first = next_night(clone).wait(400)
    second = next_night(clone)
    switch(clone, is_on=False)
    second.wait(400)
    (clone.nodes_root / SLOW_NODE / "moved").write_text("0.6")
    third = next_night(clone)
    switch(clone, is_on=False)
    return [first, second, third.wait(400)]


def test_three_nights_run_by_schedule_and_keep_every_law(three):
    """Each is a scheduled run that was switched on, not triggered."""
    types = {run["dag_run_id"]: run["run_type"] for run in dag_runs(three[0].clone)}

    assert [types[night.dag_run_id] for night in three] == ["scheduled"] * 3
    for night in three:
        law.check(night)


def test_minutes_that_fall_into_a_night_are_skipped_and_name_the_holder(three):
    """Never two runs at once: the others say whose lock they found, and measure nothing."""
    clone = three[0].clone
    others = [one for run in dag_runs(clone) if (one := followed(clone, run)).dag_run_id not in names(three)]
    reasons = [one.xcom("open", "skipped") for one in others if one.seen.state() in ENDED]

    assert reasons, "no minute fell into a night"
    ids = [night.id for night in three]
    assert all("never two runs at once" in reason and any(i in reason for i in ids) for reason in reasons)
    assert {one.seen.state() for one in others} == {"success"}
    assert all(not one.seen.failed_tasks() for one in others)


def names(runs: list[Followed]) -> set[str]:
    return {run.dag_run_id for run in runs}


def test_a_night_begins_with_what_the_last_one_left(three):
    """The incumbent of the first is a sentinel of the second, measured on every tuning node beside the default."""
    first, second, third = (law.log_of(night) for night in three)

    assert sentinel.taken_over(first) == []
    kept = sentinel.incumbent_id(second)
    assert kept == three[0].xcom("verdict", "verdict")["best"]["config_id"]
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
    """Whoever pressed the button is told."""
    clone = three[0].clone
    going = clone.start(CAMPAIGN)
    assert going.id
    switch(clone, is_on=True)
    late = clone.start(CAMPAIGN).wait(120, state="failed")
    switch(clone, is_on=False)

    (failed,) = [task for task in late.seen.failed_tasks() if task["task_id"] == "open"]
    text = str(late.seen.log(failed))
    assert "never two runs at once" in text and going.id in text
    law.check(going.wait(400))
