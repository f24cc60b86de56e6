"""Settling: trials are scored again beside the requests, one run after the other, and never beside a sample.

What an exclusion takes away is in the log at once; which rungs are still to be scored follows from the log alone
(`Book.due`). So nothing is lost when this process ends in the middle: whoever asks again goes on where it was.
"""

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from albacore.errors import AlbacoreError
from albacore_airflow import actions, settings

LOOK_S = 0.1
log = logging.getLogger(__name__)
_running: dict[str, Future[None]] = {}
_faults: dict[str, str] = {}
_lock = threading.Lock()


@cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="settling")


def start(run_id: str) -> None:
    """Have a run scored again as its log is from now on; what is computed for it at the moment is finished first."""
    with _lock:
        _faults.pop(run_id, None)
        _running[run_id] = _worker().submit(_settle, run_id)


def state(run_id: str) -> dict[str, object]:
    """Return whether this process scores a run again at the moment, and why it could not the last time."""
    with _lock:
        found = _running.get(run_id)
        return {"is_settling": found is not None and not found.done(), "fault": _faults.get(run_id)}


def _settle(run_id: str) -> None:
    try:
        actions.settle(run_id, turn=lambda: _slot(run_id))
    except AlbacoreError as error:
        log.exception("scoring %s again", run_id)
        with _lock:
            _faults[run_id] = error.message


@contextmanager
def _slot(run_id: str) -> Iterator[None]:
    """Hold a slot of this host: nothing of ours runs beside a sample (law of the host)."""
    leases, owner = settings.leases(), f"{run_id}/settling"
    slots = settings.host_slots(settings.store().run(run_id))[settings.CONTROLLER]
    while not leases.take_slot(settings.CONTROLLER, slots, owner):
        time.sleep(LOOK_S)
    try:
        yield
    finally:
        leases.release(owner)
