"""Verdict: ship or do not ship, from samples on nodes that had no part in choosing (TUNA §6, T16)."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from albacore.replay import Scene, incumbent, quarantined
from albacore.sample import Blame, Failure, Purpose
from albacore.stats import Interval, bootstrap_ratio, coefficient_of_variation
from albacore.trial import Judgement

MIN_GAIN = 1.0
"""The lower end of the interval has to be above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """How one config did on the fresh nodes.

    Attributes:
        mean: Mean over nodes of the node's mean, in the metric's unit; None without samples.
        worst: Worst single sample.
        cov: Coefficient of variation of the nodes' means.
        by_node: Node -> its samples.
        failures: Messages of the config's failures there.
    """

    config_id: str
    mean: float | None
    worst: float | None
    cov: float
    by_node: Mapping[str, tuple[float, ...]]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the campaign run concludes.

    Attributes:
        sentence: The conclusion in one sentence for people.
        ship: Whether the best config is worth deploying.
        gain: How many times better than the default on fresh nodes, with its interval; None when it could not be
        measured.
    """

    sentence: str
    ship: bool
    metric: str
    unit: str
    best: Deployment | None
    default: Deployment | None
    gain: Interval | None


def deployment(scene: Scene, config_id: str) -> Deployment:
    """Return how a config did on the nodes of the validation."""
    by_node: dict[str, list[float]] = {}
    for sample in scene.log.samples(config_id, Purpose.VALIDATE):
        by_node.setdefault(sample.node, []).append(sample.value(scene.metric))
    failures = [
        f"{f.node}: {f.message}"
        for f in scene.log.facts(Failure)
        if f.config_id == config_id and f.purpose is Purpose.VALIDATE and f.blame.is_told
    ]
    values = [value for values in by_node.values() for value in values]
    means = [statistics.fmean(values) for values in by_node.values()]
    return Deployment(
        config_id=config_id,
        mean=statistics.fmean(means) if means else None,
        worst=scene.direction.worst(values) if values else None,
        cov=coefficient_of_variation(means) if means else 0.0,
        by_node={node: tuple(values) for node, values in by_node.items()},
        failures=tuple(failures),
    )


def conclude(scene: Scene, unit: str) -> Verdict:
    """Return the verdict of a campaign run whose validation has ended."""
    chosen = incumbent(scene)
    default = deployment(scene, scene.default_id)
    if chosen is None:
        return _no(
            "no config was found stable, so there is nothing to compare with the default", scene, unit, None, default
        )
    best = deployment(scene, chosen.config_id)
    if best.failures:
        return _no(f"the best config failed on a fresh node ({best.failures[0]})", scene, unit, best, default)
    ratios = {
        node: [scene.direction.gain(v, d) for v, d in zip(best.by_node[node], default.by_node[node], strict=False)]
        for node in best.by_node
        if node in default.by_node
    }
    ratios = {node: [r for r in values if r > 0] for node, values in ratios.items()}
    if not any(ratios.values()):
        return _no("best and default have no fresh node in common", scene, unit, best, default)
    gain = bootstrap_ratio(ratios, seed=scene.seed)
    return _compared(scene, unit, best, default, gain, chosen)


def _compared(
    scene: Scene, unit: str, best: Deployment, default: Deployment, gain: Interval, chosen: Judgement
) -> Verdict:
    """Return the verdict of two configs that could be compared."""
    nodes = len(best.by_node)
    rung = scene.policy.ladder.rungs[min(chosen.rung, scene.top_rung)]
    size = (
        f"{gain.estimate:.2f} times as good as the default on {nodes} fresh node(s) "
        f"({gain.confidence:.0%} interval {gain.low:.2f} to {gain.high:.2f}), chosen on {rung} node(s)"
    )
    spread = scene.policy.detector.detect([statistics.fmean(values) for values in best.by_node.values()])
    ship = gain.low > MIN_GAIN and not spread.is_unstable
    if ship:
        sentence = f"Ship {best.config_id}: it is {size}."
    elif spread.is_unstable:
        sentence = f"Do not ship {best.config_id}: it is unstable on fresh nodes ({spread.reason}); it is {size}."
    else:
        sentence = f"Do not ship {best.config_id}: no significant gain; it is {size}."
    return Verdict(sentence=sentence, ship=ship, metric=scene.metric, unit=unit, best=best, default=default, gain=gain)


def _no(reason: str, scene: Scene, unit: str, best: Deployment | None, default: Deployment) -> Verdict:
    return Verdict(
        sentence=f"Do not ship: {reason}.",
        ship=False,
        metric=scene.metric,
        unit=unit,
        best=best,
        default=default,
        gain=None,
    )


def validation_slots(nodes: list[str], repeats: int) -> list[tuple[int, str, int]]:
    """Return (slot, node, repeat) for one config: every node once, then again, so that repeats are apart in time."""
    return [(repeat * len(nodes) + i, node, repeat) for repeat in range(repeats) for i, node in enumerate(nodes)]


def warnings(scene: Scene) -> list[str]:
    """Return what a reader of the verdict has to know beside it: finding, evidence, remedy."""
    found = []
    denied = [knob.name for knob in scene.space.knobs if knob.safety == "denied"]
    if denied:
        found.append(f"Settings that risk data were tuned ({', '.join(denied)}): review them before you ship.")
    loads = [f for f in scene.log.facts(Failure) if f.blame is Blame.LOAD]
    if loads:
        found.append(
            f"The load generator failed {len(loads)} time(s), last on {loads[-1].node}: {loads[-1].message}. "
            "These samples were taken again; see whether it is saturated."
        )
    lost = quarantined(scene.log)
    if lost:
        found.append(f"Nodes that failed repeatedly got no more samples: {', '.join(sorted(lost))}. Look at them.")
    return found
