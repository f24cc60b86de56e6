"""Explanation: why a trial's score is what it is, as text: samples, verdict, adjustments, aggregate (TUNA §5.2).

Everything is read off the log, what does not count any more included. The text is for people: knob values, messages
and reasons in it come from files, nodes and users, so a page has to escape it.
"""

from collections.abc import Iterator

from albacore import ledger, unjudged
from albacore.fact import EXCLUDE, INCLUDE, REQUEUE, Event, Note
from albacore.replay import Scene, incumbent
from albacore.runs import plans
from albacore.sample import Blame, Failure, Sample
from albacore.sentinel import taken_over
from albacore.trial import Judgement, Stability

GONE = "does not count any more"


def explain(scene: Scene, config_id: str) -> list[str]:
    """Return lines that say why a config's score is what it is; indented by two blanks per level.

    Args:
        scene: The campaign run.
        config_id: A config of it; one that was never asked for has no samples and says so.
    """
    return [
        _title(scene, config_id),
        *_knobs(scene, config_id),
        *(f"  {line}" for line in _answers(scene, config_id)),
        *(f"  {line}" for line in _acts(scene, config_id)),
        *(f"  {line}" for line in _judgements(scene, config_id)),
        *(f"  {line}" for line in _plans(scene, config_id)),
        *(f"  {line}" for line in _open(scene, config_id)),
    ]


def _title(scene: Scene, config_id: str) -> str:
    chosen = incumbent(scene)
    kind = "default config" if config_id == scene.default_id else "config"
    best = " (best)" if chosen is not None and config_id == chosen.config_id else ""
    price = scene.price_per_hour
    paid = "" if price is None else f", cost {ledger.money(ledger.of_config(scene.log, config_id), price):.4f}"
    return f"{kind} {config_id}{best}{_origin(scene, config_id)}{paid}"


def _origin(scene: Scene, config_id: str) -> str:
    """Return where a config comes from when it was taken over, else nothing."""
    for one in taken_over(scene.log):
        if one.config_id == config_id:
            return f", {'incumbent, ' if one.is_incumbent else ''}warm start from run {one.run_id}"
    return ""


def _knobs(scene: Scene, config_id: str) -> Iterator[str]:
    """Yield the knobs that differ from the default."""
    config = scene.configs.get(config_id)
    if config is not None:
        text = scene.space.text(config)
        for knob in scene.space.difference(scene.space.default(), config):
            yield f"    {knob.name} = {text[knob.name]}"


def _answers(scene: Scene, config_id: str) -> Iterator[str]:
    """Yield every sample and failure in its order, and why one of them does not count."""
    found = [e for e in scene.log.events if getattr(e.fact, "config_id", None) == config_id]
    measured = [e for e in found if isinstance(e.fact, Sample | Failure) and e.fact.purpose.is_tuning]
    for event in measured:
        if isinstance(event.fact, Sample):
            sample = event.fact
            again = f", repeat {sample.repeat}" if sample.repeat else ""
            figure = f"{sample.value(scene.metric):.6g} {unit_of(sample, scene.metric)}"
            took = f"{sample.duration_s:.1f} s{_paid(scene, sample)}"
            yield f"{sample.node}: {figure} in {took}{again}{gone(scene, event)}"
        elif isinstance(event.fact, Failure):
            failure = event.fact
            told = "told" if failure.blame is Blame.CONFIG else "not told"
            yield f"{failure.node}: {failure.blame} ({told}): {failure.message}{gone(scene, event)}"
    if not measured:
        yield "no sample yet"


def _paid(scene: Scene, sample: Sample) -> str:
    """Return what a sample cost when a node's hour has a price."""
    price = scene.price_per_hour
    return "" if price is None else f", cost {ledger.money(sample.duration_s, price):.4f}"


def unit_of(sample: Sample, metric: str) -> str:
    """Return the unit of a sample's figure."""
    return sample.metrics[metric].unit


