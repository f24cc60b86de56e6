"""Shelf: the campaign runs that were looked at last, each log read on from where it was left.

A log only grows, so what was read stays true. Reading never waits for a writer, makes no file and migrates nothing.
"""

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from albacore import recorded
from albacore.charts import book
from albacore.charts.book import Book
from albacore.space import Config
from albacore.store import CampaignRun, Store
from albacore.store.run_log import RunLog
from albacore.trial import Log

MOST_RUNS = 24
"""Runs that are kept; one of 10,000 samples takes some tens of megabytes."""


@dataclass(slots=True)
class Kept:
    """A book, and what pages made of it."""

    book: Book
    pages: dict[str, bytes] = field(default_factory=dict)


class Shelf:
    """Books by campaign run.

    Args:
        store: Returns the store of this process.
    """

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._is_ready = False
        self._lock = threading.Lock()

    def state(self) -> str:
        """Return `ready`, or why there is nothing to read: see `Store.state`."""
        if self._is_ready:
            return "ready"
        found = self._store().state()
        self._is_ready = found == "ready"
        return found

    def runs(self) -> list[CampaignRun]:
        """Return all campaign runs, oldest first; none while there is no store."""
        return self._store().runs() if self.state() == "ready" else []

    def book(self, run_id: str) -> Book:
        """Return the book of a run, read up to now.

        Raises:
            UserError: When the store has no such run.
        """
        return self._kept_now(run_id).book

    def notes(self, run_id: str, config_id: str) -> Mapping[tuple[str, int, int], Mapping[str, Any]]:
        """Return what the workload noted beside the samples of one config, see `RunLog.notes_of`."""
        return RunLog(self._store(), run_id).notes_of(config_id)

    def page(self, run_id: str, name: str, make: Callable[[Book], bytes]) -> bytes:
        """Return what a page made of a run, made once per state of its log."""
        kept = self._kept_now(run_id)
        if name not in kept.pages:
            kept.pages[name] = make(kept.book)
        return kept.pages[name]

    def _kept_now(self, run_id: str) -> Kept:
        store = self._store()
        run = store.run(run_id)
        with self._lock:
            with _without_collector():
                kept = _read_on(store, run, self._kept.get(run_id))
            self._kept[run_id] = kept
            self._kept.move_to_end(run_id)
            while len(self._kept) > MOST_RUNS:
                self._kept.popitem(last=False)
        return kept


@contextmanager
def _without_collector() -> Iterator[None]:
    """Collect no garbage for the moment: of the ten thousands of values that a log becomes, none is any."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read_on(store: Store, run: CampaignRun, old: Kept | None) -> Kept:
    """Return what is kept of a run, or a new book when the run went on."""
    if run.space is None:
        return Kept(book.opened(run, None, store.nodes(run.id)))
    before = old.book.scene if old else None
    new = RunLog(store, run.id).read(after=before.log.last_n if before else 0)
    if old is not None and before is not None and not new.events:
        return old
    known = _configs(store, run, before.configs if before else {}, new)
    kept = old.book if old is not None and before is not None else book.opened(run, None, ())
    return Kept(replace(book.read_on(kept, new, known), nodes=store.nodes(run.id)))


def _configs(store: Store, run: CampaignRun, known: Mapping[str, Config], new: Log) -> Mapping[str, Config]:
    """Return the configs of a run; the store is asked only when the log names one that is not known yet."""
    named: set[Any] = {getattr(event.fact, "config_id", None) for event in new.events} - {None}
    return known if known and named <= set(known) else recorded.configs(store, run)
