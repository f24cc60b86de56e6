"""Judging: from the samples of a full rung to the one score that is told.

The steps and their order are the paper's (TUNA §5.2, Fig. 10): detect, adjust, aggregate. Each is a task of the
iteration, and each is a pure function of the log.
"""

from collections.abc import Mapping

from albacore.policies import Reading
from albacore.replay import Scene
from albacore.trial import Judgement, Stability


def detect(scene: Scene, config_id: str) -> tuple[Stability, float, list[str]]:
    """Return what failures and detector say of a trial's samples: verdict, relative range, reasons (TUNA §4.2)."""
    trial = scene.log.trial(config_id)
    values = [s.value(scene.metric) for s in trial.samples]
    if trial.config_failures:
        first = trial.config_failures[0]
        return Stability.FAILED, 0.0, [f"failed on {first.node}: {first.message}"]
    detection = scene.policy.detector.detect(values)
    verdict = Stability.UNSTABLE if detection.is_unstable else Stability.STABLE
    return verdict, detection.relative_range, [detection.reason]


def adjust(scene: Scene, config_id: str, stability: Stability) -> tuple[dict[str, float], list[str]]:
    """Return node -> adjusted figure, and the reason; unstable and failed trials bypass the model (Alg. 2, §4.3)."""
    readings = [Reading.of(s, scene.metric) for s in scene.log.trial(config_id).samples]
    raw = {r.node: r.value for r in readings}
    if stability is not Stability.STABLE:
        return raw, [f"adjuster bypassed: {stability}"]
    values, reason = scene.policy.adjuster.adjust(readings, _history(scene, config_id), seed=scene.seed)
    return dict(zip(raw, values, strict=True)), [reason]


def _history(scene: Scene, but: str) -> list[list[Reading]]:
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
    stability, found, reasons = detect(scene, config_id)
    adjusted, adjusting = adjust(scene, config_id, stability)
    value, scoring = score(scene, stability, adjusted)
    capped = ["capped: fewer eligible nodes than the rung asks for"] if is_capped else []
    return Judgement(
        config_id=config_id,
        rung=rung,
        stability=stability,
        relative_range=found,
        raw={s.node: s.value(scene.metric) for s in scene.log.trial(config_id).samples},
        adjusted=adjusted,
        score=value,
        reasons=tuple(reasons + adjusting + scoring + capped),
        read_n=scene.log.last_n,
        is_capped=is_capped,
    )


def is_full(scene: Scene, config_id: str, rung: int) -> bool:
    """Whether the rung has all its samples, or the config has failed: only then is it judged (T13)."""
    trial = scene.log.trial(config_id)
    return bool(trial.config_failures) or len(trial.filled) >= scene.policy.ladder.rungs[rung]
