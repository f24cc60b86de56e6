"""JobSpec: what a detached job has to do, as the node's agent reads it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from albacore.benchmark import Workload
from albacore.errors import PlatformError
from albacore.nodes import JOB_ID

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """What a job has to do.

    Attributes:
        job_id: Matches `JOB_ID`; the same id is the same job.
        verbs: ("install", "load") or ("start", "run"); the agent adds "stop" when "start" is among them.
        config: Knob -> text, as the system's file wants it.
        params: The workload's parameters after the campaign's overrides.
        timeouts_s: Verb -> seconds, for every verb named and "stop".
        epoch: Number of the lease that the controller holds; the node refuses one lower than it has seen.
        lease_s: How long the job goes on without being renewed (`albacore.nodes.job.renew`); None for ever.
        term_grace_s: How long a verb that is over its time may take to obey TERM before it is killed.
        canary: Figure -> `most` it may be, and what it is compared with, before the first verb (`albacore.health`); {}
            only takes the figures, None none.
        waits_for_load: Whether `run` happens on another node, and its outcome is put here (`albacore.nodes.relay`).
        target: (host, port) of a system on another node, for a job that only loads it.
    """

    job_id: str
    system: str
    workload: str
    verbs: tuple[str, ...]
    config: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    timeouts_s: Mapping[str, float]
    epoch: int = 0
    lease_s: float | None = None
    term_grace_s: float = 5.0
    canary: Mapping[str, Mapping[str, float]] | None = None
    waits_for_load: bool = False
    target: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        if not JOB_ID.fullmatch(self.job_id):
            raise PlatformError(
                f"job id: expected {JOB_ID.pattern}, got {self.job_id!r}. Build it from lower-case parts."
            )
        missing = [verb for verb in self.steps if verb not in self.timeouts_s]
        if missing:
            raise PlatformError(f"job {self.job_id}: no time limit for {', '.join(missing)}. Pass workload.timeouts_s.")

    @classmethod
    def sample(
        cls,
        workload: Workload,
        job_id: str,
        config: Mapping[str, str],
        *,
        params: Mapping[str, Any] = NOTHING,
        epoch: int = 0,
    ) -> "JobSpec":
        """Return the job that starts the system with a config, measures and stops it; `params` are overrides."""
        return cls._of(workload, job_id, ("start", "run"), config, params, epoch)

    @classmethod
    def preparation(
        cls, workload: Workload, job_id: str, *, params: Mapping[str, Any] = NOTHING, epoch: int = 0
    ) -> "JobSpec":
        """Return the job that installs the system and loads the workload's golden data; `params` are overrides."""
        return cls._of(workload, job_id, ("install", "load"), {}, params, epoch)

    @classmethod
    def _of(
        cls,
        workload: Workload,
        job_id: str,
        verbs: tuple[str, ...],
        config: Mapping[str, str],
        params: Mapping[str, Any],
        epoch: int,
    ) -> "JobSpec":
        return cls(
            job_id=job_id,
            system=workload.system,
            workload=workload.name,
            verbs=verbs,
            config=config,
            params=workload.params_with(params),
            timeouts_s=workload.timeouts_s,
            epoch=epoch,
        )

    @property
    def steps(self) -> tuple[str, ...]:
        """The verbs that run, "stop" included."""
        return (*self.verbs, "stop") if "start" in self.verbs else self.verbs

    @property
    def limit_s(self) -> float:
        """Seconds after which the job has ended, whatever its verbs do."""
        return sum(self.timeouts_s[verb] + self.term_grace_s + 5.0 for verb in self.steps) + 10.0

    def to_json(self) -> bytes:
        """Return the text that the agent reads."""
        fields = (
            "job_id",
            "system",
            "workload",
            "verbs",
            "config",
            "params",
            "timeouts_s",
            "epoch",
            "lease_s",
            "term_grace_s",
            "waits_for_load",
            "target",
        )
        plain = {name: getattr(self, name) for name in fields}
        plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in plain.items()}
        if self.canary is not None:
            plain["canary"] = {name: dict(bound) for name, bound in self.canary.items()}
        return json.dumps(plain).encode()
