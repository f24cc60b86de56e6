"""Trials: every config with its rung, verdict, score and reason; and one config in full."""

import statistics
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from albacore import replay, unjudged
from albacore.charts import finite, rounded
from albacore.charts.book import Book
from albacore.errors import UserError
from albacore.replay import Scene
from albacore.runs import plans
from albacore.sample import Failure, Sample
from albacore.trial import Ask, Judgement, Trial

LOG_TAIL = 4000
"""Characters of a failure's log that a page shows."""
Notes = Mapping[tuple[str, int, int], Mapping[str, Any]]
"""Purpose, slot and repeat of a sample -> what the workload noted beside it."""
NO_NOTES: Notes = MappingProxyType({})


def page(book: Book) -> dict[str, Any]:
    """Return a row per config, in the order in which they came up."""
    scene = book.scene
    if scene is None:
        return {"trials": [], "rungs": []}
    best = replay.incumbent(scene)
    running = {a.config_id for a in unjudged.open_asks(scene.log)}
    lost = {config_id for config_id, _ in unjudged.given_up(scene.log)}
    asked: dict[str, int] = {}
    for ask in scene.log.facts(Ask):
        asked.setdefault(ask.config_id, ask.index)
    rows = []
    for config_id, trial in book.trials.items():
        row = _row(book, scene, trial)
        row["index"] = asked.get(config_id)
        row["is_best"] = best is not None and best.config_id == config_id
        row["state"] = _state(trial, config_id in running, config_id in lost)
        rows.append(row)
    return {"trials": rows, "rungs": list(scene.policy.ladder.rungs)}


def _state(trial: Trial, is_running: bool, is_lost: bool) -> str:
    """Return the verdict of the highest rung, or why there is none; a trial that climbs says so."""
    if is_lost:
        return "given up"
    if is_running:
        return "running"
    return trial.top.stability.value if trial.top else "waiting"


def _row(book: Book, scene: Scene, trial: Trial) -> dict[str, Any]:
    """Return what the table shows of one config."""
    top, values = trial.top, _values(scene, trial)
    return {
        "config": trial.config_id,
        "is_default": trial.config_id == book.default_id,
        "rung": scene.policy.ladder.rungs[top.rung] if top else None,
        "verdict": top.stability.value if top else None,
        "score": finite(top.score) if top else None,
        "relative_range": finite(top.relative_range) if top else None,
        "samples": len(values),
        "mean": statistics.fmean(values) if values else None,
        "worst": scene.direction.worst(values) if values else None,
        "failures": len(trial.failures),
        "reason": _reason(trial),
        "is_capped": bool(top and top.is_capped),
    }


def _reason(trial: Trial) -> str:
    """Return the last word on a trial: the reasons of its last judgement, else its last failure."""
    if trial.top:
        return "; ".join(trial.top.reasons)
    return f"{trial.failures[-1].blame}: {trial.failures[-1].message}" if trial.failures else ""


def _values(scene: Scene, trial: Trial) -> list[float]:
    return [s.value(scene.metric) for s in trial.samples if scene.metric in s.metrics]


def one(book: Book, config_id: str, notes: Notes = NO_NOTES) -> dict[str, Any]:
    """Return one config in full: what differs from the default, its samples, its judgements with every reason.

    Args:
        book: The run.
        config_id: The config's.
        notes: What the workload noted beside its samples, as `RunLog.notes_of` returns it; a book has none.

    Raises:
        UserError: When the run has no such config.
    """
    scene = book.scene
    trial = book.trials.get(config_id)
    if scene is None or trial is None:
        raise UserError(f"trial: no config {config_id!r} in run {book.run.id}. Look it up in the table of trials.")
    return {
        "config": config_id,
        "is_default": config_id == book.default_id,
        "knobs": knob_differences(scene, config_id),
        "samples": [_sample(book, scene, s) for s in trial.samples],
        "plans": plans.said([replace(s, notes=_of(s, notes)) for s in trial.samples]),
        "failures": [_failure(book, f) for f in trial.failures],
        "judgements": [_judgement(scene, j) for j in trial.judgements],
    }


def _of(sample: Sample, notes: Notes) -> Mapping[str, Any]:
    return notes.get((sample.purpose.value, sample.slot, sample.repeat), sample.notes)


def knob_differences(scene: Scene, config_id: str) -> list[dict[str, Any]]:
    """Return the knobs in which a config differs from the default, in the system's own words."""
    default, config = scene.space.default(), scene.configs[config_id]
    was, now = scene.space.text(default), scene.space.text(config)
    return [
        {
            "name": k.name,
            "default": was[k.name],
            "value": now[k.name],
            "unit": k.unit,
            "doc": k.doc,
            "restart": k.restart,
            "safety": k.safety,
            "why": k.why,
        }
        for k in scene.space.difference(default, config)
    ]


def _sample(book: Book, scene: Scene, sample: Sample) -> dict[str, Any]:
    return {
        "node": sample.node,
        "value": sample.value(scene.metric) if scene.metric in sample.metrics else None,
        "started_at": sample.started_at,
        "hours": book.hours(sample.started_at),
        "duration_s": sample.duration_s,
        "metrics": {name: [m.value, m.unit] for name, m in sample.metrics.items()},
    }


def _failure(book: Book, failure: Failure) -> dict[str, Any]:
    return {
        "node": failure.node,
        "blame": failure.blame.value,
        "is_told": failure.blame.is_told,
        "message": failure.message,
        "log": failure.log[-LOG_TAIL:],
        "started_at": failure.started_at,
        "hours": book.hours(failure.started_at),
    }


def _judgement(scene: Scene, j: Judgement) -> dict[str, Any]:
    nodes = list(j.raw)
    return {
        "rung": scene.policy.ladder.rungs[j.rung],
        "stability": j.stability.value,
        "score": finite(j.score),
        "relative_range": finite(j.relative_range),
        "nodes": nodes,
        "raw": rounded(j.raw[n] for n in nodes),
        "adjusted": rounded(j.adjusted.get(n) for n in nodes),
        "reasons": list(j.reasons),
        "is_capped": j.is_capped,
    }
