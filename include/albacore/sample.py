"""Sample and Failure: what was seen when one config ran once on one node.

A slot of a trial ends in exactly one of the two. Neither is ever edited; what later steps conclude is recorded
elsewhere.
"""

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from albacore.errors import ConfigError, FailureError, LoadError, NodeError, PlatformError

EMPTY: Mapping[str, Any] = MappingProxyType({})


class Blame(enum.StrEnum):
    """Name who is to blame for a Failure; decides what the optimizer hears."""

    CONFIG = "ConfigFailure"
    LOAD = "LoadFailure"
    NODE = "NodeFailure"
    PLATFORM = "PlatformFailure"

    @property
    def is_told(self) -> bool:
        """Whether the optimizer hears of it: only what the config did itself."""
        return self is Blame.CONFIG


BLAME_OF_EXIT_CODE = {10: Blame.CONFIG, 20: Blame.LOAD, 30: Blame.NODE}
ERROR_OF_BLAME: dict[Blame, type[FailureError]] = {
    Blame.CONFIG: ConfigError,
    Blame.LOAD: LoadError,
    Blame.NODE: NodeError,
    Blame.PLATFORM: PlatformError,
}


class Purpose(enum.StrEnum):
    """Name why a sample was taken; only `TUNE` samples belong to a trial's rungs."""

    DEFAULT = "default"
    TUNE = "tune"
    VALIDATE = "validate"
    SENTINEL = "sentinel"

    @property
    def is_tuning(self) -> bool:
        """Whether it is of the search: neither of the validation, nor the default config again as a sentinel."""
        return self in (Purpose.DEFAULT, Purpose.TUNE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure and its unit, as the workload wrote it."""

    value: float
    unit: str

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise LoadError(
                f"metric: expected a finite number, got {self.value!r}. The workload's run must fail instead."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One measurement of one config on one node.

    Attributes:
        config_id: Digest of the config.
        node: Name of the node; `host` is the machine it shares with others.
        deployment: Which incarnation of the system on the node was measured, where one stays up from sample to sample
            or is made of several parts. "" is the default and says that each sample has its own: every job starts the
            system and stops it. Whoever keeps it running, or deploys it twice on a node, names the deployment; samples
            of one deployment are then repeats, not independent ones (H04: deployments against measurements).
        purpose: Why it was taken.
        slot: Which of the config's slots for this purpose it fills: 0 up to the nodes of the highest rung, less one.
        repeat: 0 for the first measurement of this config on this node for this purpose.
        component: The part of a multi-component system; "" while there is one.
        metrics: Name -> figure; the workload's own metric is among them.
        telemetry: Guest metrics over the measurement, `<counter>.p25|p50|p75` -> value (TUNA §4.3; units as psutil's).
        notes: What the workload wrote beside the figures (plan hashes, counters).
        started_at: Seconds since the epoch, on the controller's clock.
        duration_s: Seconds from the job's start to its end, on the node's clock.
        benchmark_digest: Digest of the benchmark folder that ran on the node.
    """

    config_id: str
    node: str
    host: str
    deployment: str = ""
    purpose: Purpose = Purpose.TUNE
    slot: int = 0
    repeat: int = 0
    component: str = ""
    metrics: Mapping[str, Metric]
    telemetry: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    started_at: float
    duration_s: float
    benchmark_digest: str

    def value(self, metric: str) -> float:
        """Return the figure of one metric, in the workload's unit.

        Raises:
            LoadError: When the workload did not report it.
        """
        if metric not in self.metrics:
            known = ", ".join(sorted(self.metrics)) or "none"
            raise LoadError(f"sample of {self.config_id} on {self.node}: no metric {metric!r}; it reported {known}.")
        return self.metrics[metric].value


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is recorded instead of a Sample.

    Attributes:
        blame: Who is to blame; only a config's own failures are told to the optimizer.
        message: One line: what was expected, what happened, where.
        log: The last lines of the system's or the verb's own log.
        node: "" when no node was reached.
    """

    config_id: str
    node: str
    host: str = ""
    purpose: Purpose = Purpose.TUNE
    slot: int = 0
    repeat: int = 0
    blame: Blame
    message: str
    log: str = ""
    started_at: float
    duration_s: float = 0.0
