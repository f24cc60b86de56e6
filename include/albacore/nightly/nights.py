"""Nights: what the sentinels of a campaign's runs showed, out of the store, and tonight's drift, written down once.

The note `drift` carries the nights that it was compared with, so what it says can be computed again from it alone.
"""

import dataclasses
import json
import math
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from albacore import recorded, sentinel
from albacore.nightly import drift
from albacore.nightly.drift import Finding, Night
from albacore.nightly.incumbent import is_live
from albacore.replay import Scene
from albacore.sample import Purpose, Sample
from albacore.store import CampaignRun, Store
from albacore.store.campaign_notes import notes
from albacore.store.run_log import RunLog
from albacore.trial import Direction, Log, Note

DRIFT = "drift"
"""Kind of the note that says what has moved."""
PREPARED = "prepared"
"""Kind of the note in which a prepared node says its software's versions and the speed of its probe."""
STEAL = "cpu_times_percent.steal.p50"
FACTS = ("kernel", "cpu_model", "cores", "ram_bytes", "os")


def note_drift(store: Store, run_id: str) -> Note:
    """Compare tonight's sentinels with earlier nights and write down what has moved, once."""
    run = store.run(run_id)
    earlier, tonight = history(store, run), of_run(store, run)
    body = {
        "findings": [dataclasses.asdict(finding) for finding in drift.examine(earlier, tonight)],
        "nights": [dataclasses.asdict(night) for night in earlier],
        "tonight": dataclasses.asdict(tonight),
        "advice": drift.advice(len(tonight.default)) if recorded.campaign(run).schedule else None,
    }
    return RunLog(store, run_id).append_note(Note(kind=DRIFT, body=json.loads(json.dumps(body))), key=DRIFT)


def history(store: Store, run: CampaignRun) -> list[Night]:
    """Return the last nights before a run: earlier live runs of its campaign whose sentinels were measured."""
    alike = [
        one
        for one in store.runs()
        if one.campaign == run.campaign
        and one.id != run.id
        and one.opened_at <= run.opened_at
        and one.space is not None
        and is_live(one)
        and one.benchmark["workload"]["metric"] == run.benchmark["workload"]["metric"]
    ]
    noted = notes(store, run.campaign, DRIFT)
    nights = [_noted(noted.get(one.id)) or of_run(store, one) for one in alike[-drift.HISTORY :]]
    return [night for night in nights if night.default]


def _noted(body: Mapping[str, Any] | None) -> Night | None:
    """Return the night that a drift note was written on; None for a run recorded before there were such notes."""
    tonight = body.get("tonight") if body else None
    if body is None or not isinstance(tonight, Mapping):
        return None
    moved = tuple(sorted({entry["stream"] for entry in _list(body.get("findings"))}))
    return dataclasses.replace(_night(tonight), moved=moved)


def of_run(store: Store, run: CampaignRun) -> Night:
    """Return what the sentinels of a run showed."""
    scene = recorded.scene(store, run, telemetry=True)
    kept = sentinel.incumbent_id(scene.log)
    own = scene.log.samples(scene.default_id, Purpose.DEFAULT)
    stolen = [s.telemetry[STEAL] for s in own if STEAL in s.telemetry]
    return Night(
        run_id=run.id,
        default_id=scene.default_id,
        default=_figures(scene, own),
        incumbent_id=kept,
        incumbent=_figures(scene, scene.log.samples(kept)) if kept else {},
        probe=_probes(scene.log),
        steal=statistics.median(stolen) if stolen else None,
        machine=_machine(store, run),
        workload=_workload(run, scene.log),
    )


def findings(log: Log) -> list[Finding]:
    """Return what a run's log says has moved."""
    return [_finding(entry) for note in log.notes(DRIFT)[:1] for entry in _list(note.body.get("findings"))]


def seen(note: Note) -> list[Night]:
    """Return the nights of a note, tonight last with what it found to have moved."""
    tonight = _noted(note.body)
    return [_night(entry) for entry in _list(note.body.get("nights"))] + ([] if tonight is None else [tonight])


def advice(log: Log) -> str | None:
    """Return why this run's sentinels see less than they should, or None."""
    said = [note.body.get("advice") for note in log.notes(DRIFT)[:1]]
    return str(said[0]) if said and said[0] else None


def again(note: Note) -> list[Finding]:
    """Return what a note's own nights give: the same as its findings, or the note does not replay."""
    nights = [_night(entry) for entry in _list(note.body.get("nights"))]
    tonight = note.body.get("tonight")
    return drift.examine(nights, _night(tonight)) if isinstance(tonight, Mapping) else []


def _figures(scene: Scene, samples: list[Sample]) -> dict[str, float]:
    """Return node -> log of the figure, up is better; what is not positive has no logarithm and is left out."""
    sign = 1.0 if scene.direction is Direction.MAX else -1.0
    values = {s.node: s.value(scene.metric) for s in samples}
    return {node: sign * math.log(value) for node, value in values.items() if value > 0}


def _probes(log: Log) -> dict[str, float]:
    """Return node -> log of the speed of its probe."""
    found = {str(n.body["node"]): n.body.get("probe_s") for n in log.notes(PREPARED)}
    return {node: -math.log(wall_s) for node, wall_s in found.items() if isinstance(wall_s, float) and wall_s > 0}


def _machine(store: Store, run: CampaignRun) -> dict[str, str]:
    """Return what is known of the tuning nodes, each value once."""
    nodes = [node for node in store.nodes(run.id) if node.role == "tuning"]
    return {name: ", ".join(sorted({str(node.facts.get(name)) for node in nodes})) for name in FACTS}


def _workload(run: CampaignRun, log: Log) -> dict[str, str]:
    """Return what is known of benchmark and software."""
    versions = sorted({json.dumps(note.body.get("versions"), sort_keys=True) for note in log.notes(PREPARED)})
    known = {"benchmark folder": run.benchmark_digest[:12], "params": json.dumps(run.effective.get("params"))}
    return known | ({"versions": ", ".join(versions)} if versions else {})


def _list(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (entry for entry in (value if isinstance(value, list) else []) if isinstance(entry, Mapping))


def _finding(entry: Mapping[str, Any]) -> Finding:
    return Finding(**{**entry, "nodes": tuple(entry["nodes"]), "evidence": tuple(entry["evidence"])})


def _night(entry: Mapping[str, Any]) -> Night:
    return Night(**{**entry, "moved": tuple(entry["moved"])})
