"""Nodes: what each node does to figures, how that moves over time, and which nodes are quarantined and why.

| symbol | meaning |
|---|---|
| p | a sample of a stable config measured on `LEAST_NODES` nodes or more |
| m | mean of that config's samples; those of the default as a sentinel are compared with it and are no part of it |
| d | p/m - 1: how far the node's figure is from what the config does on average |
| effect | mean of d over a node's samples, with a 95 % interval of the normal distribution |
"""

import statistics
from typing import Any

from albacore import replay, resampling
from albacore.charts import rounded
from albacore.charts.book import Book
from albacore.counting import Exclusion, exclusions
from albacore.fact import READMIT, STILL_OUT, Event, Note
from albacore.replay import Scene
from albacore.sample import Blame, Failure, Purpose, Sample
from albacore.trial import Stability

LEAST_NODES = 3
"""With two nodes the deviations of a config are one number with two signs."""
WINDOW = 7
"""Samples in the running median."""
Z95 = 1.96
EVIDENCE = 20
"""Failures that are shown of one node, the latest."""
FACTS = ("cores", "ram_bytes", "cpu_model", "kernel", "disk", "sku", "virtualisation", "steal_percent")


def page(book: Book) -> dict[str, Any]:
    """Return the fleet with effect, drift and failures per node."""
    scene = book.scene
    if scene is None:
        return {"nodes": [_identity(r) for r in book.nodes], "drift": {}, "configs": 0, "exclusions": []}
    deviations, configs = _deviations(book, scene)
    lost = replay.quarantined(scene.log)
    seen = {record.name: record for record in book.nodes}
    names = sorted(seen or {s.node for s in scene.log.facts(Sample)}, key=_number)
    samples, failures = _by_node(scene)
    looks = _looks(scene)
    rows = []
    for name in names:
        points = deviations.get(name, [])
        rows.append(
            {
                **(_identity(seen[name]) if name in seen else {"node": name, "host": "", "role": "", "facts": {}}),
                **_effect([d for _, _, d in points]),
                "samples": samples.get(name, 0),
                "failures": len(failures.get(name, ())),
                "node_failures": sum(f.blame is Blame.NODE for f in failures.get(name, ())),
                "is_quarantined": name in lost,
                "evidence": [_evidence(book, f) for f in failures.get(name, [])[-EVIDENCE:]],
                "looks": [_looked(book, e) for e in looks.get(name, [])[-EVIDENCE:]],
            }
        )
    return {
        "nodes": rows,
        "drift": {name: _drift(points) for name, points in deviations.items()},
        "configs": configs,
        "quarantine_after": resampling.QUARANTINE_AFTER,
        "exclusions": [_exclusion(scene, found) for found in exclusions(book.events)],
    }


def _number(name: str) -> tuple[str, int]:
    """Return what sorts n2 before n10."""
    digits = name[len(name.rstrip("0123456789")) :]
    return name.rstrip("0123456789"), int(digits or 0)


def _identity(record: Any) -> dict[str, Any]:
    facts = {name: record.facts[name] for name in FACTS if name in record.facts}
    return {"node": record.name, "host": record.host, "role": record.role, "facts": facts}


def _by_node(scene: Scene) -> tuple[dict[str, int], dict[str, list[Failure]]]:
    """Return samples and failures per node, the validation's included."""
    samples: dict[str, int] = {}
    failures: dict[str, list[Failure]] = {}
    for event in scene.log.events:
        fact = event.fact
        if isinstance(fact, Sample):
            samples[fact.node] = samples.get(fact.node, 0) + 1
        elif isinstance(fact, Failure) and fact.node:
            failures.setdefault(fact.node, []).append(fact)
    return samples, failures


def _looks(scene: Scene) -> dict[str, list[Event]]:
    """Return node -> the notes of those who looked at it in quarantine."""
    found: dict[str, list[Event]] = {}
    for event in scene.log.events:
        if isinstance(event.fact, Note) and event.fact.kind in (READMIT, STILL_OUT):
            found.setdefault(str(event.fact.body.get("node")), []).append(event)
    return found


def _looked(book: Book, event: Event) -> dict[str, Any]:
    note = event.fact
    is_back = isinstance(note, Note) and note.kind == READMIT
    why = note.body.get("why") if isinstance(note, Note) else ""
    return {"hours": book.hours(event.at), "at": event.at, "is_readmitted": is_back, "why": str(why)}


def _deviations(book: Book, scene: Scene) -> tuple[dict[str, list[tuple[float, str, float]]], int]:
    """Return node -> (hours, config, d) in the order of time, and how many configs they are from."""
    found: dict[str, list[tuple[float, str, float]]] = {}
    configs = 0
    for trial in book.trials.values():
        own = [s for s in trial.samples if scene.metric in s.metrics and s.purpose.is_tuning]
        if len(own) < LEAST_NODES or trial.top is None or trial.top.stability is not Stability.STABLE:
            continue
        m = statistics.fmean(s.value(scene.metric) for s in own)
        if m == 0:
            continue
        configs += 1
        again = scene.log.samples(trial.config_id, Purpose.SENTINEL) if trial.config_id == book.default_id else []
        for s in [*own, *(s for s in again if scene.metric in s.metrics)]:
            point = (book.hours(s.started_at), book.name(trial.config_id), s.value(scene.metric) / m - 1)
            found.setdefault(s.node, []).append(point)
    return {node: sorted(found[node]) for node in sorted(found, key=_number)}, configs


def _effect(d: list[float]) -> dict[str, Any]:
    """Return a node's effect with its interval; None without samples, no interval with one."""
    if not d:
        return {"effect": None, "low": None, "high": None, "deviations": 0}
    mean = statistics.fmean(d)
    half = Z95 * statistics.stdev(d) / len(d) ** 0.5 if len(d) > 1 else None
    return {
        "effect": mean,
        "low": None if half is None else mean - half,
        "high": None if half is None else mean + half,
        "deviations": len(d),
    }


def _drift(points: list[tuple[float, str, float]]) -> dict[str, Any]:
    """Return a node's deviations over time and their running median."""
    d = [p[2] for p in points]
    medians = [statistics.median(d[max(0, i - WINDOW + 1) : i + 1]) for i in range(len(d))]
    return {
        "hours": rounded(p[0] for p in points),
        "config": [p[1] for p in points],
        "deviation": rounded(d),
        "median": rounded(medians),
    }


def _evidence(book: Book, failure: Failure) -> dict[str, Any]:
    return {
        "hours": book.hours(failure.started_at),
        "started_at": failure.started_at,
        "config": book.name(failure.config_id),
        "blame": failure.blame.value,
        "message": failure.message,
        "log": failure.log,
    }


def _exclusion(scene: Scene, found: Exclusion) -> dict[str, Any]:
    """Return an exclusion with how many samples it hits."""
    return {
        "id": found.id,
        "node": found.node,
        "since": found.since,
        "until": found.until,
        "by": found.by,
        "reason": found.reason,
        "is_in_force": found.undone_n is None,
        "samples": sum(found.hits(sample) for sample in scene.log.recorded(Sample)),
    }
