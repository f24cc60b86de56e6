"""Showing: what `albacore show` prints of a campaign run."""

from collections.abc import Iterator

from albacore import earlier, ledger, recorded, stopping
from albacore.fact import EARLIER, REOPEN
from albacore.nightly import nights
from albacore.replay import Scene
from albacore.runs.explanation import explain, gone, unit_of
from albacore.sample import Failure, Purpose, Sample
from albacore.sentinel import WARM_START, taken_over
from albacore.store import Store
from albacore.store.run_log import RunLog
from albacore.trial import Ask, Note


def list_runs(store: Store) -> Iterator[str]:
    """Yield one line per campaign run of the store."""
    runs = store.runs()
    for run in runs:
        log = RunLog(store, run.id).read()
        verdicts = log.notes("verdict")
        said = verdicts[-1].body.get("sentence") if verdicts else "no verdict yet"
        yield f"{run.id}: {stopping.spent(log)} samples, {said}"
    if not runs:
        yield "no campaign run in this store yet"


def show_run(store: Store, run_id: str) -> Iterator[str]:
    """Yield the run's trials in the order they were asked for, and why the score of each is what it is."""
    run = store.run(run_id)
    yield f"campaign run {run.id}, benchmark {run.benchmark_digest[:12]}, library {run.library}"
    if run.space is None:
        yield "its nodes are not provisioned yet"
        return
    scene = recorded.scene(store, run, notes=True)
    yield from _cost(scene, recorded.campaign(run).nodes.price_source)
    yield from _warm_start(scene)
    yield from _earlier(scene)
    yield from (finding.sentence for finding in nights.findings(scene.log))
    yield from filter(None, [nights.advice(scene.log)])
    for config_id in _configs(scene):
        yield from explain(scene, config_id)
    yield from _validation(scene)
    yield from _acts(scene)
    for note in scene.log.notes("verdict"):
        yield f"verdict: {note.body.get('sentence')}"


def _cost(scene: Scene, source: str | None) -> Iterator[str]:
    """Yield what the run has cost, at which price, and who says so."""
    if (price := scene.price_per_hour) is None:
        return
    rented, measured = ledger.rented_s(scene.log), ledger.measured_s(scene.log)
    there = "" if rented is None else f" of {rented / 3600:.2f} that its nodes were there"
    yield (
        f"cost {stopping.cost(scene):.4f}: {measured / 3600:.2f} node-hours of measuring{there}, at {price:g} an hour"
        f"{f' ({source})' if source else ''}"
    )


def _warm_start(scene: Scene) -> Iterator[str]:
    """Yield what the run took over from earlier runs, and what it could not take over."""
    for note in scene.log.notes(WARM_START)[:1]:
        found = taken_over(scene.log)
        runs = ", ".join(dict.fromkeys(one.run_id for one in found))
        yield f"warm start from {runs}: {len(found)} config(s)" if found else "warm start: no earlier run has a config"
        skipped = note.body.get("passed_over")
        yield from (f"  {line}" for line in (skipped if isinstance(skipped, list) else []))


def _earlier(scene: Scene) -> Iterator[str]:
    """Yield from which readings of earlier runs the adjuster learns too, and what was not taken over."""
    found = earlier.taken(scene.log)
    if scene.log.notes(EARLIER) and not found:
        yield "adjuster: no earlier run has anything to learn from"
    for one in found:
        same = f"{len(one.machines)} of {one.nodes} nodes are the same machines"
        yield f"adjuster: {one.trials} trial(s), {one.samples} samples of run {one.run} to learn from; {same}"
    yield from (f"  {line}" for line in earlier.passed_over(scene.log))


def _configs(scene: Scene) -> list[str]:
    """Return the configs that were measured or asked for, in that order."""
    facts = [e.fact for e in scene.log.events if isinstance(e.fact, Ask | Sample | Failure)]
    tuned = [f.config_id for f in facts if isinstance(f, Ask) or f.purpose.is_tuning]
    return list(dict.fromkeys(tuned))


def _validation(scene: Scene) -> Iterator[str]:
    """Yield the samples on fresh nodes."""
    for event in scene.log.events:
        s = event.fact
        if isinstance(s, Sample) and s.purpose is Purpose.VALIDATE:
            which = "default" if s.config_id == scene.default_id else s.config_id
            figure = f"{s.value(scene.metric):.6g} {unit_of(s, scene.metric)}"
            yield f"fresh node {s.node}, repeat {s.repeat}: {which}: {figure}{gone(scene, event)}"


def _acts(scene: Scene) -> Iterator[str]:
    """Yield what people did to the run itself."""
    words = {stopping.STOP: "stopped", stopping.LIMITS: "limits changed", REOPEN: "re-opened"}
    for event in scene.log.events:
        if isinstance(event.fact, Note) and event.fact.kind in words:
            body = event.fact.body
            limits = [f"{body[name]:g} {name}" for name in stopping.BOUNDED if isinstance(body.get(name), int | float)]
            said = [str(body.get("said") or ""), ", ".join(limits)]
            what = "".join(f": {text}" for text in said if text)
            yield f"event {event.n}: {words[event.fact.kind]} by {body.get('by', 'nobody named')}{what}"
