"""What the tasks of an iteration call, in their order (TUNA §5.2, Fig. 10).

Each reads the log, calls one function of the library, and hands small values on. Done again, each returns what it
returned before.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from albacore import expectation, judging, recorded, replay, resampling, sentinel
from albacore.errors import PlatformError
from albacore.replay import Scene
from albacore.runs import exclusion
from albacore.sample import Purpose
from albacore.store.run_log import StaleError
from albacore.trial import Ask, Judgement, Stability
from albacore_airflow import campaign_tasks, fitness, lanes, progress, settings

SLOT_LOOK_S = 0.2
STALE_RETRIES = 20


@contextmanager
def host_slot(run_id: str, owner: str) -> Iterator[None]:
    """Hold a slot of the controller's host: nothing of ours runs beside a sample (law of the host)."""
    leases = settings.leases()
    slots = settings.host_slots(settings.store().run(run_id))[settings.CONTROLLER]
    while not leases.take_slot(settings.CONTROLLER, slots, owner):
        time.sleep(SLOT_LOOK_S)
    try:
        yield
    finally:
        leases.release(owner)


def suggest(run_id: str, lane: int, key: str) -> dict[str, Any] | None:
    """Return the ask of this iteration, recorded before or decided now; None when the run asks no more."""
    log = settings.run_log(run_id)
    if found := log.ask_of(key):
        return _handed_on(found)
    if lanes.reason_to_end(run_id):
        return None
    for _ in range(STALE_RETRIES):
        with host_slot(run_id, f"{run_id}/suggest/{key}"):
            try:
                asked = _ask(run_id, lane, key)
                return _handed_on(asked) if asked else None
            except StaleError:
                continue  # another lane asked meanwhile: its config is pending now
    raise PlatformError(f"suggest of {key}: {STALE_RETRIES} times another lane asked first. Lower [lanes] count.")


def _ask(run_id: str, lane: int, key: str) -> Ask | None:
    """Decide on the log as it is, and append the ask; None, and a stop in the log, when no more is expected of it."""
    scene = settings.scene(run_id)
    first = sentinel.sentinels(scene.log, scene.default_id)
    for config_id in [c for c, _ in judging.overdue(scene) if c in first]:
        exclusion.settle(settings.store(), run_id, only=config_id)  # no lane asks for it
        scene = settings.scene(run_id)
    chosen = recorded.campaign(settings.store().run(run_id))
    decision = replay.decide(scene, settings.optimizer(chosen), lane=lane)
    if decision.is_new and (reason := expectation.reason_to_stop(scene)) is not None:
        settings.run_log(run_id).append_note(expectation.note(scene, reason), key="rule")
        return None
    ask = Ask(
        index=len(scene.log.facts(Ask)),
        key=key,
        lane=lane,
        config_id=decision.config.id,
        rung=decision.rung,
        bracket=decision.bracket,
        read_n=scene.log.last_n,
        inputs_digest=decision.inputs_digest,
        repeat=decision.repeat,
    )
    return settings.run_log(run_id).append_ask(ask, dict(decision.config))


def _handed_on(ask: Ask) -> dict[str, Any]:
    return {"config": ask.config_id, "rung": ask.rung, "index": ask.index}


def pick_nodes(run_id: str, ask: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one slot per sample that the trial still lacks, each with its eligible nodes (TUNA §5.1)."""
    scene = settings.scene(run_id)
    slots, _ = _open_slots(scene, run_id, ask)
    wanted = [
        campaign_tasks.slot(run_id, ask["config"], Purpose.TUNE, s.index, list(s.nodes), s.repeat)
        | {"failed": s.failed}
        for s in slots
    ]
    return fitness.sentinels(run_id, scene, ask["index"]) + wanted


def _open_slots(scene: Scene, run_id: str, ask: dict[str, Any]) -> tuple[list[replay.Slot], bool]:
    tuning = [r.name for r in settings.store().nodes(run_id) if r.role == "tuning"]
    return replay.open_slots(scene, ask["config"], ask["rung"], tuning)


def detect_outliers(run_id: str, ask: dict[str, Any]) -> dict[str, Any]:
    """Return the verdict of failures and detector, and the number of the last event that it and the next tasks read."""
    scene = settings.scene(run_id)
    if (old := resampling.answer_to(scene.log, ask["index"])) is not None:
        scene = settings.scene(run_id, until=old.read_n)
    is_full = judging.is_full(scene, ask["config"], ask["rung"])
    is_capped = False
    if not is_full:
        slots, is_capped = _open_slots(scene, run_id, ask)
        if slots or not scene.log.trial(ask["config"]).filled:
            raise PlatformError(
                f"trial {ask['config']}: {len(slots)} sample(s) are missing. The next iteration takes them."
            )
    stability, found, reasons = judging.detect(scene, ask["config"], ask["rung"])
    return {
        "stability": stability.value,
        "relative_range": found,
        "reasons": reasons,
        "read_n": scene.log.last_n,
        "is_capped": is_capped,
    }


def adjust_noise(run_id: str, ask: dict[str, Any], detected: dict[str, Any]) -> dict[str, Any]:
    """Return node -> adjusted value, by a model of the trials judged before (predict before fit)."""
    scene = settings.scene(run_id, until=detected["read_n"], telemetry=True)
    with host_slot(run_id, f"{run_id}/adjust/{ask['index']}"):
        values, reasons = judging.adjust(scene, ask["config"], ask["rung"], Stability(detected["stability"]))
    return {"values": values, "reasons": reasons}


def aggregate(run_id: str, detected: dict[str, Any], adjusted: dict[str, Any]) -> dict[str, Any]:
    """Return the one score of the trial at its rung."""
    scene = settings.scene(run_id, until=detected["read_n"])
    score, reasons = judging.score(scene, Stability(detected["stability"]), adjusted["values"])
    return {"score": score, "reasons": reasons}


def report(
    run_id: str, ask: dict[str, Any], detected: dict[str, Any], adjusted: dict[str, Any], scored: dict[str, Any]
) -> dict[str, Any]:
    """Tell the optimizer: append the judgement once, and return the run's progress."""
    scene = settings.scene(run_id, until=detected["read_n"])
    config_id, rung = ask["config"], ask["rung"]
    capped = [judging.cap(scene, config_id, rung)] if detected["is_capped"] else []
    settings.run_log(run_id).append_judgement(
        Judgement(
            config_id=config_id,
            rung=rung,
            stability=Stability(detected["stability"]),
            relative_range=detected["relative_range"],
            raw={s.node: s.value(scene.metric) for s in judging.answers(scene, config_id, rung)[0]},
            adjusted=adjusted["values"],
            score=scored["score"],
            reasons=(*detected["reasons"], *adjusted["reasons"], *scored["reasons"], *capped),
            read_n=detected["read_n"],
            is_capped=detected["is_capped"],
            revision=judging.revision(scene, config_id, rung),
        )
    )
    return progress.of(run_id, "tune")
