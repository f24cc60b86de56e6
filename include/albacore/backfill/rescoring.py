"""Rescoring: what another policy says of a campaign run that was measured already.

Every trial is judged again where the log judged it, from the samples that the log had then, by the other policy's
detector, adjuster and aggregate; its own judgements are what its adjuster and crash score read. The ladder stays the
run's: what was not measured cannot be judged. A pure function of log and policy, so the same both give the same
result bit for bit.

Held out: the incumbent is chosen again without one node, and looked at on that node; each node in turn. That is what
can be said of the choice where no fresh nodes validated it.
"""

import dataclasses
import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from albacore import judging
from albacore.policies import Policy
from albacore.replay import Scene, incumbent
from albacore.sample import Purpose, Sample
from albacore.stats import Interval, mean_ratio
from albacore.trial import Event, Judgement, Log, Stability
from albacore.verdict import Terms, concluding


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How a config did on the nodes that it was tuned on, in the metric's unit; `relative_range` has none."""

    nodes: int
    mean: float
    worst: float
    relative_range: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """How the choice did on nodes that it did not know.

    Attributes:
        gain: How many times better than the default, geometric mean over the nodes, with its interval.
        worst: The lowest of these ratios.
        picks: How many different configs were chosen.
    """

    nodes: int
    gain: Interval
    worst: float
    picks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """What a policy says of a run.

    Attributes:
        policy: Its name; `policy_digest` is of its parts and the run's ladder.
        judgements: The log's, judged again, in their order.
        incumbent: The config that it would have chosen; None when no stable one was found.
        chosen_on: On how many nodes.
        best, default: Figures of that config and of the default; None without samples.
        gain: How many times better the mean of `best` is than that of `default`, on the nodes that chose it.
        held_out: See the module; None with fewer than three nodes that have both.
        ship, sentence: The verdict on fresh nodes; `ship` is None where the run has no samples there.
    """

    policy: str
    policy_digest: str
    metric: str
    unit: str
    direction: str
    judgements: tuple[Judgement, ...]
    incumbent: str | None
    chosen_on: int
    best: Figures | None
    default: Figures | None
    gain: float | None
    held_out: HeldOut | None
    ship: bool | None
    sentence: str

    def plain(self) -> dict[str, Any]:
        """Return the result as plain data; of the judgements what a reader compares."""
        kept = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "judgements"}
        tables = {
            name: dataclasses.asdict(kept[name]) if kept[name] else None for name in ("best", "default", "held_out")
        }
        told = [
            {"config_id": j.config_id, "rung": j.rung, "stability": j.stability.value, "score": j.score}
            for j in self.judgements
        ]
        return {**kept, **tables, "judgements": told}


def digest_of(policy: Policy) -> str:
    """Return the digest of a policy's parts: equal parts, equal judgements."""
    return hashlib.sha256(repr(policy).encode()).hexdigest()[:16]


