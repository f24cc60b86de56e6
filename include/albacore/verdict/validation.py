"""Validation: which configs run on the fresh nodes, in which order, and what came of it.

The plan is a note in the log, so the verdict knows who competed and how many; a run that is re-opened plans another
round, whose repeats go on where the last one ended.
"""

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from albacore import replay
from albacore.fact import REOPEN, Note
from albacore.replay import Scene
from albacore.sample import Failure, Purpose, Sample
from albacore.stats import binomial_upper, coefficient_of_variation
from albacore.trial import Log
from albacore.verdict.comparison import Figures
from albacore.verdict.ranking import contenders

KIND = "validation"
"""Kind of the note that holds a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One round of validation, fixed before its first sample.

    Attributes:
        round: 0, and one more with every re-opening of the run.
        contenders: Config ids, the most promising first.
        previous: Config id of the incumbent that is compared; None when there is none.
        previous_run: The run that left it.
        nodes: The fresh nodes.
        first: The round's first repeat.
        repeats: Samples of each config on each node.
        skipped: Incumbents that were passed over, a line each.
        has_veto: Whether configs with unstable neighbours had to stand back (`veto.py`).
        stood_back: Ids of those that would have been contenders without it.
        read_n: Number of the last event that was read.
    """

    round: int = 0
    contenders: tuple[str, ...] = ()
    previous: str | None = None
    previous_run: str | None = None
    nodes: tuple[str, ...] = ()
    first: int = 0
    repeats: int = 1
    skipped: tuple[str, ...] = ()
    has_veto: bool = False
    stood_back: tuple[str, ...] = ()
    read_n: int = 0

    def note(self) -> Note:
        """Return the plan as an event of the log."""
        body = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return Note(kind=KIND, body=body)

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "Plan":
        """Return the plan that a note holds."""
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in body.items()}
        return cls(**{k: v for k, v in values.items() if k in known})

    def configs(self, default_id: str) -> list[str]:
        """Return the ids of all that run: the default, the contenders, the incumbent, each once."""
        every = [default_id, *self.contenders, *([self.previous] if self.previous else [])]
        return list(dict.fromkeys(every))

    def holds(self, fact: Sample | Failure) -> bool:
        """Whether an answer belongs to this round."""
        return fact.purpose is Purpose.VALIDATE and self.first <= fact.repeat < self.first + self.repeats


def round_of(log: Log) -> int:
    """Return the round that a run is in: how often it was re-opened."""
    return len(log.notes(REOPEN))


def plan(
    scene: Scene,
    *,
    nodes: Sequence[str],
    repeats: int,
    count: int,
    has_veto: bool = True,
    incumbent: tuple[str, str] | None = None,
) -> Plan:
    """Return the next round: the most promising configs on the fresh nodes, with repeats that no round has had.

    Args:
        scene: The run, its tuning ended.
        nodes: The fresh nodes.
        repeats: Samples of each config on each of them.
        count: Contenders at most.
        has_veto: Whether configs with unstable neighbours stand back.
        incumbent: Config id and run of what earlier runs left in place.
    """
    previous, left_by = incumbent or (None, None)
    facts = [*scene.log.recorded(Sample), *scene.log.recorded(Failure)]
    done = [fact.repeat for fact in facts if fact.purpose is Purpose.VALIDATE]
    plain, chosen = (
        tuple(standing.config_id for standing in contenders(scene, count, but=previous, has_veto=veto))
        for veto in (False, has_veto)
    )
    return Plan(
        round=round_of(scene.log),
        contenders=chosen,
        previous=previous,
        previous_run=left_by,
        nodes=tuple(nodes),
        first=max(done, default=-1) + 1,
        repeats=repeats,
        has_veto=has_veto,
        stood_back=tuple(config_id for config_id in plain if config_id not in chosen),
        read_n=scene.log.last_n,
    )


def plans_of(log: Log) -> list[Plan]:
    """Return the rounds that a log planned, in their order."""
    return [Plan.of(note.body) for note in log.notes(KIND)]


