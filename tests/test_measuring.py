"""Which nodes a slot waits for, by what it and the other slots of its config ended in."""

import pytest
from scenes import failure, sample
from stored_runs import opened

from albacore.sample import Blame, Purpose
from albacore_airflow import settings
from albacore_airflow.measuring import Measurement
from albacore_airflow.slots import Slot

NODES = ("n1", "n2", "n3")


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A run in a store that the plugin's tasks use."""
    made = opened(tmp_path)
    monkeypatch.setattr(settings, "store", lambda: made.store)
    return made


def measurement(slot=0, *, repeat=0, purpose=Purpose.TUNE, failed=0):
    wanted = Slot(run="run", config="c", purpose=purpose, slot=slot, repeat=repeat, nodes=NODES, failed=failed)
    return Measurement(wanted)


def failed(made, node, attempt, *, slot=0, blame=Blame.NODE):
    made.log.append_failure(failure("c", node, blame, slot=slot), attempt=attempt)


def test_a_slot_that_has_not_failed_waits_for_all_its_nodes(made):
    """In the order that the plan gave them."""
    assert measurement()._candidates() == ["n1", "n2", "n3"]


def test_a_slot_never_tries_a_node_again_that_it_failed_on_while_another_is_left(made):
    """Another node, in the order of the plan."""
    failed(made, "n1", 0)
    assert measurement()._candidates() == ["n2", "n3"]

    failed(made, "n2", 1)
    assert measurement()._candidates() == ["n3"]


def test_a_slot_that_failed_everywhere_may_try_the_same_nodes_again(made):
    """The load generator's third attempt has to happen somewhere."""
    for attempt, node in enumerate(NODES):
        failed(made, node, attempt, blame=Blame.LOAD)

    assert measurement()._candidates() == ["n1", "n2", "n3"]


def test_a_slot_never_waits_for_a_node_that_another_slot_of_its_config_has_used(made):
    """That node is not to be had any more: the wait would not end."""
    made.log.append_sample(sample("c", "n2", 1.0, slot=1))
    failed(made, "n1", 0)

    assert measurement()._candidates() == ["n3"]


def test_a_slot_goes_back_to_its_failed_node_when_the_others_are_used_up(made):
    """Better there than never."""
    made.log.append_sample(sample("c", "n2", 1.0, slot=1))
    made.log.append_sample(sample("c", "n3", 1.0, slot=2))
    failed(made, "n1", 0)

    assert measurement()._candidates() == ["n1"]


def test_a_repeat_is_a_slot_of_its_own(made):
    """What is measured again has its attempts, leases and nodes anew; an earlier repeat does not block a node."""
    made.log.append_sample(sample("c", "n2", 1.0, slot=1))
    failed(made, "n1", 0)
    again = measurement(repeat=1)

    assert again.attempt() == 0 and again.answer() is None
    assert again._candidates() == ["n1", "n2", "n3"]
    assert again.slot.key != measurement().slot.key
    assert measurement(slot=3, repeat=1, purpose=Purpose.VALIDATE).slot.key == "run/c/validate/3"


def test_three_attempts_are_enough(made):
    """Then the slot says on which node the last one failed, and why."""
    for attempt, node in enumerate(NODES):
        assert measurement().exhausted() is None
        failed(made, node, attempt)

    assert "3 attempts failed; the last on n3: it broke" in measurement().exhausted()
    assert measurement(failed=3).exhausted() is None, "a later ask has them anew"
    assert measurement(failed=3).attempt() == 3, "but starts no job that was started"


def test_the_answer_of_a_slot_is_its_sample_or_its_configs_own_failure(made):
    """A node's failure is none."""
    failed(made, "n1", 0)
    assert measurement().answer() is None

    failed(made, "n2", 1, blame=Blame.CONFIG)
    assert measurement().answer().node == "n2"
