"""Jobs on local nodes: started once, ended whole, never lost silently. Real processes, real signals."""

import dataclasses
import json
import os
import signal
import time
from pathlib import Path

import pytest
from nodes.jobs import WORKLOAD, finish, is_running, spec, supervisor, until, verbs

from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.local import LocalNode
from albacore.sample import Blame, Failure, Sample

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("clean_node")]


def test_a_job_that_goes_well_is_a_sample(node: LocalNode):
    """Figures, unit, telemetry, times and the folder's digest all arrive; every verb ran once, `stop` last."""
    sample = finish(node, spec("well"))

    assert isinstance(sample, Sample)
    assert sample.metrics["score"].unit == "points"
    assert sample.benchmark_digest == WORKLOAD.digest
    assert {"cpu_times.user.p50", "cpu_stats.ctx_switches.p25", "virtual_memory.available.p75"} <= set(sample.telemetry)
    assert 0 < sample.duration_s < 10
    assert verbs(node, "well") == ["start", "run", "stop"]
    assert job.outcome(node, "well").leftovers == ()


def test_the_same_config_on_the_same_node_gives_the_same_figure(node: LocalNode):
    """Noop is deterministic: tests of everything else can count on it."""
    first, second = finish(node, spec("same-1")), finish(node, spec("same-2"))

    assert isinstance(first, Sample) and isinstance(second, Sample)
    assert first.metrics == second.metrics


def test_starting_twice_is_one_job(node: LocalNode):
    """A second start of the same id finds the first, also after its end."""
    one = spec("twice")
    job.start(node, one)
    job.start(node, one)
    job.wait(node, "twice", within_s=20)

    assert job.start(node, one).state == "done"
    assert verbs(node, "twice") == ["start", "run", "stop"]


def test_another_controller_finds_the_job_by_its_id(node: LocalNode):
    """Nothing about a job lives in the process that started it."""
    one = spec("handed-over", seconds=0.3)
    pid = os.fork()
    if pid == 0:
        job.start(node, one)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)

    assert job.poll(node, "handed-over").state == "running"
    assert job.wait(node, "handed-over", within_s=20).state == "done"
    assert job.outcome(node, "handed-over").failed_step is None


def test_a_job_nobody_started_is_unknown(node: LocalNode):
    """Unknown is not lost: nothing was begun."""
    assert job.poll(node, "never").state == "unknown"
    assert job.kill(node, "never").state == "unknown"


def test_a_job_that_never_got_a_supervisor_is_lost(node: LocalNode):
    """An agent that died between the lock and the fork does not leave a job starting for ever."""
    node.put("jobs/half/spec.json", spec("half").to_json())
    assert job.poll(node, "half").state == "starting"
    os.utime(node.directory / "jobs/half/spec.json", (1, 1))

    assert job.poll(node, "half") == job.Status(state="lost", detail="never started")
    assert job.kill(node, "half").state == "done"


def test_a_job_of_another_boot_is_lost(node: LocalNode):
    """A pid from before a reboot names somebody else."""
    node.put("jobs/old/proc.json", json.dumps({"pid": os.getpid(), "born": "1", "boot": "another"}).encode())

    assert job.poll(node, "old") == job.Status(state="lost", detail="rebooted")
    job.forget(node, "old")
    assert job.poll(node, "old").state == "unknown"


@pytest.mark.parametrize(
    ("failure", "blame", "words"),
    [
        ("crash", Blame.CONFIG, "the server died under load"),
        ("no-metric", Blame.LOAD, "expected a finite 'value'"),
        ("node", Blame.NODE, "start ended with code 30"),
    ],
)
def test_exit_codes_say_who_is_to_blame(node: LocalNode, failure: str, blame: Blame, words: str):
    """As `test_blame.py` says of every code; here real verbs end with them, and `stop` runs whatever happened."""
    failed = finish(node, spec(f"blame-{failure}", fail_on={"n1": failure}))

    assert isinstance(failed, Failure)
    assert failed.blame is blame
    assert words in failed.message
    assert verbs(node, f"blame-{failure}")[-1] == "stop"


def test_a_refused_config_brings_the_servers_last_words(node: LocalNode):
    """Failure.log has standard error and server.log."""
    failed = finish(node, spec("words", config={"mode": "broken"}))

    assert isinstance(failed, Failure)
    assert "noop: the server refuses this config" in failed.log
    assert "FATAL: refused" in failed.log


@pytest.mark.parametrize("verb", ["start", "run"])
def test_a_verb_over_its_time_is_ended_with_its_whole_group(node: LocalNode, verb: str):
    """Also when it and its child ignore TERM; the config is to blame."""
    failed = finish(node, spec(f"hang-{verb}", limits={verb: 0.5}, fail_on={"*": f"hang-{verb}"}))

    assert isinstance(failed, Failure)
    assert failed.blame is Blame.CONFIG
    assert f"{verb} was not done after" in failed.message
    assert verbs(node, f"hang-{verb}")[-1] == "stop"


