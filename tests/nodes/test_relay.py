"""Laws of the relay: a system on one node, its load on another, both behind an sshd of their own."""

import contextlib
import dataclasses
import json
import time

import pytest
from faults import machines
from nodes import places

from albacore.benchmark import Benchmark
from albacore.clouds.static import StaticCloud
from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.preparation import prepare
from albacore.nodes.relay import Relay
from albacore.sample import Blame, Failure, Sample

pytestmark = pytest.mark.node
BENCHMARK, WORKLOAD = places.noop()


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    """Two machines, prepared; the second one loads the first."""
    with machines.fleet(2) as (system, load):
        file = tmp_path_factory.mktemp("lab") / "lab.toml"
        file.write_text(f'{system.inventory()}load = "w2"\n{load.inventory()}roles = ["load"]\n')
        cloud = StaticCloud(path=file, secret=lambda _: "")
        assert cloud.names(1) == ["w1"]
        (node,) = cloud.provision(["w1"])
        address = cloud.address(node)
        other = cloud.find("w2", address["load"])
        for each in (node, other):
            prepare(each, BENCHMARK, WORKLOAD)
        yield Relay(system=node, load=other, workload=WORKLOAD, target=(address["listen"], address["port"]))


def take(relay, name, *, strike=lambda: None, **params):
    """Take a sample as whoever watches it does: look, take the next step, look again."""
    spec = JobSpec.sample(WORKLOAD, name, {}, params={"seconds": 0.2, **params})
    job.start(relay.system, dataclasses.replace(spec, waits_for_load=True))
    ends_at = time.monotonic() + 30
    while relay.system.get(f"jobs/{name}/result.json") is None:
        assert time.monotonic() < ends_at, "it never ended"
        relay.advance(name)
        if relay.load.get(f"jobs/{name}/spec.json"):
            strike()
            relay.renew(name)
        time.sleep(0.05)
    outcome = job.outcome(relay.system, name)
    relay.end(name)
    return sample_or_failure(outcome, WORKLOAD, Placement.on(relay.system, config_id="c", started_at=0.0)), outcome


def verbs(node, name):
    return [child["verb"] for child in json.loads(node.get(f"jobs/{name}/children.json") or b"[]")]


def test_the_load_runs_on_the_other_node_and_its_figures_are_the_samples(relay):
    """Start and stop happen at the system, run at the load, over the network; telemetry is the system's."""
    seen = []
    found, outcome = take(relay, "apart", strike=lambda: seen.append(verbs(relay.load, "apart")))

    assert isinstance(found, Sample), found
    assert verbs(relay.system, "apart") == ["start", "stop"]
    assert ["run"] in seen and all(set(v) <= {"run"} for v in seen)
    assert [step.verb for step in outcome.steps] == ["start", "run", "stop"]
    assert found.telemetry and relay.target[0] == relay.system.endpoint.address
    assert job.poll(relay.load, "apart").state == "unknown", "nothing of it is left on the load node"


@pytest.mark.parametrize(("failure", "blame"), [("run", Blame.CONFIG), ("load", Blame.LOAD)])
def test_exit_codes_of_the_load_blame_as_they_would_beside_the_system(relay, failure, blame):
    """Where the load ran makes no difference to who is to blame."""
    found, _ = take(relay, f"fails-{failure}", fail_on={"*": failure})

    assert isinstance(found, Failure) and found.blame is blame


def test_a_load_that_is_lost_blames_neither_config_nor_system(relay):
    """Its supervisor is killed in mid-load: the sample is a LoadFailure, which is measured again."""

    def strike():
        who = json.loads(relay.load.get("jobs/lost/proc.json") or b"{}")
        if who and relay.load.get("jobs/lost/result.json") is None:
            with contextlib.suppress(Exception):
                relay.load.run(["kill", "-9", str(who["pid"])])

    found, _ = take(relay, "lost", strike=strike, seconds=5.0)

    assert isinstance(found, Failure) and found.blame is Blame.LOAD
    assert "lost the job" in found.message


def test_redis_answers_a_load_that_comes_over_the_network(relay):
    """A packaged Redis on one machine under YCSB from another; CPU and memory are what the server itself tells."""
    benchmark = Benchmark.read(places.BENCHMARKS, "redis")
    workload = benchmark.workload("ycsb_c")
    small = {"records": 2000, "rate": 300.0, "connections": 4, "warmup_s": 0.2, "measure_s": 1.0}
    both = dataclasses.replace(relay, workload=workload)
    for each in (relay.system, relay.load):
        prepare(each, benchmark, workload, params=small)
    spec = JobSpec.sample(workload, "redis", {"maxmemory-samples": "5"}, params=small)
    job.start(relay.system, dataclasses.replace(spec, waits_for_load=True))

    ends_at = time.monotonic() + 60
    while relay.system.get("jobs/redis/result.json") is None and time.monotonic() < ends_at:
        both.advance("redis")
        time.sleep(0.1)
    outcome = job.outcome(relay.system, "redis")
    both.end("redis")

    found = sample_or_failure(outcome, workload, Placement.on(relay.system, config_id="c", started_at=0.0))
    assert isinstance(found, Sample), found
    assert 0 < found.value("p95_ms") < 1000 and found.value("rss_bytes") > 1e6
