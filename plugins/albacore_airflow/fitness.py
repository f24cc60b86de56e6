"""Fitness of nodes: what their canaries may be, a look at those in quarantine, the default again as a sentinel."""

from collections.abc import Iterator
from typing import Any

from albacore import health, recorded, resampling, sentinel
from albacore.errors import NodeError
from albacore.fact import READMIT, SENTINEL, STILL_OUT
from albacore.nightly.nights import PREPARED
from albacore.nodes import job
from albacore.nodes.preparation import canary
from albacore.replay import Scene
from albacore.sample import Blame, Failure, Purpose
from albacore.store import CampaignRun, NodeRecord
from albacore.store.leases import Leases
from albacore.store.run_log import RunLog
from albacore.trial import Log, Note
from albacore_airflow import campaign_tasks, settings


def bounds(run: CampaignRun, log: RunLog, node: str) -> dict[str, dict[str, float]]:
    """Return what a node's canary may be at most: by what was sung at preparation and before earlier samples."""
    first = [(str(n.body["node"]), n.body.get("canary")) for n in log.read().notes(PREPARED)]
    songs = [(name, song) for name, song in first if isinstance(song, dict) and song]
    hosts = {record.name: record.host for record in settings.store().nodes(run.id)}
    return health.bounds(node, [*songs, *log.songs()], hosts)


def look_again(run_id: str) -> list[str]:
    """Look at the nodes in quarantine whose time has come, re-admit those that are well, and say what was found.

    Whatever the node still ran is ended first. A node that another slot holds is left for the next time.
    """
    log = settings.run_log(run_id)
    seen = log.read()
    run = settings.store().run(run_id)
    records = {record.name: record for record in settings.store().nodes(run_id)}
    due = [name for name in sorted(resampling.quarantined(seen)) if name in records and _is_due(seen, name)]
    return [said for name in due for said in _look(run, log, records[name])]


def _is_due(log: Log, node: str) -> bool:
    """Whether enough time has passed since the node failed last, or was looked at last."""
    looks = [e for e in log.events if isinstance(e.fact, Note) and e.fact.kind in (READMIT, STILL_OUT)]
    looks = [e for e in looks if isinstance(e.fact, Note) and e.fact.body.get("node") == node]
    faults = [e for e in log.events if isinstance(e.fact, Failure) and e.fact.blame is Blame.NODE]
    last = max(e.at for e in [*looks, *(e for e in faults if isinstance(e.fact, Failure) and e.fact.node == node)])
    return settings.store().clock() >= last + health.looks_after_s(len(looks))


def _look(run: CampaignRun, log: RunLog, record: NodeRecord) -> Iterator[str]:
    """Look at one node and write down what was found."""
    owner, leases = f"{run.id}/look/{record.name}", Leases(settings.store())
    grant = leases.take_node(record.name, record.host, settings.host_slots(run)[record.host], owner)
    if grant is None:
        return
    try:
        node = settings.node(run, record)
        job.sweep(node)
        song = canary(node)
        most = bounds(run, log, record.name) if settings.has_canary(run, record) else {}
        out = health.exceeded(song, most)
        told = health.sentence({"figures": song, "out": out, "bounds": most}) or "its canary is as usual"
    except NodeError as error:
        song, out, told = {}, ["unreachable"], error.message
    finally:
        leases.release(owner)
    kind = STILL_OUT if out else READMIT
    log.append_note(Note(kind=kind, body={"node": record.name, "canary": song, "why": told}))
    yield f"node {record.name} {'stays in quarantine' if out else 'is used again'}: {told}"


def sentinels(run_id: str, scene: Scene, index: int) -> list[dict[str, Any]]:
    """Return the slots of the default config that this iteration measures again: one per node whose turn it is.

    Args:
        index: The iteration's ask; a node's turn is one iteration's, and stays it when its task is tried again.
    """
    every = recorded.campaign(settings.store().run(run_id)).nodes.sentinel_every
    if not every:
        return []
    tuning = [r.name for r in settings.store().nodes(run_id) if r.role == "tuning"]
    lost = resampling.quarantined(scene.log)
    log = settings.run_log(run_id)
    for turn in sentinel.due(scene.log, [name for name in tuning if name not in lost], every):
        body = {"node": turn.node, "n": turn.n, "ask": index}
        log.append_note(Note(kind=SENTINEL, body=body), key=f"{turn.node}.{turn.n}")
    mine = [note.body for note in log.read().notes(SENTINEL) if note.body["ask"] == index]
    return [
        campaign_tasks.slot(
            run_id, scene.default_id, Purpose.SENTINEL, tuning.index(str(b["node"])), [str(b["node"])], int(str(b["n"]))
        )
        for b in mine
    ]
