"""`provision` and `release` of machines made for a run: what is deferred, by which trigger, and what comes after it."""

import asyncio
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import TaskDeferred
from rented_runs import RUN, opened, rented_campaign

from albacore import ledger
from albacore.errors import PlatformError, UserError
from albacore_airflow import renting, settings, triggers
from albacore_airflow.renting_operators import ProvisionOperator, ReleaseOperator

CONTEXT = {"dag_run": SimpleNamespace(run_id="manual__1")}


def resumed(operator, deferred: TaskDeferred):
    """Run the trigger to its event, as the triggerer does after making it from its text, and go on with the task."""
    path, fields = deferred.trigger.serialize()
    trigger = getattr(triggers, path.rpartition(".")[2])(**fields)

    async def event():
        async for found in trigger.run():
            return found.payload

    payload = asyncio.run(event())
    return getattr(operator, deferred.method_name)(CONTEXT, payload, **(deferred.kwargs or {}))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(triggers, "MACHINES_LOOK_S", 0.02)


def test_machines_are_waited_for_without_a_worker(arm, store, folder):
    """The task defers with names only; a machine that fails is deleted, deferred again, before the task fails."""
    opened(store, folder)
    arm.group.create_s = arm.group.delete_s = 1.0
    arm.fail_async("-2$", "AllocationFailed")
    provision = ProvisionOperator(task_id="provision", run_id=RUN)

    with pytest.raises(TaskDeferred) as waiting:
        provision.execute(CONTEXT)
    assert isinstance(waiting.value.trigger, triggers.ThereTrigger)
    with pytest.raises(TaskDeferred) as clearing:
        resumed(provision, waiting.value)
    assert isinstance(clearing.value.trigger, triggers.GoneTrigger)
    with pytest.raises(PlatformError, match="AllocationFailed"):
        resumed(provision, clearing.value)

    failed = renting.names_of(RUN)[1]
    assert [name for name in arm.names if failed in name] == []
    assert len(arm.names) == 3 * 3


def test_a_refusal_for_good_is_raised_at_once(arm, store, folder):
    """Nobody waits for quota."""
    opened(store, folder)
    arm.group.cores = 4
    with pytest.raises(UserError, match="quota"):
        ProvisionOperator(task_id="provision", run_id=RUN).execute(CONTEXT)
    assert arm.puts() == []


def test_release_deletes_by_tags_and_waits_without_a_worker(arm, store, folder):
    """It knows nothing of the task that made the machines, and ends when nothing is left."""
    opened(store, folder)
    renting.request(RUN, "manual__1")
    release = ReleaseOperator(task_id="release", run_id=RUN)

    with pytest.raises(TaskDeferred) as waiting:
        release.execute(CONTEXT)
    while True:
        try:
            assert resumed(release, waiting.value) == []
            break
        except TaskDeferred as again:
            waiting = SimpleNamespace(value=again)

    assert arm.names == []
    assert ledger.held(settings.run_log(RUN).read()) == []


def test_release_fails_when_it_may_not_delete(arm, store, folder):
    """Then it is tried again, and the reaper comes after it."""
    opened(store, folder)
    renting.request(RUN, "manual__1")
    arm.fail("DELETE", "virtualMachines", status=403, code="AuthorizationFailed", times=100)
    with pytest.raises(UserError, match="AuthorizationFailed"):
        ReleaseOperator(task_id="release", run_id=RUN).execute(CONTEXT)


def test_release_of_a_run_that_was_never_opened_is_nothing(store):
    """A night that was skipped has nothing to give back."""
    assert ReleaseOperator(task_id="release", run_id=None).execute(CONTEXT) == []


def test_a_campaign_of_spot_machines_is_one_too(arm, store, folder):
    """Only its table differs."""
    (folder / "rented.toml").write_text(rented_campaign(spot=True))
    opened(store, folder)
    renting.request(RUN, "manual__1")
    assert {body["properties"]["priority"] for body in arm.bodies.values()} == {"Spot"}
