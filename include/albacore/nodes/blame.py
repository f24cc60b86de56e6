"""Judge a finished job: a Sample, or a Failure that says who is to blame.

Pure: everything has been read off the node before (`albacore.nodes.job.outcome`). The rules are the table "Exit codes
say who is to blame" of docs/benchmark-contract.md.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from albacore import health
from albacore.benchmark import Workload
from albacore.nodes import Node
from albacore.nodes.job import JobOutcome, Step
from albacore.sample import BLAME_OF_EXIT_CODE, Blame, Failure, Metric, Purpose, Sample
from albacore.telemetry import summarise

CONFIGS_TIME = ("start", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What was measured where: the fields of a Sample that the node cannot know.

    Attributes:
        started_at: Seconds since the epoch, on the controller's clock.
        is_burstable: Whether the machine's speed has credits (T25): its samples are marked.
    """

    config_id: str
    node: str
    host: str
    deployment: str = ""
    purpose: Purpose = Purpose.TUNE
    repeat: int = 0
    component: str = ""
    started_at: float
    is_burstable: bool = False

    @classmethod
    def on(cls, node: Node, *, config_id: str, started_at: float, **others: Any) -> "Placement":
        """Return a placement on a node."""
        return cls(node=node.name, host=node.host, config_id=config_id, started_at=started_at, **others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Who is to blame for a job that gave no figures, why, and what its logs said last."""

    blame: Blame
    message: str
    log: str = ""


def sample_or_failure(outcome: JobOutcome, workload: Workload, placement: Placement) -> Sample | Failure:
    """Return what is recorded of a job that measured one config on one node.

    The digest of the benchmark folder is judged first: what another benchmark measured is nobody's sample.
    """
    finding = find(outcome, workload) or _find_in_metrics(outcome, workload)
    duration_s = max(0.0, outcome.ended_at - outcome.started_at)
    if finding:
        return Failure(
            config_id=placement.config_id,
            node=placement.node,
            host=placement.host,
            purpose=placement.purpose,
            repeat=placement.repeat,
            blame=finding.blame,
            message=finding.message,
            log=finding.log,
            started_at=placement.started_at,
            duration_s=duration_s,
        )
    return Sample(
        config_id=placement.config_id,
        node=placement.node,
        host=placement.host,
        deployment=placement.deployment,
        purpose=placement.purpose,
        repeat=placement.repeat,
        component=placement.component,
        metrics=_metrics(outcome.metrics),
        telemetry=summarise(outcome.telemetry),
        notes=_notes(outcome) | ({"burstable": True} if placement.is_burstable else {}),
        started_at=placement.started_at,
        duration_s=duration_s,
        benchmark_digest=outcome.digest,
    )


def find(outcome: JobOutcome, workload: Workload) -> Finding | None:
    """Return why a job failed, or None when all its verbs ended well; also for jobs that install and load."""
    where = f"job {outcome.job_id} of {workload.id}"
    if outcome.lost:
        return Finding(blame=Blame.NODE, message=f"{where}: expected a result, the node lost the job: {outcome.lost}.")
    if outcome.digest and outcome.digest != workload.digest:
        said = (
            f"expected benchmark folder {workload.digest[:12]}, the node has {outcome.digest[:12]}. Prepare it again."
        )
        return Finding(blame=Blame.PLATFORM, message=f"{where}: {said}")
    if outcome.was_killed:
        why = f": {outcome.why_killed}" if outcome.why_killed else ""
        return Finding(
            blame=Blame.PLATFORM, message=f"{where}: was ended before it was done{why}.", log=_log(outcome, None)
        )
    if outcome.error:
        blame = Blame.NODE if outcome.error.startswith("OSError") else Blame.PLATFORM
        return Finding(blame=blame, message=f"{where}: the agent failed: {outcome.error}", log=_log(outcome, None))
    if outcome.canary.get("out"):
        told = f"nothing was measured: {health.sentence(outcome.canary)}"
        return Finding(blame=Blame.NODE, message=f"{where}: {told}", log=json.dumps(outcome.canary))
    step = outcome.failed_step
    return _find_in_step(outcome, workload, where, step) if step else None


def _find_in_step(outcome: JobOutcome, workload: Workload, where: str, step: Step) -> Finding:
    """Return who is to blame for a verb that did not end well."""
    if step.timed_out:
        blame = Blame.CONFIG if step.verb in CONFIGS_TIME else Blame.NODE
        ended = f"was not done after {workload.timeouts_s[step.verb]:g} s"
    else:
        blame = BLAME_OF_EXIT_CODE.get(step.rc, Blame.PLATFORM)
        ended = f"ended by signal {-step.rc}" if step.rc < 0 else f"ended with code {step.rc}"
    last = step.stderr_tail.strip().splitlines()[-1:] or ["it said nothing"]
    return Finding(blame=blame, message=f"{where}: {step.verb} {ended}: {last[0][:300]}", log=_log(outcome, step))


def _log(outcome: JobOutcome, step: Step | None) -> str:
    """Return the last lines of a verb's standard error and of the server's log."""
    parts = [(step.verb if step else "", step.stderr_tail if step else ""), ("server.log", outcome.server_log)]
    return "\n".join(f"--- {name}\n{text.strip()}" for name, text in parts if text.strip())


def _find_in_metrics(outcome: JobOutcome, workload: Workload) -> Finding | None:
    """Return what is wrong with the figures, or None."""
    table = outcome.metrics.get("metrics") if isinstance(outcome.metrics, Mapping) else None
    if not isinstance(table, Mapping) or workload.metric not in table:
        problem = f"expected metric {workload.metric!r} in metrics.json, found {sorted(table) if table else 'none'}"
    elif wrong := [name for name, entry in table.items() if not _is_figure(entry)]:
        problem = f"expected a finite 'value' and a 'unit' for metric {wrong[0]!r}, got {table[wrong[0]]!r}"
    elif table[workload.metric]["unit"] != workload.unit:
        problem = f"expected {workload.metric!r} in {workload.unit!r}, got it in {table[workload.metric]['unit']!r}"
    else:
        return None
    message = f"job {outcome.job_id} of {workload.id}: {problem}. Correct the workload's run."
    return Finding(blame=Blame.LOAD, message=message, log=_log(outcome, outcome.steps[-1] if outcome.steps else None))


def _is_figure(entry: Any) -> bool:
    """Say whether an entry of metrics.json is a finite value with a unit."""
    value = entry.get("value") if isinstance(entry, Mapping) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return is_number and isinstance(entry.get("unit"), str)


def _metrics(table: Mapping[str, Any]) -> dict[str, Metric]:
    """Return the figures of a metrics.json that has been checked."""
    return {name: Metric(value=float(one["value"]), unit=one["unit"]) for name, one in table["metrics"].items()}


def _notes(outcome: JobOutcome) -> dict[str, Any]:
    """Return the workload's notes, and beside them what was unusual around the measurement."""
    own = outcome.notes if isinstance(outcome.notes, Mapping) else {"notes": outcome.notes} if outcome.notes else {}
    extra = {
        "load_before": list(outcome.load_before),
        "leftovers": list(outcome.leftovers),
        "canary": dict(outcome.canary.get("figures", {})),
    }
    return {**own, **{name: value for name, value in extra.items() if value}}