def gone(scene: Scene, event: Event) -> str:
    """Return why a sample or failure does not count, as the end of its line; "" when it does."""
    if event.n not in scene.log.void or not isinstance(event.fact, Sample | Failure):
        return ""
    hits = [x for x in scene.log.exclusions if x.undone_n is None and x.hits(event.fact)]
    if hits:
        why = f"excluded as {hits[0].id} by {hits[0].by}" + (f" ({hits[0].reason})" if hits[0].reason else "")
    elif any(r.config_id == event.fact.config_id and r.n > event.n and r.undone_n is None for r in scene.log.requeues):
        why = "measured again after it"
    else:
        why = "it replaced one that counts again"
    return f" [{GONE}: {why}]"


def _acts(scene: Scene, config_id: str) -> Iterator[str]:
    """Yield what people did to this config's samples."""
    own = [f for f in scene.log.recorded(Sample) if f.config_id == config_id]
    hit = {x.id for x in scene.log.exclusions if any(x.hits(sample) for sample in own)}
    again = {r.id for r in scene.log.requeues if r.config_id == config_id}
    words = {EXCLUDE: "samples excluded", REQUEUE: "to be measured again", INCLUDE: "taken back"}
    for event in scene.log.events:
        if isinstance(event.fact, Note) and event.fact.kind in words:
            body = event.fact.body
            if body.get("id") in hit | again:
                by, reason = body.get("by", "Albacore"), body.get("reason")
                yield f"event {event.n}: {words[event.fact.kind]} ({body['id']}) by {by}" + (
                    f": {reason}" if reason else ""
                )


def _judgements(scene: Scene, config_id: str) -> Iterator[str]:
    """Yield every judgement, step by step."""
    for event in scene.log.events:
        if isinstance(event.fact, Judgement) and event.fact.config_id == config_id:
            yield from _judgement(scene, event.n, event.fact)


def _judgement(scene: Scene, n: int, j: Judgement) -> Iterator[str]:
    """Yield one judgement: verdict of the detector, adjustment of each node's figure, score, and the reasons."""
    rungs, unit = scene.policy.ladder.rungs, _unit(scene, j.config_id)
    nodes = rungs[min(j.rung, len(rungs) - 1)]
    score = "nothing" if j.score is None else f"{j.score:.6g} {unit}".rstrip()
    state = f" [{GONE}]" if n in scene.log.void else ""
    yield f"rung of {nodes} node(s): {j.stability}, told {score}{state}"
    yield from (f"  because {reason}" for reason in j.reasons)
    yield from (f"  {line}" for line in _adjusted(j, unit))


def _plans(scene: Scene, config_id: str) -> list[str]:
    """Return which plans differ between the nodes of an unstable config."""
    trial = scene.log.trial(config_id)
    is_unstable = any(j.stability is Stability.UNSTABLE for j in trial.judgements)
    return plans.said(trial.samples) if is_unstable else []


def _adjusted(j: Judgement, unit: str) -> Iterator[str]:
    """Yield what the adjuster made of each node's figure; of values that it did not move, one line for all."""
    moved = {node: value for node, value in j.raw.items() if j.adjusted.get(node, value) != value}
    for node, value in moved.items():
        after = j.adjusted[node]
        change = f", {after / value - 1:+.1%}" if value else ""
        yield f"adjusted on {node}: {value:.6g} to {after:.6g} {unit}{change}".rstrip()
    still = [f"{node} {value:.6g}" for node, value in j.raw.items() if node not in moved]
    if still and j.stability is not Stability.FAILED:
        yield f"as measured: {', '.join(still)} {unit}".rstrip()


def _unit(scene: Scene, config_id: str) -> str:
    own = (s for s in scene.log.recorded(Sample) if s.config_id == config_id and scene.metric in s.metrics)
    first = next(own, None)
    return unit_of(first, scene.metric) if first is not None else ""


def _open(scene: Scene, config_id: str) -> Iterator[str]:
    """Yield the rungs that wait for samples, and those that were given up."""
    lost = unjudged.given_up(scene.log)
    taken_over = {(a.config_id, a.rung) for a in unjudged.abandoned(scene.log, lane=-1)}
    for ask in unjudged.open_asks(scene.log):
        if ask.config_id == config_id:
            nodes = scene.policy.ladder.rungs[ask.rung]
            key = ask.config_id, ask.rung
            state = "waits for a lane" if key in taken_over else "is measured"
            said = "was asked for often enough without a judgement: given up" if key in lost else state
            yield f"rung of {nodes} node(s): {said}"