def test_time_in_which_the_machine_stood_still_is_not_the_configs(node: LocalNode):
    """A paused machine, as in a live migration: the supervisor wakes up first and finds the time long over."""
    one = spec("paused", seconds=1.0, limits={"run": 3.0})
    job.start(node, one)
    until(lambda: is_running(node, "paused", "run"))
    children = json.loads(node.get("jobs/paused/children.json") or b"[]")
    everybody = [supervisor(node, "paused"), *(child["pid"] for child in children if child["verb"] == "run")]
    for pid in everybody:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(9.0)  # above AWAY_S, and above the limit
    for pid in everybody:
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.3)

    found = finish(node, one)

    assert isinstance(found, Sample), found


def test_a_killed_job_ends_now_and_runs_stop(node: LocalNode):
    """Killing is no judgement of the config."""
    one = spec("killed", seconds=60.0)
    job.start(node, one)
    until(lambda: is_running(node, "killed", "run"))

    assert job.kill(node, "killed").state == "done"
    outcome = job.outcome(node, "killed")
    assert outcome.was_killed and verbs(node, "killed") == ["start", "run", "stop"]
    failed = sample_or_failure(outcome, WORKLOAD, Placement.on(node, config_id="c", started_at=0.0))
    assert isinstance(failed, Failure) and failed.blame is Blame.PLATFORM


def test_a_dead_supervisor_is_lost_and_kill_cleans_up(node: LocalNode):
    """Orphans that ignore TERM are ended, `stop` runs, and the result says whose fault it was."""
    job.start(node, spec("orphans", fail_on={"n1": "hang-run"}))
    until(lambda: is_running(node, "orphans", "run"))
    os.kill(supervisor(node, "orphans"), signal.SIGKILL)
    until(lambda: job.poll(node, "orphans").state == "lost")

    assert job.poll(node, "orphans").detail == "supervisor died"
    assert job.kill(node, "orphans").state == "done"
    failed = sample_or_failure(
        job.outcome(node, "orphans"), WORKLOAD, Placement.on(node, config_id="c", started_at=0.0)
    )
    assert isinstance(failed, Failure) and failed.blame is Blame.NODE
    assert verbs(node, "orphans")[-1] == "stop"


def test_a_result_is_there_whole_or_not_at_all(node: LocalNode):
    """Whoever looks at any moment sees no half-written result."""
    job.start(node, spec("atomic"))
    seen = []
    until(lambda: seen.append(node.get("jobs/atomic/result.json")) or seen[-1])

    assert [json.loads(text)["steps"][-1]["verb"] for text in seen if text] == ["stop"]
    assert not list((node.directory / "jobs/atomic").glob(".*"))


def test_another_folder_on_the_node_is_nobodys_sample(node: LocalNode):
    """What was edited on the node after the campaign opened is a PlatformFailure, however good its figures."""
    path = "benchmarks/noop/knobs.toml"
    content = node.get(path) or b""
    node.put(path, content + b"\n# edited")
    failed = finish(node, spec("edited"))
    node.put(path, content)

    assert isinstance(failed, Failure) and failed.blame is Blame.PLATFORM
    assert "expected benchmark folder" in failed.message


def test_nothing_of_the_controllers_environment_reaches_a_verb(node: LocalNode, monkeypatch: pytest.MonkeyPatch):
    """Airflow's secrets stay at the controller; the contract's variables are all there."""
    monkeypatch.setenv("AIRFLOW__CORE__FERNET_KEY", "secret")
    path = "benchmarks/noop/workloads/sleep/run"
    content = node.get(path) or b""
    node.put(path, b"#!/bin/sh\nenv\n", executable=True)
    finish(node, spec("environment"))
    node.put(path, content, executable=True)

    entries = dict(line.split("=", 1) for line in (node.get("jobs/environment/run.out") or b"").decode().splitlines())
    assert not [name for name in entries if "AIRFLOW" in name]
    assert entries["ALBACORE_NODE"] == "n1"
    assert (entries["ALBACORE_HOST"], entries["ALBACORE_PORT"]) == ("127.0.0.1", str(node.port))
    assert entries["ALBACORE_UID"] == ("" if node.uid is None else str(node.uid))
    assert Path(entries["ALBACORE_JOB_DIR"]).is_dir() and Path(entries["TMPDIR"]).is_dir()


def test_a_canary_sings_before_the_first_verb_and_one_out_of_bounds_lets_nothing_begin(node: LocalNode):
    """A sick machine is found before the sample and not in it; the evidence comes back with the failure."""
    well = finish(node, dataclasses.replace(spec("sings"), canary={}))
    bound = {"cpu_ms": {"own": 0.0001, "most": 0.0003}}

    sick = finish(node, dataclasses.replace(spec("sick"), canary=bound))

    assert isinstance(well, Sample) and set(well.notes["canary"]) == {"scheduler_ms", "cpu_ms", "memory_ms", "disk_ms"}
    assert isinstance(sick, Failure) and sick.blame is Blame.NODE
    assert "at most 0.0003 expected (0.0001 ms before)" in sick.message
    assert verbs(node, "sick") == [] and job.outcome(node, "sick").canary["rounds"] == 3
