"""Progress of a campaign run as small plain data, for XCom: what `make tune` follows through Airflow's REST API."""

from typing import Any

from albacore import recorded, stopping
from albacore.replay import Scene, incumbent
from albacore.sample import Blame, Failure
from albacore.trial import Judgement, Stability
from albacore_airflow import settings


def of(run_id: str, phase: str) -> dict[str, Any]:
    """Return samples and limit, best against default, unstable and failed, time left.

    Best and default are what their nodes showed, aggregated, in the metric's unit: the penalty of an unstable default
    would flatter the best.
    """
    run = settings.store().run(run_id)
    if run.space is None:
        return {"phase": phase, "campaign_run": run_id}
    scene = settings.scene(run_id)
    judged = scene.log.facts(Judgement)
    best, default = incumbent(scene), scene.log.trial(scene.default_id).top
    samples, limits = stopping.spent(scene.log), stopping.limits_of(scene)
    elapsed_s = stopping.elapsed_s(scene.log, now=settings.store().clock(), opened_at=run.opened_at)
    return {
        "phase": phase,
        "campaign_run": run_id,
        "samples": samples,
        "limit": int(limits["samples"]),
        "best": _shown(scene, best),
        "default": _shown(scene, default),
        "unit": recorded.unit(run),
        "direction": scene.direction.value,
        "trials": len({j.config_id for j in judged}),
        "unstable": len({j.config_id for j in judged if j.stability is Stability.UNSTABLE}),
        "failed": len({f.config_id for f in scene.log.facts(Failure) if f.blame is Blame.CONFIG}),
        "elapsed_s": round(elapsed_s, 1),
        "left_s": _left_s(elapsed_s, samples, limits),
    }


def _shown(scene: Scene, judgement: Judgement | None) -> float | None:
    """Return the aggregate of a judgement's adjusted values, without any penalty."""
    if judgement is None or not judgement.adjusted:
        return None
    return scene.policy.aggregate.score(list(judgement.adjusted.values()), scene.direction)


def _left_s(elapsed_s: float, samples: int, limits: dict[str, float]) -> float | None:
    """Return the seconds left at the pace so far, bounded by the limit on hours; None before the first sample."""
    if not samples:
        return None
    by_samples = elapsed_s / samples * max(0.0, limits["samples"] - samples)
    return round(min(by_samples, max(0.0, limits["hours"] * 3600 - elapsed_s)), 1)
