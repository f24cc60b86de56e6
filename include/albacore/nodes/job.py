"""Jobs: detached work on a node, driven through its agent, and what a finished one amounts to.

A job is named by its id. Whoever knows the id can ask for its state, also after the controller that started it is gone;
starting an id twice starts nothing. The agent (`albacore/nodes/agent.py`) has been put on the node by
`albacore.nodes.preparation`.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from albacore.errors import NodeError, PlatformError
from albacore.nodes import Node
from albacore.nodes.job_spec import JobSpec

State = Literal["starting", "running", "done", "lost", "unknown"]
AGENT = "agent/agent.py"
ASK_EVERY_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a job is; `detail` says which verb runs, or why a job is lost."""

    state: State
    detail: str = ""

    @property
    def is_over(self) -> bool:
        """Whether waiting longer changes nothing."""
        return self.state not in ("starting", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How one verb ended; a negative return code is the signal that ended it."""

    verb: str
    rc: int
    wall_s: float
    timed_out: bool
    stderr_tail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """Everything a finished or lost job left on its node; nothing in it is judged yet.

    Attributes:
        status: "done" when `result.json` was there, else "lost" or "unknown".
        lost: Why the supervisor did not see the job's end; "" when it did.
        was_killed: Whether somebody ended the job; `why_killed` says why when it ended itself.
        digest: Digest of the benchmark folder as it was on the node when the job started.
        leftovers: Processes that outlived `stop` and were killed; a benchmark that keeps its contract has none.
        metrics: `metrics.json` as it was written, unchecked; None when it is missing or is not JSON. So are `applied`,
            `notes` and `versions`.
        telemetry: Raw readings in their order.
        canary: What the canary sang before the first verb (`albacore.nodes.canary`); {} when there was none.
        load_before: The node's 1, 5 and 15 minute load averages before the first verb.
    """

    job_id: str
    status: Status
    steps: tuple[Step, ...] = ()
    started_at: float = 0.0
    ended_at: float = 0.0
    lost: str = ""
    error: str = ""
    was_killed: bool = False
    why_killed: str = ""
    digest: str = ""
    load_before: tuple[float, ...] = ()
    leftovers: tuple[str, ...] = ()
    metrics: Any = None
    applied: Any = None
    notes: Any = None
    versions: Any = None
    telemetry: tuple[Mapping[str, float], ...] = ()
    server_log: str = ""
    canary: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed_step(self) -> Step | None:
        """The first verb that did not end well."""
        return next((step for step in self.steps if step.timed_out or step.rc != 0), None)


def start(node: Node, spec: JobSpec) -> Status:
    """Start a job unless its id was started before, and return where it is.

    Raises:
        NodeError: When the node cannot be reached.
        PlatformError: When the node has seen a higher epoch (`facts["epoch"]`), or the agent is not on it.
    """
    return _status(
        ask(node, "start", spec.job_id, stdin=spec.to_json(), timeout_s=spec.timeouts_s.get("stop", 30) + 60)
    )


def poll(node: Node, job_id: str) -> Status:
    """Return where a job is. A finished one costs one `get`; else the agent looks for its supervisor."""
    if _is_done(node, job_id):
        return Status(state="done")
    return _status(ask(node, "poll", job_id))


def renew(node: Node, job_id: str) -> Status:
    """Return where a job is, and begin its lease on the node anew: it ends itself when nobody does this in time."""
    return _status(ask(node, "renew", job_id))


def kill(node: Node, job_id: str, *, timeout_s: float = 120) -> Status:
    """End a job with everything it started, run `stop`, and return where it is; also cleans up after a lost one.

    A finished or unknown job is left as it is. The result of a killed job says so.

    Raises:
        NodeError: When the node cannot be reached, or the job does not end in `timeout_s`.
    """
    return _status(ask(node, "kill", job_id, timeout_s=timeout_s))


def wait(
    node: Node,
    job_id: str,
    *,
    within_s: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Status:
    """Return where a job is as soon as it is over; still "running" when `within_s` have passed.

    Looks for the result often, which is cheap, and asks the agent about the supervisor only every two seconds, which is
    not.
    """
    ends_at, pause_s, ask_at = clock() + within_s, 0.01, clock() + ASK_EVERY_S
    while not _is_done(node, job_id):
        now = clock()
        if now >= ask_at or now >= ends_at:
            if (status := poll(node, job_id)).is_over or now >= ends_at:
                return status
            ask_at = now + ASK_EVERY_S
        sleep(pause_s)
        pause_s = min(pause_s * 1.2, 0.5)
    return Status(state="done")


def _is_done(node: Node, job_id: str) -> bool:
    """Say whether a job has its result."""
    return node.get(f"jobs/{job_id}/result.json") is not None


def forget(node: Node, job_id: str) -> None:
    """Delete a finished job's directory, so that its id may be used again; one that runs is left alone."""
    ask(node, "forget", job_id)


def sweep(node: Node) -> tuple[str, ...]:
    """End every job and every system of a node, and return what was ended."""
    swept = ask(node, "sweep", timeout_s=300)
    return (*swept["ended"], *swept["leftovers"])


def outcome(node: Node, job_id: str) -> JobOutcome:
    """Read what a job left on its node. Judge it with `albacore.nodes.blame.sample_or_failure`."""
    result = _json(node, job_id, "result.json")
    if not isinstance(result, Mapping):
        status = poll(node, job_id)
        return JobOutcome(job_id=job_id, status=status, lost=status.detail or status.state)
    return JobOutcome(
        job_id=job_id,
        status=Status(state="done"),
        steps=tuple(Step(**step) for step in result["steps"]),
        started_at=result.get("started_at", 0.0),
        ended_at=result.get("ended_at", 0.0),
        lost=result.get("lost", ""),
        error=result.get("error", ""),
        was_killed=result.get("killed", False),
        why_killed=result.get("why_killed", ""),
        digest=result.get("digest", ""),
        load_before=tuple(result.get("load_before", ())),
        leftovers=tuple(result.get("leftovers", ())),
        server_log=result.get("server_log_tail", ""),
        canary=result.get("canary", {}),
        metrics=_json(node, job_id, "metrics.json"),
        applied=_json(node, job_id, "applied.json"),
        notes=_json(node, job_id, "notes.json"),
        versions=_json(node, job_id, "versions.json"),
        telemetry=_readings(node, job_id),
    )


def _json(node: Node, job_id: str, name: str) -> Any:
    """Return a JSON file of a job; None when it is missing or is not JSON."""
    content = node.get(f"jobs/{job_id}/{name}")
    try:
        return None if content is None else json.loads(content)
    except ValueError:
        return None


def _readings(node: Node, job_id: str) -> tuple[Mapping[str, float], ...]:
    """Return the telemetry of a job; a last line that was cut off is left out."""
    lines = (node.get(f"jobs/{job_id}/telemetry.jsonl") or b"").splitlines()
    return tuple(json.loads(line) for line in lines if line.endswith(b"}"))


def ask(
    node: Node, command: str, argument: str = "", *, stdin: bytes = b"", timeout_s: float = 30
) -> Mapping[str, Any]:
    """Give the node's agent one command and return its answer.

    Raises:
        NodeError: When the node cannot be reached or blames itself.
        PlatformError: When the agent refuses or is not there.
    """
    result = node.run(
        [node.python, "-E", "-s", AGENT, command, *([argument] if argument else [])], stdin=stdin, timeout_s=timeout_s
    )
    try:
        answer = json.loads(result.stdout)
    except json.JSONDecodeError:
        answer = {"error": (result.stderr or result.stdout).strip()[-500:] or f"exit code {result.returncode}"}
    if "error" in answer:
        kind = NodeError if answer.get("blame") == "node" else PlatformError
        raise kind(f"node {node.name}: {command} {argument}: {answer['error']}", node=node.name, **answer)
    return answer


def _status(answer: Mapping[str, Any]) -> Status:
    """Return the state in an agent's answer."""
    return Status(state=answer["state"], detail=answer.get("detail", ""))
