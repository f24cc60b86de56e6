"""Who may use a node, and for how long: epochs, leases, and what ends when nobody watches."""

import dataclasses
import time

import pytest
from nodes.jobs import finish, is_running, spec, until, verbs

from albacore.errors import PlatformError
from albacore.nodes import job, process
from albacore.nodes.local import LocalNode, stop_all
from albacore.sample import Blame, Failure

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("clean_node")]


def test_a_lower_epoch_is_refused_and_a_higher_one_ends_older_jobs(node: LocalNode):
    """Two controllers never use a node at once: the newer one wins, the older one hears of it."""
    job.start(node, spec("epoch-old", seconds=60.0))
    until(lambda: is_running(node, "epoch-old", "run"))

    job.start(node, spec("epoch-new", epoch=1))

    assert job.outcome(node, "epoch-old").was_killed
    assert job.wait(node, "epoch-new", within_s=20).state == "done"
    with pytest.raises(PlatformError, match="epoch 0 is over") as refused:
        job.start(node, spec("epoch-late"))
    assert refused.value.facts["epoch"] == 1
    assert job.poll(node, "epoch-late").state == "unknown"
    node.put("agent/epoch", b"0")


def test_stop_all_ends_jobs_and_says_so(node: LocalNode):
    """`make down` leaves nothing of any node behind, and touches nothing else."""
    job.start(node, spec("down", seconds=60.0))
    until(lambda: is_running(node, "down", "run"))

    assert stop_all(node.directory.parents[1]) == ("n1: down",)
    assert stop_all(node.directory.parents[1]) == ()


def test_the_load_of_a_released_node_ends_within_thirty_seconds(node: LocalNode):
    """Also one that ignores TERM and has children that do: a sweep is what release, stop and teardown call."""
    job.start(node, dataclasses.replace(spec("stubborn", fail_on={"*": "hang-run"}), term_grace_s=5.0))
    until(lambda: is_running(node, "stubborn", "run"))
    begun = time.monotonic()

    assert job.sweep(node)[0] == "stubborn"

    assert time.monotonic() - begun < 30
    assert process.belonging(f"ALBACORE_NODE_DIR={node.directory}", []) == set()


def test_a_job_that_nobody_renews_ends_itself(node: LocalNode):
    """A watcher that vanished leaves no load behind; the sample is nobody's fault but the platform's."""
    one = dataclasses.replace(spec("unwatched", seconds=60.0), lease_s=1.0)
    begun = time.monotonic()

    found = finish(node, one)

    assert time.monotonic() - begun < 15
    assert isinstance(found, Failure)
    assert (found.blame, "its lease ended" in found.message) == (Blame.PLATFORM, True)
    assert verbs(node, "unwatched") == ["start", "run", "stop"]


def test_a_job_that_is_renewed_goes_on(node: LocalNode):
    """Longer than its lease, as long as somebody watches."""
    one = dataclasses.replace(spec("watched", seconds=4.0), lease_s=2.0)
    job.start(node, one)
    while not job.renew(node, "watched").is_over:
        time.sleep(0.2)

    assert not job.outcome(node, "watched").was_killed
