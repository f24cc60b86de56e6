"""Fitting: the importance of knobs, computed beside the requests, and never beside a sample on the same host."""

import dataclasses
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

from albacore import importance as ranking
from albacore import replay
from albacore.charts.book import Book
from albacore.replay import Scene
from albacore_airflow import settings

LOOK_S = 0.1
PATIENCE_S = 120.0
"""How long a fit waits for a free slot of its host; the page asks again afterwards."""

_found: dict[str, tuple[int, dict[str, Any]]] = {}
_running: dict[str, Future[None]] = {}
_lock = threading.Lock()


@cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="importance")


def importance(book: Book) -> dict[str, Any]:
    """Return the last ranking of a run; while one is older than the log, a new one is on its way.

    `state` is `ready`, `too few configs`, or `computing` where there is none yet.
    """
    if book.scene is None:
        return {"state": "too few configs", "fewest": ranking.FEWEST, "knobs": [], "is_current": True}
    run_id, told = book.run.id, len(book.told)
    with _lock:
        have = _found.get(run_id)
        is_current = have is not None and have[0] == told
        if not is_current and (run_id not in _running or _running[run_id].done()):
            _running[run_id] = _worker().submit(_compute, book, book.scene, told)
    last = have[1] if have else {"state": "computing", "knobs": []}
    return {**last, "is_current": is_current}


def _compute(book: Book, scene: Scene, told: int) -> None:
    """Rank while holding a slot of this host: nothing of ours runs beside a sample (law of the host)."""
    leases, owner = settings.leases(), f"{book.run.id}/importance"
    slots, deadline = settings.host_slots(book.run)[settings.CONTROLLER], time.monotonic() + PATIENCE_S
    while not leases.take_slot(settings.CONTROLLER, slots, owner):
        if time.monotonic() > deadline:
            return
        time.sleep(LOOK_S)
    try:
        found = rank(scene)
    finally:
        leases.release(owner)
    with _lock:
        _found[book.run.id] = (told, found)


def rank(scene: Scene) -> dict[str, Any]:
    """Return the knobs by importance as plain data."""
    found = ranking.importance(scene.space, replay.observations(scene), seed=scene.seed)
    if found is None:
        return {"state": "too few configs", "fewest": ranking.FEWEST, "knobs": []}
    return {"state": "ready", **dataclasses.asdict(found)}
