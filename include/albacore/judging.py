"""Judging: from the samples of a full rung to the one score that is told.

The steps and their order are the paper's (TUNA §5.2, Fig. 10): detect, adjust, aggregate. Each is a task of the
iteration, and each is a pure function of the log.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from albacore import resampling
from albacore.policies import Reading, Teachable
from albacore.replay import Scene
from albacore.sample import Failure, Purpose, Sample
from albacore.trial import Judgement, Stability

T = TypeVar("T", Sample, Failure)


def answers(scene: Scene, config_id: str, rung: int) -> tuple[list[Sample], list[Failure]]:
    """Return the samples and the config's own failures that a rung is judged by.

    They are those of its slots. When samples of a config were taken away a lower rung may be judged again after a
    higher one was measured, and must not see more of it than other configs show at that rung.
    """
    trial = scene.log.trial(config_id)
    if not scene.log.renewals(config_id):
        return list(trial.samples), list(trial.config_failures)
    nodes = _nodes_of(scene, config_id, rung)
    return _of_slots(trial.samples, nodes), _of_slots(trial.config_failures, nodes)


def _nodes_of(scene: Scene, config_id: str, rung: int) -> int:
    return resampling.nodes_of(scene.log, scene.policy.ladder.rungs, config_id, rung)


def _of_slots(found: Sequence[T], nodes: int) -> list[T]:
    return [fact for fact in found if fact.slot < nodes or fact.purpose is Purpose.DEFAULT]


def detect(scene: Scene, config_id: str, rung: int) -> tuple[Stability, float, list[str]]:
    """Return what failures and detector say of a rung's samples: verdict, relative range, reasons (TUNA §4.2)."""
    samples, failures = answers(scene, config_id, rung)
    values = [s.value(scene.metric) for s in samples]
    if failures:
        first = failures[0]
        return Stability.FAILED, 0.0, [f"failed on {first.node}: {first.message}"]
    detection = scene.policy.detector.detect(values)
    verdict = Stability.UNSTABLE if detection.is_unstable else Stability.STABLE
    return verdict, detection.relative_range, [detection.reason]


def adjust(scene: Scene, config_id: str, rung: int, stability: Stability) -> tuple[dict[str, float], list[str]]:
    """Return node -> adjusted figure, and the reason; unstable and failed trials bypass the model (Alg. 2, §4.3)."""
    readings = [Reading.of(s, scene.metric) for s in answers(scene, config_id, rung)[0]]
    raw = {r.node: r.value for r in readings}
    if stability is not Stability.STABLE:
        return raw, [f"adjuster bypassed: {stability}"]
    adjuster = scene.policy.adjuster
    if scene.earlier and isinstance(adjuster, Teachable):
        adjuster = adjuster.taught_by(scene.earlier)
    values, reason = adjuster.adjust(readings, history(scene, but=config_id), seed=scene.seed)
    return dict(zip(raw, values, strict=True)), [reason]


def history(scene: Scene, *, but: str | None = None) -> list[list[Reading]]:
    """Return the samples of the stable trials judged on the highest rung so far, without the one at hand (T10, T11)."""
    trials = [
        scene.log.trial(j.config_id)
        for j in scene.log.facts(Judgement)
        if j.rung == scene.top_rung and j.stability is Stability.STABLE and j.config_id != but
    ]
    return [[Reading.of(s, scene.metric) for s in trial.samples] for trial in trials]


def score(scene: Scene, stability: Stability, adjusted: Mapping[str, float]) -> tuple[float | None, list[str]]:
    """Return the one value that is told, and the reason (TUNA §4.2, §4.4, §6.4)."""
    policy, direction = scene.policy, scene.direction
    if stability is Stability.FAILED:
        worst = policy.crash.score(scene.log.facts(Judgement), direction)
        return worst, [f"crash score: the worst figure seen, {worst}"]
    value = policy.aggregate.score(list(adjusted.values()), direction)
    reasons = [f"worst of {len(adjusted)} adjusted value(s): {value:.6g}"]
    if stability is Stability.UNSTABLE:
        value = policy.penalty.penalise(value, direction)
        reasons.append(f"unstable: penalised to {value:.6g}")
    return value, reasons


def judge(scene: Scene, config_id: str, rung: int, *, is_capped: bool = False) -> Judgement:
    """Return the judgement of a full rung: detect, adjust, aggregate, in the paper's order (TUNA §5.2)."""
    stability, found, reasons = detect(scene, config_id, rung)
    adjusted, adjusting = adjust(scene, config_id, rung, stability)
    value, scoring = score(scene, stability, adjusted)
    capped = [cap(scene, config_id, rung)] if is_capped else []
    return Judgement(
        config_id=config_id,
        rung=rung,
        stability=stability,
        relative_range=found,
        raw={s.node: s.value(scene.metric) for s in answers(scene, config_id, rung)[0]},
        adjusted=adjusted,
        score=value,
        reasons=tuple(reasons + adjusting + scoring + capped),
        read_n=scene.log.last_n,
        is_capped=is_capped,
        revision=revision(scene, config_id, rung),
    )


def cap(scene: Scene, config_id: str, rung: int) -> str:
    """Return why a rung is judged by fewer samples than it asks for."""
    if not scene.log.renewals(config_id):
        return "capped: fewer eligible nodes than the rung asks for"
    return f"capped: {len(answers(scene, config_id, rung)[0])} of {_nodes_of(scene, config_id, rung)} sample(s) count"


def revision(scene: Scene, config_id: str, rung: int) -> int:
    """Return how many judgements of a config at a rung the log has, those too that do not count any more."""
    return sum((j.config_id, j.rung) == (config_id, rung) for j in scene.log.recorded(Judgement))


def is_full(scene: Scene, config_id: str, rung: int) -> bool:
    """Whether the rung has all its samples, or the config has failed: only then is it judged (T13)."""
    samples, failures = answers(scene, config_id, rung)
    return bool(failures) or len({s.slot for s in samples}) >= _nodes_of(scene, config_id, rung)


def overdue(scene: Scene) -> list[tuple[str, int]]:
    """Return (config id, rung) of what was judged, does not count any more, and still has a sample to be judged by.

    Oldest first. While a run goes on its lanes take the missing samples and judge such rungs again, all but the
    default's, which no lane asks for.
    """
    counts = {(j.config_id, j.rung) for j in scene.log.facts(Judgement)}
    once = dict.fromkeys((j.config_id, j.rung) for j in scene.log.recorded(Judgement))
    return [key for key in once if key not in counts and any(answers(scene, *key))]


def rejudge(scene: Scene, config_id: str, rung: int) -> Judgement:
    """Return the judgement of a rung by the samples that are left of it."""
    return judge(scene, config_id, rung, is_capped=not is_full(scene, config_id, rung))
