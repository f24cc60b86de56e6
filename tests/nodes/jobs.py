"""Quick jobs of `noop` on a local node, and what is seen of them from outside."""

import json
import time
from collections.abc import Callable

from nodes import places

from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.local import LocalNode
from albacore.sample import Failure, Sample

WORKLOAD = places.noop()[1]


def spec(
    job_id: str, *, config: dict[str, str] | None = None, epoch: int = 0, limits: dict | None = None, **params
) -> JobSpec:
    """Return a quick sample's job; `limits` are other time limits."""
    return JobSpec(
        job_id=job_id,
        system="noop",
        workload="sleep",
        verbs=("start", "run"),
        config=config or {},
        params=WORKLOAD.params_with({"seconds": 0.0, **params}),
        timeouts_s={**WORKLOAD.timeouts_s, **(limits or {})},
        epoch=epoch,
        term_grace_s=0.2,
    )


def finish(node: LocalNode, spec: JobSpec) -> Sample | Failure:
    """Run a job to its end and judge it."""
    job.start(node, spec)
    job.wait(node, spec.job_id, within_s=20)
    placement = Placement.on(node, config_id="c", started_at=1.0)
    return sample_or_failure(job.outcome(node, spec.job_id), WORKLOAD, placement)


def until(claim: Callable[[], object], within_s: float = 10) -> None:
    """Wait until something real has happened."""
    ends_at = time.monotonic() + within_s
    while not claim():
        assert time.monotonic() < ends_at, "it never happened"
        time.sleep(0.01)


def supervisor(node: LocalNode, job_id: str) -> int:
    """Return the pid of a job's supervisor."""
    return json.loads(node.get(f"jobs/{job_id}/proc.json") or b"{}")["pid"]


def verbs(node: LocalNode, job_id: str) -> list[str]:
    """Return the verbs that were started, in their order."""
    return [child["verb"] for child in json.loads(node.get(f"jobs/{job_id}/children.json") or b"[]")]


def is_running(node: LocalNode, job_id: str, verb: str) -> bool:
    """Say whether a verb of a job runs."""
    return verbs(node, job_id)[-1:] == [verb]
