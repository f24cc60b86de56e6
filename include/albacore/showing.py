"""Showing: what `albacore show` prints of a campaign run, and why each score is what it is."""

from collections.abc import Iterator

from albacore import nights, recorded, stopping
from albacore.replay import Scene, incumbent
from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.sentinel import WARM_START, taken_over
from albacore.store import Store
from albacore.store.run_log import RunLog
from albacore.trial import Judgement, Trial


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
    """Yield the run's trials in the order they were asked for, each with its samples, its failures and its reasons."""
    run = store.run(run_id)
    yield f"campaign run {run.id}, benchmark {run.benchmark_digest[:12]}, library {run.library}"
    if run.space is None:
        yield "its nodes are not provisioned yet"
        return
    scene = recorded.scene(store, run)
    yield from _warm_start(scene)
    yield from (finding.sentence for finding in nights.findings(scene.log))
    unit = run.benchmark["workload"]["unit"]
    best = incumbent(scene)
    for config_id in dict.fromkeys(f.config_id for f in _facts(scene)):
        yield from _trial(
            scene, scene.log.trial(config_id), unit, is_best=best is not None and config_id == best.config_id
        )
    yield from _validation(scene, unit)
    for note in scene.log.notes("verdict"):
        yield f"verdict: {note.body.get('sentence')}"


def _warm_start(scene: Scene) -> Iterator[str]:
    """Yield what the run took over from earlier runs, and what it could not take over."""
    for note in scene.log.notes(WARM_START)[:1]:
        found = taken_over(scene.log)
        runs = ", ".join(dict.fromkeys(one.run_id for one in found))
        yield f"warm start from {runs}: {len(found)} config(s)" if found else "warm start: no earlier run has a config"
        skipped = note.body.get("passed_over")
        yield from (f"  {line}" for line in (skipped if isinstance(skipped, list) else []))


def _origin(scene: Scene, config_id: str) -> str:
    """Return where a config comes from when it was taken over, else nothing."""
    for one in taken_over(scene.log):
        if one.config_id == config_id:
            return f", {'incumbent, ' if one.is_incumbent else ''}warm start from run {one.run_id}"
    return ""


def _facts(scene: Scene) -> list[Sample | Failure]:
    return [
        e.fact
        for e in scene.log.events
        if isinstance(e.fact, Sample | Failure) and e.fact.purpose is not Purpose.VALIDATE
    ]


def _trial(scene: Scene, trial: Trial, unit: str, *, is_best: bool) -> Iterator[str]:
    """Yield what is known of one config."""
    kind = "default config" if trial.config_id == scene.default_id else "config"
    yield f"{kind} {trial.config_id}{' (best)' if is_best else ''}{_origin(scene, trial.config_id)}"
    for knob in scene.space.difference(scene.space.default(), scene.configs[trial.config_id]):
        text = scene.space.text(scene.configs[trial.config_id])[knob.name]
        yield f"    {knob.name} = {text}"
    for s in trial.samples:
        yield f"  {s.node}: {s.value(scene.metric):.6g} {unit} in {s.duration_s:.1f} s"
    for f in trial.failures:
        told = "told" if f.blame is Blame.CONFIG else "not told"
        yield f"  {f.node}: {f.blame} ({told}): {f.message}"
    for j in trial.judgements:
        yield from _judgement(scene, j, unit)


def _judgement(scene: Scene, j: Judgement, unit: str) -> Iterator[str]:
    """Yield a judgement with its reasons, and whether the log gives it again."""
    nodes = scene.policy.ladder.rungs[j.rung]
    score = "nothing" if j.score is None else f"{j.score:.6g} {unit}"
    yield f"  rung of {nodes} node(s): {j.stability}, told {score}"
    for reason in j.reasons:
        yield f"    because {reason}"


def _validation(scene: Scene, unit: str) -> Iterator[str]:
    """Yield the samples on fresh nodes."""
    for s in scene.log.facts(Sample):
        if s.purpose is Purpose.VALIDATE:
            which = "default" if s.config_id == scene.default_id else s.config_id
            yield f"fresh node {s.node}, repeat {s.repeat}: {which}: {s.value(scene.metric):.6g} {unit}"