def planned(scene: Scene) -> Plan:
    """Return the newest round of a log; a log without plans validated the best config of the tuning."""
    if plans := plans_of(scene.log):
        return plans[-1]
    best = replay.incumbent(scene)
    facts = [f for f in scene.log.facts(Sample) if f.purpose is Purpose.VALIDATE]
    return Plan(
        contenders=(best.config_id,) if best else (),
        nodes=tuple(dict.fromkeys(f.node for f in facts)),
        repeats=max((f.repeat for f in facts), default=0) + 1,
    )


def slots(plan: Plan, default_id: str, *, seed: int) -> list[tuple[str, int, str, int]]:
    """Return (config, slot, node, repeat) of every sample, in the order to take them (T16).

    All configs run on a node one after the other, so that the hour and the node are the same for them; who begins
    shifts from node to node and from repeat to repeat, so that nobody always finds the caches cold. A repeat comes
    after all nodes had the last one: repeats are apart in time.
    """
    configs = plan.configs(default_id)
    random.Random(seed).shuffle(configs)
    found = []
    for repeat in range(plan.first, plan.first + plan.repeats):
        for i, node in enumerate(plan.nodes):
            start = (i + repeat) % len(configs)
            index = repeat * len(plan.nodes) + i
            found += [(config, index, node, repeat) for config in configs[start:] + configs[:start]]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """How one config did on the fresh nodes.

    Attributes:
        mean: Mean over nodes of the node's mean, in the metric's unit; None without samples.
        worst: Worst single sample.
        cov: Coefficient of variation of the nodes' means; None around a mean of 0.
        by_node: Node -> its samples.
        failures: Messages of the config's failures there.
    """

    config_id: str
    mean: float | None
    worst: float | None
    cov: float | None
    by_node: Mapping[str, tuple[float, ...]]
    failures: tuple[str, ...] = ()


def figures(scene: Scene, plan: Plan, config_id: str) -> Figures:
    """Return what a config showed in a round: node -> repeat -> figure."""
    found: dict[str, dict[int, float]] = {}
    for sample in scene.log.samples(config_id, Purpose.VALIDATE):
        if plan.holds(sample):
            found.setdefault(sample.node, {})[sample.repeat] = sample.value(scene.metric)
    return found


def failures(scene: Scene, plan: Plan, config_id: str) -> list[Failure]:
    """Return a config's own failures in a round."""
    return [f for f in scene.log.facts(Failure) if f.config_id == config_id and f.blame.is_told and plan.holds(f)]


def deployment(scene: Scene, plan: Plan, config_id: str) -> Deployment:
    """Return how a config did in a round."""
    by_node = {node: tuple(values.values()) for node, values in figures(scene, plan, config_id).items()}
    values = [value for values in by_node.values() for value in values]
    means = [statistics.fmean(values) for values in by_node.values()]
    return Deployment(
        config_id=config_id,
        mean=statistics.fmean(means) if means else None,
        worst=scene.direction.worst(values) if values else None,
        cov=coefficient_of_variation(means) if means else 0.0,
        by_node=by_node,
        failures=tuple(f"{f.node}: {f.message}" for f in failures(scene, plan, config_id)),
    )


def unstable_reason(scene: Scene, found: Deployment) -> str | None:
    """Return what the detector says of a config that the fresh nodes do not agree on, or None."""
    means = [statistics.fmean(values) for values in found.by_node.values()]
    detection = scene.policy.detector.detect(means) if means else None
    return detection.reason if detection and detection.is_unstable else None


def instability_bound(scene: Scene, plan: Plan, found: Deployment, confidence: float) -> float | None:
    """Return how large the share of nodes may be on which a config is bad, though few or none of these were.

    A node is bad when the config failed there, or when the detector finds its mean and the median of all too far apart
    and it is the worse one. A config that the detector calls unstable has at least one.

    Args:
        scene: The run.
        plan: The round.
        found: How the config did.
        confidence: That the share is not larger (one-sided).
    """
    means = {node: statistics.fmean(values) for node, values in found.by_node.items()}
    failed = {f.node for f in failures(scene, plan, found.config_id)}
    if not means and not failed:
        return None
    usual = statistics.median(means.values()) if means else 0.0
    slow = {
        node
        for node, mean in means.items()
        if scene.policy.detector.detect([mean, usual]).is_unstable and scene.direction.worst([mean, usual]) == mean
    }
    bad = max(len(failed | slow), 1 if unstable_reason(scene, found) else 0)
    return binomial_upper(bad, len(failed | set(means)), confidence)
