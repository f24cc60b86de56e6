"""Replay: every decision of a campaign run as a pure function of its log.

The same log gives the same suggestion, promotion, judgement and score, in any process at any time. Airflow's tasks
are stateless: each reads the log, calls one function of this module, and writes what it returned.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from albacore import resampling, sentinel, unjudged
from albacore.optimizers import Observation, Optimizer, Repeating
from albacore.policies import Policy, Reading
from albacore.sample import Failure, Sample
from albacore.space import Config, Space
from albacore.trial import Ask, Direction, Judgement, Log, Stability


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the next iteration measures.

    Attributes:
        config: The config; `rung` the index of its rung, `bracket` the ladder's bracket.
        is_new: Whether the optimizer suggested it just now.
        repeat: 0, or the number of the further measurement of a judged rung, from 1.
        inputs_digest: Digest of everything the decision was computed from.
    """

    config: Config
    rung: int
    bracket: int
    is_new: bool
    inputs_digest: str
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A campaign run as the decisions see it.

    Attributes:
        metric: Name of the target metric; `direction` says which way it improves.
        limits: `samples` and `hours`, perhaps `cost`, as the campaign file has them.
        configs: Config id -> config, of every config in the log and the default.
        price_per_hour: What an hour of one node costs, in the user's unit; None when nobody said.
        nodes: How many nodes choose; 0 when there is no fleet, and then nothing is measured again.
        stop: `min_scores`, `expected_gain` and `converged_after` of the campaign file; empty: neither rule is on.
        earlier: Trials of earlier runs for the adjuster (`earlier.py`); like guest metrics, only where it is asked.
    """

    policy: Policy
    space: Space
    metric: str
    direction: Direction
    seed: int
    limits: Mapping[str, float]
    configs: Mapping[str, Config]
    log: Log
    price_per_hour: float | None = None
    nodes: int = 0
    stop: Mapping[str, float] = field(default_factory=dict)
    earlier: tuple[tuple[Reading, ...], ...] = ()

    @property
    def default_id(self) -> str:
        """Id of the default config."""
        return self.space.default().id

    @property
    def top_rung(self) -> int:
        """Index of the ladder's highest rung."""
        return len(self.policy.ladder.rungs) - 1


def costs(scene: Scene) -> dict[tuple[str, int], float]:
    """Return what the ladder compares: (config id, rung) -> cost, lower is better, infinite when given up or failed.

    A rung that is being measured again has none yet: the ladder waits for it.
    """
    found: dict[tuple[str, int], float] = dict.fromkeys(unjudged.given_up(scene.log), math.inf)
    for j in scene.log.facts(Judgement):
        is_alive = j.score is not None and j.stability is not Stability.FAILED
        found[j.config_id, j.rung] = scene.direction.cost(j.score) if is_alive and j.score is not None else math.inf
    for ask in unjudged.asked_again(scene.log):
        found.pop((ask.config_id, ask.rung), None)
    return found


def observations(scene: Scene) -> list[Observation]:
    """Return what the optimizer was told, in the order it was told (T13): one entry per (config, full rung).

    The sentinels (the default config, the incumbent of earlier runs) join once a suggested one has reached their rung:
    alone on top they would hide every other score from a surrogate that reads the highest rung only.
    """
    told = [j for j in scene.log.facts(Judgement) if j.score is not None]
    first = sentinel.sentinels(scene.log, scene.default_id)
    reached = max((j.rung for j in told if j.config_id not in first), default=-1)
    repeats = resampling.repeats(scene.log)
    indices = {key: index for index, key in enumerate(dict.fromkeys(a.config_id for a in scene.log.facts(Ask)))}
    return [
        Observation(
            config=scene.configs[j.config_id],
            rung=j.rung,
            score=scene.direction.cost(j.score),
            is_failure=j.stability is Stability.FAILED,
            is_unstable=j.stability is Stability.UNSTABLE,
            ask_index=indices.get(j.config_id, -1),
            repeats=repeats.get((j.config_id, j.rung), 0),
        )
        for j in told
        if j.score is not None and (j.config_id not in first or j.rung <= reached)
    ]


def decide(scene: Scene, optimizer: Optimizer, *, lane: int) -> Decision:
    """Return what the lane measures next: an abandoned rung, a promotion, or a new config, in this order."""
    asks = scene.log.facts(Ask)
    if taken_over := unjudged.abandoned(scene.log, lane):
        ask = taken_over[0]
        config = scene.configs[ask.config_id]
        return _decision(scene, config, ask.rung, ask.bracket, is_new=False, repeat=ask.repeat)
    step = scene.policy.ladder.step(asks, costs(scene))
    if step.config_id is not None:
        return _decision(scene, scene.configs[step.config_id], step.rung, step.bracket, is_new=False)
    asked = {a.config_id for a in asks}
    if warm := [c for c in sentinel.first_asks(scene.log) if c not in asked]:  # they are part of the initial design
        return _decision(scene, scene.configs[warm[0]], step.rung, step.bracket, is_new=True)
    seen = observations(scene)
    told, first = {o.config.id for o in seen}, sentinel.sentinels(scene.log, scene.default_id)
    pending = [scene.configs[c] for c in dict.fromkeys([*first, *(a.config_id for a in asks)]) if c not in told]
    if not isinstance(optimizer, Repeating):
        config = optimizer.suggest(scene.space, seen, pending, seed=scene.seed, ask_index=new_configs(asks))
        return _decision(scene, config, step.rung, step.bracket, is_new=True)
    waiting = {c.id: c for c in (*pending, *(scene.configs[a.config_id] for a in unjudged.asked_again(scene.log)))}
    config = optimizer.suggest_or_repeat(
        scene.space, seen, list(waiting.values()), seed=scene.seed, ask_index=new_configs(asks), settled=_settled(scene)
    )
    if config.id not in told:
        return _decision(scene, config, step.rung, step.bracket, is_new=True)
    rung = max(o.rung for o in seen if o.config.id == config.id)
    last = [a for a in asks if (a.config_id, a.rung) == (config.id, rung)][-1]
    repeat = resampling.repeats(scene.log).get((config.id, rung), 0) + 1
    return _decision(scene, config, rung, last.bracket, is_new=False, repeat=repeat)


