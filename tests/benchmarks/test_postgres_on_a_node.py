"""PostgreSQL through the node agent: what a config does to the server is its own failure, and the node is clean."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from clone import wait_until
from nodes import places

from albacore.benchmark import Benchmark
from albacore.nodes import job, process
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.local import LocalNode
from albacore.nodes.preparation import prepare
from albacore.sample import Blame, Failure, Sample

pytestmark = pytest.mark.node
BENCHMARK = Benchmark.read(places.BENCHMARKS, "postgres")
WORKLOAD = BENCHMARK.workload("reporting")
SMALL = {"scale": 0.05, "warmup_s": 0.0, "measure_s": 0.0, "start_timeout_s": 5.0}


@pytest.fixture(scope="module")
def node() -> Iterator[LocalNode]:
    """One node with a small shop; as root its server runs as a uid without a name."""
    with places.root() as place:
        (made,) = places.nodes(place, "n1")
        prepare(made, BENCHMARK, WORKLOAD, params=SMALL)
        yield made


@pytest.fixture(autouse=True)
def clean_node(node: LocalNode) -> Iterator[None]:
    """After every test no process of the node is left, neither by its environment nor by its working directory.

    One that is just ending has lost its environment, but works there for some milliseconds more.
    """
    yield
    assert process.belonging(f"ALBACORE_NODE_DIR={node.directory}", []) == set()
    wait_until(lambda: not servers(node), 2, "no process works in the node's directory", pause_s=0.05)


def servers(node: LocalNode) -> list[int]:
    """Return the pids of the processes that work in the node's directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "cwd").startswith(f"{node.directory}/"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def begin(
    node: LocalNode, name: str, config: dict[str, str], limits: dict[str, float] | None = None, **params
) -> JobSpec:
    """Start a sample's job."""
    spec = JobSpec.sample(WORKLOAD, name, config, params={**SMALL, **params})
    spec = replace(spec, timeouts_s={**spec.timeouts_s, **(limits or {})}, term_grace_s=0.5)
    job.start(node, spec)
    return spec


def finish(node: LocalNode, spec: JobSpec) -> Sample | Failure:
    """Wait for a job and judge it."""
    assert job.wait(node, spec.job_id, within_s=spec.limit_s).state == "done"
    placement = Placement.on(node, config_id="c", started_at=0.0)
    return sample_or_failure(job.outcome(node, spec.job_id), WORKLOAD, placement)


def test_a_config_is_measured(node):
    """Start, reports, stop; the metric of workload.toml with its unit, guest metrics, and a plan hash per report."""
    found = finish(node, begin(node, "good", {"random_page_cost": "1.1", "work_mem": "16MB"}))

    assert isinstance(found, Sample), found
    assert found.metrics["report_ms"].unit == "ms"
    assert any(key.startswith("cpu_times.user") for key in found.telemetry)
    assert found.notes


@pytest.mark.parametrize(
    ("name", "config", "words"),
    [
        ("refused", {"shared_buffers": "64kB"}, "shared_buffers"),
        ("unknown", {"no_such_knob": "1"}, "no_such_knob"),
        ("memory", {"shared_buffers": "900GB"}, "shared memory|memory"),
    ],
)
def test_a_config_that_the_server_refuses_is_its_own_failure(node, name, config, words):
    """The Failure has the server's last lines."""
    found = finish(node, begin(node, name, config))

    assert isinstance(found, Failure)
    assert found.blame is Blame.CONFIG
    assert any(word in found.log for word in words.split("|")), found.log


def test_a_server_that_hangs_while_starting_is_the_configs_failure(node):
    """`pg_ctl` gives up, the server goes on starting: it is ended all the same."""
    found = finish(node, begin(node, "hang", {"max_prepared_transactions": "200000", "max_connections": "100000"}))

    assert isinstance(found, Failure)
    assert found.blame is Blame.CONFIG


def test_a_server_that_dies_under_load_is_the_configs_failure(node):
    """Kill -9 of the postmaster in mid-sample."""
    spec = begin(node, "dies", {}, measure_s=20.0)
    deadline = time.monotonic() + 20
    pid_file = node.directory / "data" / "postmaster.pid"
    while not (pid_file.exists() and (node.directory / "jobs" / spec.job_id / "applied.json").exists()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)

    found = finish(node, spec)

    assert isinstance(found, Failure)
    assert found.blame is Blame.CONFIG


def test_a_load_that_never_finishes_is_the_configs_failure(node):
    """The agent's time limit ends the verb with its whole group, and `stop` the server."""
    found = finish(node, begin(node, "endless", {}, {"run": 1.0}, measure_s=600.0, run_timeout_s=900.0))

    assert isinstance(found, Failure)
    assert found.blame is Blame.CONFIG
    assert "run was not done after" in found.message
