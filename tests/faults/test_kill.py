"""`kill -9` of everything that can be killed, in the middle of a sample: one sample in the store, not two, not none."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import law
import pytest
from clone import Clone, Followed, running, wait_until
from small_campaigns import noop

from albacore.sample import Sample
from albacore.trial import Ask, Log

pytestmark = pytest.mark.faults

ONE_NODE = {
    "limits": "{ samples = 2, hours = 1.0 }",
    "policy": "{ rungs = [1] }",
    "nodes": "{ tuning = 1, validation = 0 }",
    "lanes": "{ count = 1 }",
}
CAMPAIGNS = {
    "slow": noop(**ONE_NODE, params="{ seconds = 20.0 }"),
    # Longer than a benchmark task waits in its worker: it defers.
    "long": noop(**ONE_NODE, params="{ seconds = 45.0 }"),
    # No initial design: SMAC is asked at once, which takes a child process some seconds.
    "asking": noop(**ONE_NODE, optimizer='{ name = "smac", initial = 0 }'),
    # Two lanes for one node: one waits for its lease, longer than in its worker.
    "queue": noop(
        **{
            **ONE_NODE,
            "nodes": "{ tuning = 1, validation = 0, slots = 2 }",
            "lanes": "{ count = 2 }",
        },
        params="{ seconds = 45.0 }",
    ),
}
# Airflow's default, 300 s, is the time after which a task whose supervisor was killed is found: too long to wait for.
OPTIONS = {"scheduler.task_instance_heartbeat_timeout": "30"}
END_S = 420


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Iterator[Clone]:
    with running(tmp_path_factory.mktemp("faults"), CAMPAIGNS, OPTIONS) as made:
        yield made


def running_task(followed: Followed, task_id: str, state: str = "running") -> str | None:
    """Return the id of the task instance of the first iteration when it is in a state."""
    tasks = followed.tasks(f"{followed.id}.l0.0") if followed.iterations() else []
    return next((t["id"] for t in tasks if t["task_id"] == task_id and t["state"] == state), None)


def measuring(followed: Followed) -> Path | None:
    """Return the directory of the job that takes the first sample of the tuning, while it measures."""
    for job in followed.clone.nodes_root.glob(f"fleet/*/jobs/{followed.id}-*-tune-*"):
        try:
            verbs = [child["verb"] for child in json.loads((job / "children.json").read_text())]
        except (OSError, ValueError):
            continue
        if verbs[-1] == "run" and not (job / "result.json").exists():
            return job
    return None


def in_mid_sample(clone: Clone, campaign: str) -> Followed:
    """Start a campaign and return it when the first sample of its tuning is being taken."""
    followed = clone.start(campaign)
    wait_until(lambda: measuring(followed), 240, "a sample is being taken", pause_s=0.2)
    return followed


def kill(*pids: int) -> float:
    """Kill processes as the kernel does when memory runs out; return when."""
    assert pids and all(pids), "there is no such process"
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return time.time()


def assert_taken_once(followed: Followed, killed_at: float) -> Log:
    """Expect the run to end well, with the very sample that was being taken when something was killed."""
    log = law.check(followed.wait(END_S))
    first = log.facts(Sample)[1]  # the default's comes first
    assert first.started_at < killed_at < first.started_at + first.duration_s
    assert len(log.facts(Sample)) == log_limit(followed)
    return log


def log_limit(followed: Followed) -> int:
    """Return how many samples the campaign asks for."""
    return followed.clone.store().run(followed.id).effective["limits"]["samples"]


def of_task(clone: Clone, task: str, *, is_supervisor: bool) -> Callable[[], int | None]:
    """Return what looks for the process of a task: the one that runs it, or the executor's worker over it."""
    title = f"LocalExecutor: {task[:30]}" if is_supervisor else f"airflow worker -- {task}"
    return lambda: next(iter(clone.processes(title)), None)


@pytest.mark.parametrize("is_supervisor", [False, True], ids=["task", "its supervisor"])
def test_a_killed_benchmark_task_is_retried_and_takes_up_the_job_that_runs(clone, is_supervisor):
    """The retry finds the job by its handle: it was started once, and gave one sample."""
    followed = in_mid_sample(clone, "slow")
    task = wait_until(lambda: running_task(followed, "benchmark"), 10, "the task is known")

    killed_at = kill(wait_until(of_task(clone, task, is_supervisor=is_supervisor), 5, "its process"))

    assert_taken_once(followed, killed_at)


def test_a_killed_scheduler_is_started_again_and_no_sample_is_lost(clone):
    """The supervisor restarts it; the sample that was being taken counts, once."""
    followed = in_mid_sample(clone, "slow")
    scheduler = clone.component("scheduler")

    killed_at = kill(scheduler)

    assert_taken_once(followed, killed_at)
    assert clone.component("scheduler") not in (0, scheduler)


def test_a_killed_triggerer_is_started_again_and_waits_for_the_same_job(clone):
    """A result that a trigger waits for is seen by the triggerer's successor."""
    followed = in_mid_sample(clone, "long")
    wait_until(lambda: running_task(followed, "benchmark", "deferred"), 60, "the benchmark has deferred")

    killed_at = kill(clone.component("triggerer"))

    assert_taken_once(followed, killed_at)


def test_a_triggerer_killed_while_a_slot_waits_for_its_node_loses_neither_slot_nor_node(clone):
    """Two lanes share one node; whoever waits for the lease gets it from the triggerer's successor."""
    followed = in_mid_sample(clone, "queue")
    lanes = [f"{followed.id}.l{lane}.0" for lane in (0, 1)]
    waiting = wait_until(
        lambda: [t for n in lanes for t in followed.tasks(n) if t["state"] == "deferred"][:2], 120, "both defer"
    )
    assert {t["task_id"] for t in waiting} == {"benchmark"}

    kill(clone.component("triggerer"))

    log = law.check(followed.wait(END_S))
    # Both lanes may have asked when the limit was reached: every ask gave its sample, and the default one.
    assert len(log.facts(Sample)) == len(log.facts(Ask)) + 1 >= log_limit(followed)


def test_killed_api_server_and_dag_processor_are_started_again_and_no_sample_is_lost(clone):
    """Tasks wait for the API's successor."""
    followed = in_mid_sample(clone, "slow")

    killed_at = kill(clone.component("api-server"), clone.component("dag-processor"))

    assert_taken_once(followed, killed_at)


def test_a_killed_suggest_asks_once(clone):
    """The retry of a suggest that was killed hands on one ask, and gives back the host's slot."""
    followed = clone.start("asking")
    task = wait_until(lambda: running_task(followed, "suggest"), 180, "suggest runs", pause_s=0.1)

    kill(wait_until(of_task(clone, task, is_supervisor=False), 5, "its process", pause_s=0.05))

    log = law.check(followed.wait(END_S))
    assert len(log.facts(Sample)) == log_limit(followed)
    tries = {t["task_id"]: t["try_number"] for t in followed.tasks(f"{followed.id}.l0.0")}
    assert tries["suggest"] == 2
