"""Make a node ready for a workload: the agent, the benchmark folder, the software and the golden data.

Every step is idempotent and fast when nothing is to do; a controller that died in the middle is simply followed by
another call.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from albacore.benchmark import Benchmark, Workload
from albacore.errors import NodeError, PlatformError
from albacore.nodes import Node, job
from albacore.nodes.blame import find
from albacore.nodes.job import JobOutcome
from albacore.nodes.job_spec import NOTHING, JobSpec
from albacore.sample import ERROR_OF_BLAME

Progress = Callable[[str], None]
HERE = Path(__file__).parent
AGENT_FILES = (
    *(HERE / f"{name}.py" for name in ("agent", "supervision", "process", "leasing", "facts", "canary", "job_files")),
    *(HERE.parent / f"{name}.py" for name in ("telemetry", "folder")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a node has after its preparation.

    Attributes:
        versions: Software -> version, as `install` wrote it.
        digest: Digest of the benchmark folder on the node; equal to the benchmark's own.
        is_folder_new: Whether the folder had to be copied.
    """

    node: str
    versions: Mapping[str, str]
    digest: str
    is_folder_new: bool
    wall_s: float


def prepare(
    node: Node,
    benchmark: Benchmark,
    workload: Workload,
    *,
    params: Mapping[str, Any] = NOTHING,
    epoch: int = 0,
    progress: Progress = lambda line: None,
) -> Prepared:
    """Copy agent and folder when they differ, then install and load, and return what is there.

    Args:
        node: Made if it is a local one that does not exist yet.
        benchmark: What the node has to have; its folder is read again when it is copied.
        workload: One of the benchmark's.
        params: The campaign's overrides of the workload's parameters: `load` may depend on them.
        epoch: Number of the lease that the caller holds.
        progress: Called with one line per thing done.

    Raises:
        NodeError: When the node cannot be reached, a verb fails or runs over its time, or its ports are in use.
        PlatformError: When a verb has a bug, or the folder on the node is not the benchmark's.
    """
    begun = time.monotonic()
    put_agent(node)
    is_new = put_folder(node, benchmark)
    progress(f"{node.name}: {benchmark.system} {'copied' if is_new else 'is there already'}")
    free_ports(node)
    outcome = _install_and_load(node, workload, params, epoch, progress)
    return Prepared(
        node=node.name,
        versions=outcome.versions if isinstance(outcome.versions, Mapping) else {},
        digest=outcome.digest,
        is_folder_new=is_new,
        wall_s=time.monotonic() - begun,
    )


def put_agent(node: Node) -> None:
    """Copy the agent's files where they differ."""
    for path in AGENT_FILES:
        content = path.read_bytes()
        if node.get(f"agent/{path.name}") != content:
            node.put(f"agent/{path.name}", content)


def put_folder(node: Node, benchmark: Benchmark) -> bool:
    """Copy the benchmark folder unless the node has it, and say whether it was copied.

    Raises:
        PlatformError: When the node's copy still differs afterwards.
    """
    if _unpack(node, benchmark.system, b"") == benchmark.digest:
        return False
    digest = _unpack(node, benchmark.system, benchmark.archive())
    if digest != benchmark.digest:
        raise PlatformError(
            f"node {node.name}: expected folder {benchmark.system} {benchmark.digest[:12]}, got {digest[:12]}. "
            "The folder changed while it was copied: read it again.",
            node=node.name,
        )
    return True


def _unpack(node: Node, system: str, packed: bytes) -> str:
    """Have the node replace a folder by an archive (none: by nothing), and return the digest of what it has."""
    return job.ask(node, "unpack", system, stdin=packed, timeout_s=60)["digest"]


def free_ports(node: Node) -> None:
    """End what the node itself left running on its ports, and make sure that nobody else is.

    Raises:
        NodeError: When another program listens on one of the ports.
    """
    if not job.ask(node, "ports")["busy"]:
        return
    job.sweep(node)
    if busy := job.ask(node, "ports")["busy"]:
        raise NodeError(
            f"node {node.name}: expected its ports to be free, another program uses {', '.join(map(str, busy))}. "
            "End that program, or choose other ports for the nodes.",
            node=node.name,
            ports=busy,
        )


def probe_s(node: Node) -> float | None:
    """Return the seconds of a small fixed program on a node (`probe.py`); None when it does not run there."""
    result = node.run([node.python, "-E", "-s", "-c", (HERE / "probe.py").read_text()])
    try:
        return float(result.stdout)
    except ValueError:
        return None


def canary(node: Node) -> dict[str, float]:
    """Return what the canary sings on a node now (`canary.py`): figure -> milliseconds; {} when it does not run there.

    Raises:
        NodeError: When the node cannot be reached.
    """
    program = (HERE / "canary.py").read_text() + "\nimport json\nprint(json.dumps(sing('.')))\n"
    result = node.run([node.python, "-E", "-s", "-c", program])
    try:
        return json.loads(result.stdout)
    except ValueError:
        return {}


def _install_and_load(
    node: Node, workload: Workload, params: Mapping[str, Any], epoch: int, progress: Progress
) -> JobOutcome:
    """Run the detached job, or wait for the one that an earlier caller left behind."""
    spec = JobSpec.preparation(workload, _job_id(workload, params), params=params, epoch=epoch)
    if job.poll(node, spec.job_id).is_over:
        job.forget(node, spec.job_id)
    job.start(node, spec)
    status = job.wait(node, spec.job_id, within_s=spec.limit_s)
    if status.state != "done":
        job.kill(node, spec.job_id)
    outcome = job.outcome(node, spec.job_id)
    for step in outcome.steps:
        progress(f"{node.name}: {step.verb} of {workload.id} took {step.wall_s:.1f} s, code {step.rc}")
    if finding := find(outcome, workload):
        kind = ERROR_OF_BLAME[finding.blame]
        raise kind(f"node {node.name}: {finding.message}", node=node.name, log=finding.log)
    return outcome


def _job_id(workload: Workload, params: Mapping[str, Any]) -> str:
    """Return an id that is the same for the same preparation, so that a second caller finds the first one's job."""
    inputs = json.dumps([workload.id, workload.digest, dict(params)], sort_keys=True, default=str)
    return f"prepare-{hashlib.sha256(inputs.encode()).hexdigest()[:16]}"
