"""Audit: whether a campaign run's log is whole, and gives every ask and every judgement again, bit for bit.

Every decision is a pure function of the log (`replay.py`), so a run can be checked by anybody who has the store:
in another process, on another day, without a node.
"""

import dataclasses
from collections.abc import Iterator, Mapping

from albacore import expectation, judging, recorded, replay
from albacore.nightly import nights
from albacore.optimizers import Optimizer
from albacore.replay import Scene
from albacore.stopping import STOP
from albacore.store import Store
from albacore.trial import Ask, Judgement, Note
from albacore.verdict import VERSION, Terms, concluding, validation
from albacore.verdict.validation import Plan

ELSEWHERE = ""
"""Digest of the inputs of an ask that was imported: nobody here can decide it again."""


def faults(store: Store, run_id: str) -> Iterator[str]:
    """Yield one line for everything that is wrong with a run's log; nothing when all of it replays."""
    run = store.run(run_id)
    scene = recorded.scene(store, run, telemetry=True)
    yield from _numbers([event.n for event in scene.log.events])
    chosen = recorded.campaign(run)
    for ask in scene.log.facts(Ask):
        if ask.inputs_digest == ELSEWHERE:
            continue
        yield from _ask(_as_of(scene, ask.read_n), ask, chosen.optimizer_of())
    for judgement in scene.log.recorded(Judgement):
        yield from _judgement(_as_of(scene, judgement.read_n), judgement)
    for note in scene.log.notes(nights.DRIFT):
        if nights.again(note) != nights.findings(scene.log):
            yield "drift: its own nights give other findings. The library or the store has changed."
    for note in scene.log.notes(STOP):
        if note.body.get("rule"):
            yield from _rule(scene, note)
    for plan in validation.plans_of(scene.log):
        yield from _plan(scene, plan, recorded.campaign(run).validation.contenders)
    for note in scene.log.notes("verdict"):
        yield from _verdict(scene, note, recorded.terms(run))


def audit(store: Store, run_id: str) -> Iterator[str]:
    """Yield what was audited, in one line."""
    log = recorded.scene(store, store.run(run_id)).log
    asks, judgements = log.facts(Ask), len(log.recorded(Judgement))
    yield f"audited {run_id}: {log.last_n} events, {len(asks)} asks, {judgements} judgements"
    if elsewhere := sum(ask.inputs_digest == ELSEWHERE for ask in asks):
        yield f"{elsewhere} ask(s) were decided by another tuner and are taken as recorded"


def _as_of(scene: Scene, n: int) -> Scene:
    return dataclasses.replace(scene, log=scene.log.until(n))


def _numbers(numbers: list[int]) -> Iterator[str]:
    """Yield a line unless the events are numbered from 1 without gaps."""
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"events: expected the numbers 1 to {len(numbers)}, got {numbers}. The store was edited by hand."


def _ask(scene: Scene, ask: Ask, optimizer: Optimizer) -> Iterator[str]:
    """Yield the first field in which a recorded ask differs from the one that the log gives."""
    decision = replay.decide(scene, optimizer, lane=ask.lane)
    again = {
        "index": len(scene.log.facts(Ask)),
        "inputs_digest": decision.inputs_digest,
        "config_id": decision.config.id,
        "rung": decision.rung,
        "bracket": decision.bracket,
        "repeat": decision.repeat,
    }
    yield from _differs(f"ask {ask.index}", {name: getattr(ask, name) for name in again}, again)


def _judgement(scene: Scene, found: Judgement) -> Iterator[str]:
    """Yield the first field in which a recorded judgement differs from the one that the log gives."""
    again = judging.judge(scene, found.config_id, found.rung, is_capped=found.is_capped)
    fields = [field.name for field in dataclasses.fields(found)]
    yield from _differs(
        f"judgement of {found.config_id} at rung {found.rung}",
        {name: getattr(found, name) for name in fields},
        {name: getattr(again, name) for name in fields},
    )


def _plan(scene: Scene, plan: Plan, count: int) -> Iterator[str]:
    """Yield the first field in which a recorded plan differs; the incumbent is of other runs, and taken as it is."""
    left = (plan.previous, plan.previous_run or "") if plan.previous else None
    again = validation.plan(
        _as_of(scene, plan.read_n),
        nodes=plan.nodes,
        repeats=plan.repeats,
        count=count,
        has_veto=plan.has_veto,
        incumbent=left,
    )
    again = dataclasses.replace(again, skipped=plan.skipped)
    yield from _differs(f"validation of round {plan.round}", dataclasses.asdict(plan), dataclasses.asdict(again))


def _verdict(scene: Scene, note: Note, terms: Terms) -> Iterator[str]:
    """Yield the first field in which a recorded verdict differs; the first shape did not say what it had read."""
    if note.body.get("version") != VERSION:
        return
    again = concluding.conclude(_as_of(scene, int(str(note.body["read_n"]))), terms).body()
    yield from _differs(f"verdict of round {note.body['round']}", {name: note.body.get(name) for name in again}, again)


def _rule(scene: Scene, note: Note) -> Iterator[str]:
    """Yield a line when the log that a stop rule read gives another reason, or none."""
    then = _as_of(scene, int(str(note.body["read_n"])))
    again = {"reason": expectation.reason_to_stop(then)}
    yield from _differs("stop by rule", {"reason": note.body["reason"]}, again)


def _differs(what: str, recorded: Mapping[str, object], again: Mapping[str, object]) -> Iterator[str]:
    """Yield a line for the first name whose two values differ."""
    for name, value in recorded.items():
        if value != again[name]:
            yield f"{what}: {name}: recorded {value!r}, replayed {again[name]!r}. The library or the store has changed."
            return
