"""Exclusion: samples that must not count, and configs that are to be measured again.

Both are notes in the run's log, and both can leave a rung without a judgement that counts (`counting.py`). While the
run goes on its lanes take the missing samples first, as they do for every unfinished rung. When nobody watches the run
any more, `settle` judges by what is left.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace

from albacore import earlier, judging, recorded, replay, stopping, unjudged
from albacore.counting import Exclusion
from albacore.errors import UserError
from albacore.fact import EXCLUDE, INCLUDE, REQUEUE, Note
from albacore.runs.action import has_ended, named, one_line
from albacore.sample import Failure, Sample
from albacore.store import Store
from albacore.store.leases import Leases, run_resource
from albacore.store.run_log import RunLog
from albacore.trial import Log

Turn = Callable[[], AbstractContextManager[None]]
LAPSED = "the run ended before it was measured again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What a node measured in a span of time.

    Attributes:
        since, until: Seconds since the epoch, both included; compared with the start of a sample.
    """

    node: str
    since: float
    until: float

    def __post_init__(self) -> None:
        for name, value in (("since", self.since), ("until", self.until)):
            if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
                raise UserError(f"{name}: expected seconds since the epoch, got {value!r:.60}. Correct it.")
        if not isinstance(self.node, str):
            raise UserError(f"node: expected its name, got {self.node!r:.60}. Correct it.")
        if self.since > self.until:
            raise UserError(
                f"since: expected a time that has come and is not after until, got {self.since:.0f} to "
                f"{self.until:.0f}. Correct them."
            )


def exclude(store: Store, run_id: str, span: Span, *, by: str, reason: str = "") -> str:
    """Leave samples out (`leave_out`), and judge by what is left when nobody watches the run; return the id."""
    name = leave_out(store, run_id, span, by=by, reason=reason)
    settle_unwatched(store, run_id)
    return name


def undo_exclude(store: Store, run_id: str, *, by: str, exclusion: str) -> None:
    """Take an exclusion back (`take_back`), and judge what is to be judged when nobody watches the run."""
    take_back(store, run_id, by=by, exclusion=exclusion)
    settle_unwatched(store, run_id)


def leave_out(store: Store, run_id: str, span: Span, *, by: str, reason: str = "") -> str:
    """Let the samples of a node that started in a span of time count no more; return the exclusion's id.

    What is measured later than now is never excluded: a later `until` is cut. Nothing is judged here, so this takes no
    longer than reading the log.

    Raises:
        UserError: No sample of this node started then, or an argument is not what it should be.
    """
    log = RunLog(store, store.run(run_id).id).read()
    span = replace(span, until=min(span.until, store.clock()))
    said: dict[str, object] = {**asdict(span), "by": named(by), "reason": one_line("reason", reason)}
    _must_hit(log, run_id, span)
    same = [x for x in log.exclusions if x.undone_n is None and _span_of(x) == span]
    if same:
        return same[0].id
    name = _id("x", run_id, log.last_n, said)
    RunLog(store, run_id).append_note(Note(kind=EXCLUDE, body={"id": name, **said}), key=name)
    return name


def take_back(store: Store, run_id: str, *, by: str, exclusion: str) -> None:
    """Take an exclusion back: later decisions are those of a log without it. One that is taken back stays so.

    Raises:
        UserError: The run has no exclusion of this id.
    """
    log = RunLog(store, store.run(run_id).id).read()
    known = {x.id: x for x in log.exclusions}
    if exclusion not in known:
        in_force = ", ".join(x.id for x in known.values() if x.undone_n is None) or "none"
        raise UserError(
            f"undo of {run_id}: expected the id of an exclusion, got {str(exclusion)!r:.60}. In force: {in_force}."
        )
    body = {"id": exclusion, "by": named(by)}
    RunLog(store, run_id).append_note(Note(kind=INCLUDE, body=body), key=exclusion)


def requeue(store: Store, run_id: str, *, by: str, config_id: str, reason: str = "") -> None:
    """Have a config measured again: the slots of its rungs are asked for anew, its old samples stay in the log.

    Raises:
        UserError: The run asks no more, or the config is not one that its lanes can measure again now.
    """
    run = store.run(run_id)
    scene = recorded.scene(store, run)
    if why := _cannot_requeue(store, run_id, scene, config_id):
        raise UserError(f"requeue {str(config_id)!r:.60} of {run_id}: {why}")
    said = {"config": config_id, "by": named(by), "reason": one_line("reason", reason)}
    name = _id("r", run_id, scene.log.last_n, said)
    RunLog(store, run_id).append_note(Note(kind=REQUEUE, body={"id": name, **said}), key=name)