def rescore(scene: Scene, policy: Policy, terms: Terms | None = None) -> Rescoring:
    """Return what a policy says of a run.

    Args:
        scene: The run, its samples with their guest metrics.
        policy: Its ladder is not used.
        terms: What a config has to show before it ships; the usual ones by default.
    """
    policy = dataclasses.replace(policy, ladder=scene.policy.ladder)
    again = judged_again(scene, policy)
    chosen = incumbent(again)
    outcome = Outcome(
        policy=policy.name,
        policy_digest=digest_of(policy),
        judgements=tuple(again.log.facts(Judgement)),
        incumbent=chosen.config_id if chosen else None,
        held_out=held_out(again),
    )
    return conclude(again, outcome, terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a policy decides of a run; the fields are those of `Rescoring`."""

    policy: str
    policy_digest: str
    judgements: tuple[Judgement, ...]
    incumbent: str | None
    held_out: HeldOut | None


def conclude(scene: Scene, outcome: Outcome, terms: Terms | None = None) -> Rescoring:
    """Return an outcome with the figures of its config, and with the verdict where fresh nodes have measured it."""
    default = figures(scene, scene.default_id)
    best = figures(scene, outcome.incumbent) if outcome.incumbent else None
    unit = next((s.metrics[scene.metric].unit for s in scene.log.recorded(Sample) if scene.metric in s.metrics), "")
    ship, sentence = _verdict(scene, outcome.incumbent, terms or Terms(unit=unit))
    return Rescoring(
        **{f.name: getattr(outcome, f.name) for f in dataclasses.fields(outcome)},
        metric=scene.metric,
        unit=unit,
        direction=scene.direction.value,
        chosen_on=best.nodes if best else 0,
        best=best,
        default=default,
        gain=_gain(scene, best, default),
        ship=ship,
        sentence=sentence,
    )


def judged_again(scene: Scene, policy: Policy) -> Scene:
    """Return the scene with every judgement of its log made again, each from the events that it had read."""
    events: list[Event] = []
    for event in scene.log.events:
        if isinstance(event.fact, Judgement):
            old = event.fact
            then = dataclasses.replace(scene, policy=policy, log=Log(tuple(events)).until(old.read_n))
            fact = judging.judge(then, old.config_id, old.rung, is_capped=old.is_capped)
            event = dataclasses.replace(event, fact=dataclasses.replace(fact, read_n=old.read_n))
        events.append(event)
    return dataclasses.replace(scene, policy=policy, log=Log(tuple(events)))


def figures(scene: Scene, config_id: str) -> Figures | None:
    """Return how a config did on the nodes of the tuning, as measured; None without samples."""
    samples = scene.log.trial(config_id).samples
    values = [s.value(scene.metric) for s in samples]
    if not values:
        return None
    found = scene.policy.detector.detect(values).relative_range
    worst = scene.direction.worst(values)
    return Figures(
        nodes=len({s.node for s in samples}), mean=statistics.fmean(values), worst=worst, relative_range=found
    )


def _gain(scene: Scene, best: Figures | None, default: Figures | None) -> float | None:
    if best is None or default is None or best.mean <= 0 or default.mean <= 0:
        return None
    return scene.direction.gain(best.mean, default.mean)


def held_out(scene: Scene) -> HeldOut | None:
    """Return how the choices without one node each do on that node, against the default there."""
    default = {s.node: s.value(scene.metric) for s in scene.log.trial(scene.default_id).samples}
    full = [j for j in scene.log.facts(Judgement) if j.rung == scene.top_rung and j.config_id != scene.default_id]
    ratios: list[float] = []
    picks = set()
    for node, reference in sorted(default.items()):
        pick = _pick(scene, full, node)
        value = pick.raw.get(node) if pick else None
        if pick is not None and value is not None and value > 0 and reference > 0:
            ratios.append(scene.direction.gain(value, reference))
            picks.add(pick.config_id)
    if len(ratios) < 3:
        return None
    return HeldOut(nodes=len(ratios), gain=mean_ratio(ratios), worst=min(ratios), picks=len(picks))


def _pick(scene: Scene, full: Sequence[Judgement], node: str) -> Judgement | None:
    """Return the best stable trial of the highest rung as it looks without one node; ties go to the older."""
    found: list[tuple[float, int]] = []
    for i, j in enumerate(full):
        adjusted = {n: v for n, v in j.adjusted.items() if n != node}
        raw = [v for n, v in j.raw.items() if n != node]
        if j.stability is Stability.FAILED or not raw or not adjusted or node not in j.raw:
            continue
        if not scene.policy.detector.detect(raw).is_unstable:
            found.append(
                (scene.direction.cost(scene.policy.aggregate.score(list(adjusted.values()), scene.direction)), i)
            )
    return full[min(found)[1]] if found else None


def _verdict(scene: Scene, chosen: str | None, terms: Terms) -> tuple[bool | None, str]:
    """Return ship and sentence of the verdict on fresh nodes; None where nothing of it was measured."""
    if chosen is None:
        return False, "No stable config was found."
    if not scene.log.samples(chosen, Purpose.VALIDATE):
        return None, f"{chosen} was not measured on fresh nodes."
    found = concluding.conclude(scene, terms)
    return found.ship, found.sentence