def _settled(scene: Scene) -> frozenset[str]:
    """Return the ids of the configs that are not measured again: sentinels, busy ones, those without a node left."""
    found = set(sentinel.sentinels(scene.log, scene.default_id))
    found |= {ask.config_id for ask in unjudged.open_asks(scene.log)}
    free = resampling.free_nodes(scene.log, scene.nodes)
    return frozenset(found | {config_id for config_id in scene.configs if free[config_id] < 1})


def new_configs(asks: Sequence[Ask]) -> int:
    """Return how many different configs were asked for: the optimizer's own ask index."""
    return len({ask.config_id for ask in asks})


def _decision(scene: Scene, config: Config, rung: int, bracket: int, *, is_new: bool, repeat: int = 0) -> Decision:
    inputs = {
        "policy": repr(scene.policy),
        "seed": scene.seed,
        "space": scene.space.digest,
        "asks": [_asked(a) for a in scene.log.facts(Ask)],
        "told": [(j.config_id, j.rung, j.score) for j in scene.log.facts(Judgement)],
    }
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16]
    return Decision(config=config, rung=rung, bracket=bracket, is_new=is_new, inputs_digest=digest, repeat=repeat)


def _asked(ask: Ask) -> tuple[int | str, ...]:
    """Return what of an ask a decision depends on; as it was before there were repeats where there are none."""
    return (ask.index, ask.config_id, ask.rung, ask.bracket, *((ask.repeat,) if ask.repeat else ()))


def quarantined(log: Log) -> set[str]:
    """Return the nodes that failed often enough to get no more samples."""
    return resampling.quarantined(log)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One sample that a trial still lacks, and the nodes it may be taken on, in order of preference.

    Attributes:
        repeat: 0, or how often samples of the config were taken away: the slot may have had one before.
        failed: Attempts of earlier asks that failed.
    """

    index: int
    nodes: tuple[str, ...]
    repeat: int = 0
    failed: int = 0


def open_slots(scene: Scene, config_id: str, rung: int, nodes: Sequence[str]) -> tuple[list[Slot], bool]:
    """Return the samples that a trial lacks for a rung, and whether the fleet caps it below the rung.

    Only nodes that this config has not used are eligible (TUNA §5.1); the least used come first. A node whose sample
    of the config does not count any more is eligible again, after all others; so are those on which it failed, when
    nothing was measured of it and no other node is left: an ask without a node would end no trial. Each slot starts at
    another node of the same list, so that slots of one trial do not queue for the same node.
    """
    trial = scene.log.trial(config_id)
    lost = quarantined(scene.log)
    taken_at = [s for s in scene.log.recorded(Sample) if s.purpose.is_tuning]
    used, seen = Counter(s.node for s in taken_at), {s.node for s in taken_at if s.config_id == config_id}
    order = {node: hashlib.sha256(f"{config_id}/{node}".encode()).digest() for node in nodes}
    free = [n for n in nodes if n not in lost]
    fresh = [n for n in free if n not in trial.nodes]
    eligible = sorted(fresh if fresh or trial.filled else free, key=lambda n: (n in seen, used[n], order[n]))
    wanted = resampling.nodes_of(scene.log, scene.policy.ladder.rungs, config_id, rung)
    missing = [i for i in range(wanted) if i not in trial.filled]
    taken, repeat = missing[: len(eligible)], scene.log.renewals(config_id)
    failures = (f for f in scene.log.recorded(Failure) if f.config_id == config_id and f.purpose.is_tuning)
    failed = Counter(f.slot for f in failures if f.repeat == repeat)
    slots = [
        Slot(index=index, nodes=tuple(eligible[i:] + eligible[:i]), repeat=repeat, failed=failed[index])
        for i, index in enumerate(taken)
    ]
    return slots, len(taken) < len(missing)


def incumbent(scene: Scene) -> Judgement | None:
    """Return the best stable trial on the highest rung that has one, the default excepted; ties go to the older."""
    stable = [
        j
        for j in scene.log.facts(Judgement)
        if j.stability is Stability.STABLE and j.score is not None and j.config_id != scene.default_id
    ]
    if not stable:
        return None
    highest = max(j.rung for j in stable)
    return min((j for j in stable if j.rung == highest), key=lambda j: scene.direction.cost(j.score or 0.0))