def _cannot_requeue(store: Store, run_id: str, scene: replay.Scene, config_id: str) -> str | None:
    """Return why a config cannot be measured again now: what was expected, and the remedy."""
    if has_ended(scene.log):
        return "expected a run that goes on, this one has its verdict. Extend it first: that re-opens it."
    elapsed_s = stopping.elapsed_s(scene.log, now=store.clock(), opened_at=store.run(run_id).opened_at)
    if (stopped := stopping.stop_reason(scene, elapsed_s=elapsed_s)) is not None:
        return f"expected a run that asks on, this one does not ({stopped}). Extend it first."
    if config_id == scene.default_id:
        return "the default is measured when a run opens, not by its lanes. Start another run."
    asks = [a for a in scene.log.facts(replay.Ask) if a.config_id == config_id]
    if not asks:
        return "expected a config that this run has asked for. 'albacore show' lists them."
    lost = unjudged.lost(scene.log)
    mine = [a for a in unjudged.open_asks(scene.log) if a.config_id == config_id]
    running = [a for a in mine if (a.config_id, a.rung, a.repeat) not in lost]
    if running:
        return f"it is being measured, or waits for it, at rung {running[0].rung}. Wait for its judgement."
    return None


def settle(store: Store, run_id: str, *, only: str | None = None, turn: Turn = nullcontext) -> int:
    """Judge again, by the samples that are left, every rung whose judgement does not count any more.

    A config that was to be measured again and was not gets its old samples back. Ended half-way, it goes on where it
    was when it is called again: what is due follows from the log.

    Args:
        store: Where the run is.
        run_id: The run; it asks no more, unless `only` names its default config.
        only: Judge the rungs of this config alone.
        turn: Entered for each judgement: whoever shares its machine with samples waits there for a slot.

    Returns:
        How many judgements were written.
    """
    writes, run, done = RunLog(store, run_id), store.run(run_id), set()
    if only is None:
        _lapse(writes)
    log = writes.read(telemetry=True)
    known, taught = recorded.configs(store, run), earlier.readings(log, store.archive)
    while True:
        scene = recorded.scene_of(run, log, known, taught)
        due = [key for key in judging.overdue(scene) if key not in done and only in (None, key[0])]
        if not due:
            return len(done)
        with turn():
            writes.append_judgement(judging.rejudge(scene, *due[0]))
        done.add(due[0])
        log = Log((*log.events, *writes.read(telemetry=True, after=log.last_n).events))


def _lapse(log: RunLog) -> None:
    """Take back the re-queues that led to no sample."""
    found = log.read()
    for again in found.requeues:
        if again.undone_n is None and not found.trial(again.config_id).filled:
            log.append_note(Note(kind=INCLUDE, body={"id": again.id, "reason": LAPSED}), key=again.id)


def settle_unwatched(store: Store, run_id: str, *, turn: Turn = nullcontext) -> None:
    """Judge by what is left when no lane of the run will; see `settle`."""
    if store.run(run_id).space is not None and Leases(store).holder(run_resource(run_id)) is None:
        settle(store, run_id, turn=turn)


def _span_of(found: Exclusion) -> Span:
    return Span(node=found.node, since=found.since, until=found.until)


def _must_hit(log: Log, run_id: str, span: Span) -> None:
    """Raise unless a sample of the node started in the span, or a failure that was its config's own."""
    answers = [*log.recorded(Sample), *(f for f in log.recorded(Failure) if f.blame.is_told)]
    starts = [answer.started_at for answer in answers if answer.node == span.node]
    if any(span.since <= start <= span.until for start in starts):
        return
    nodes = ", ".join(sorted({answer.node for answer in answers})) or "none"
    spread = f"its samples started from {min(starts):.0f} to {max(starts):.0f}" if starts else ""
    has = spread or f"nodes with samples: {nodes}"
    raise UserError(
        f"exclude {run_id}: expected a node and a time with samples of it, got {span.node!r:.60} from "
        f"{span.since:.0f} to {span.until:.0f}; {has}. Correct node or times (seconds since the epoch)."
    )


def _id(letter: str, run_id: str, n: int, said: Mapping[str, object]) -> str:
    """Return the id of an act: the same for the same words said of the same log."""
    words = json.dumps([run_id, n, said], sort_keys=True)
    return letter + hashlib.sha256(words.encode()).hexdigest()[:8]
