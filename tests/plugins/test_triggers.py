"""What waits in the triggerer: a node waits neither for a task to begin its job nor to write down its result."""

import asyncio
import dataclasses

import pytest
import stored_runs
from stored_runs import default_of, opened

from albacore.errors import NodeError
from albacore.nodes import fake
from albacore.sample import Failure, Purpose, Sample
from albacore_airflow import settings
from albacore_airflow.measuring import Measurement
from albacore_airflow.slots import Slot
from albacore_airflow.triggers import LeaseTrigger, ResultTrigger


@pytest.fixture
def node():
    """A node whose jobs are over as soon as they are begun."""
    return fake.FakeNode(name="n1", jobs=lambda spec: fake.finished("d", {"tps": (7.0, "tps")}))


@pytest.fixture
def made(tmp_path, monkeypatch, node):
    """A run in a store of its own, whose nodes are all that one."""
    limits = dict.fromkeys(("install", "load", "start", "run", "stop"), 1.0)
    monkeypatch.setitem(stored_runs.WORKLOAD, "timeouts_s", limits)
    made = opened(tmp_path)
    monkeypatch.setattr(settings, "store", lambda: made.store)
    monkeypatch.setattr(settings, "node", lambda run, record: node)
    return made


@pytest.fixture
def slot(made):
    return {
        "run": "run",
        "config": default_of(made),
        "purpose": Purpose.DEFAULT.value,
        "slot": 0,
        "repeat": 0,
        "nodes": ["n1"],
    }


def fired(trigger):
    """Return the payload of a trigger's first event."""

    async def first():
        async for event in trigger.run():
            return event.payload
        return None

    return asyncio.run(first())


def started(slot):
    measurement = Measurement(Slot.of(slot))
    return measurement, measurement.start(measurement.take())


def test_a_node_that_becomes_free_gets_its_job_at_once(slot, node):
    """Before the task comes back: the task finds the job, and holds the same lease."""
    fired(LeaseTrigger(slot=slot))

    measurement, running = started(slot)
    assert len([call for call in node.calls if "start" in call]) == 2, "the second one finds the first"
    assert isinstance(measurement.record(running), Sample)


def test_a_result_is_written_down_where_it_is_waited_for_and_the_node_is_free(slot, made):
    """And the task that comes back later finds it written, once."""
    measurement, running = started(slot)

    fired(ResultTrigger(slot=slot, running=dataclasses.asdict(running)))

    assert settings.leases().holder("node:n1") is None
    assert len(made.log.read().facts(Sample)) == 1
    assert measurement.wait_for_result(running, 0.0)
    again = measurement.record(running)
    assert isinstance(again, Sample) and again.value("tps") == 7.0
    assert len(made.log.read().facts(Sample)) == 1 and made.log.read().facts(Failure) == []


def test_of_a_node_that_cannot_be_reached_the_task_is_the_judge(slot, made, node):
    """The trigger ends and records nothing; the task meets the same and blames the node."""
    measurement, running = started(slot)
    node.is_reachable = False

    assert fired(ResultTrigger(slot=slot, running=dataclasses.asdict(running))) is not None

    assert made.log.read().facts(Failure) == []
    with pytest.raises(NodeError):
        measurement.wait_for_result(running, 0.0)


def test_an_attempt_that_failed_is_not_taken_for_the_next_one(slot, made, node):
    """What is known is known of one attempt."""
    measurement, running = started(slot)
    measurement.blame_node(running, NodeError("gone"))

    assert isinstance(measurement.known(running), Failure)
    assert measurement.known(dataclasses.replace(running, attempt=1)) is None
