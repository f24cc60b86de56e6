"""Objective: what a campaign tunes when it is not the workload's own metric, and what it must not cost.

Every sample keeps all metrics that its workload reported. An objective is arithmetic over them, computed anew whenever
the log is read, so nothing derived is ever stored:

```
0.5 * mean_ms + 0.5 * p95_ms                           weighted sum (BestConfig §3.3; microservices §2.2)
throughput / latency_ms                                ratio
throughput * sigmoid(limit - latency_ms - 5)           a soft limit (BestConfig §3.3)
```

A hard limit makes a sample that exceeds it the config's own failure: the config is scored as one that crashed, never
climbs, is never the incumbent, and does not ship when it exceeds the limit on a fresh node. So every optimizer honours
limits. The default config is measured whatever it does: it is what the others are compared with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from albacore.errors import ExpressionError
from albacore.expression import evaluate
from albacore.sample import Blame, Failure, Metric, Sample
from albacore.trial import Direction, Event, Fact, Log

NAME = "objective"
"""Name of the derived metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What is tuned, and what must not be exceeded.

    Attributes:
        expression: Arithmetic over the workload's metrics, above 0 for every sample; "" is the workload's own metric.
        unit: Shown beside its figures.
        limits: Metric -> the most it may be, in its own unit.
    """

    expression: str = ""
    direction: Direction
    unit: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)


def applied(log: Log, objective: Objective, default_id: str) -> Log:
    """Return the log as the decisions read it: samples with the derived metric, or the failure that a limit makes them.

    Args:
        log: The log as it is stored; event numbers stay.
        objective: The campaign's.
        default_id: The config that no limit applies to.

    Raises:
        ExpressionError: When a sample lacks a metric that is computed with or limited, or the figure is not above 0.
    """
    if not objective.expression and not objective.limits:
        return log
    return Log(tuple(Event(n=e.n, at=e.at, fact=_seen(e.fact, objective, default_id)) for e in log.events))


def _seen(fact: Fact, objective: Objective, default_id: str) -> Fact:
    """Return one fact as the decisions read it."""
    if not isinstance(fact, Sample):
        return fact
    if exceeded := _exceeded(fact, objective.limits) if fact.config_id != default_id else "":
        return Failure(
            config_id=fact.config_id,
            node=fact.node,
            host=fact.host,
            purpose=fact.purpose,
            slot=fact.slot,
            repeat=fact.repeat,
            blame=Blame.CONFIG,
            message=exceeded,
            started_at=fact.started_at,
            duration_s=fact.duration_s,
        )
    if not objective.expression:
        return fact
    value = float(evaluate(objective.expression, {name: metric.value for name, metric in fact.metrics.items()}))
    if value <= 0:
        raise ExpressionError(
            f"objective {objective.expression!r}: expected a value above 0, as gains are ratios, got {value:g} for "
            f"{fact.config_id} on {fact.node}. Add a constant or turn its sign and 'direction'."
        )
    return replace(fact, metrics={**fact.metrics, NAME: Metric(value=value, unit=objective.unit)})


def _exceeded(sample: Sample, limits: Mapping[str, float]) -> str:
    """Return the first limit that a sample exceeds, in words; "" when it keeps all."""
    for name, limit in limits.items():
        if name not in sample.metrics:
            raise ExpressionError(
                f"objective.limits: no metric '{name:.40}'; the workload reported {', '.join(sorted(sample.metrics))}. "
                "Correct the name."
            )
        found = sample.metrics[name]
        if found.value > limit:
            return f"{name} = {found.value:g} {found.unit} exceeds its limit of {limit:g}"
    return ""
