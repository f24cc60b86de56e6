"""Night: what a run began with, and what has moved since the nights before, as its own log says it.

The note `drift` holds the figures of the nights that it was compared with, so the page needs no other run's log.
"""

import dataclasses
import math
import statistics
from collections.abc import Mapping
from typing import Any

from albacore import sentinel
from albacore.charts.book import Book
from albacore.nightly import drift, nights
from albacore.trial import Direction


def page(book: Book) -> dict[str, Any]:
    """Return what moved with its evidence, the sentinels night by night, and what was taken over from which run."""
    if book.scene is None:
        return {"is_compared": False, "advice": None, "moved": [], "nights": [], "taken_over": [], "passed_over": []}
    log = book.scene.log
    noted, began = log.notes(nights.DRIFT)[:1], log.notes(sentinel.WARM_START)[:1]
    found = nights.seen(noted[0]) if noted else []
    return {
        "is_compared": len(found) > 1,
        "advice": nights.advice(log),
        "moved": [dataclasses.asdict(finding) for finding in nights.findings(log)],
        "nights": [_night(book, one) for one in found],
        "taken_over": [dataclasses.asdict(one) for one in sentinel.taken_over(log)],
        "passed_over": [str(why) for note in began for why in _texts(note.body.get("passed_over"))],
    }


def moved(book: Book) -> list[dict[str, str]]:
    """Return what moved, for the fleet and the head of every page: what it was, and the sentence."""
    found = nights.findings(book.scene.log) if book.scene else []
    return [{"what": one.what, "sentence": one.sentence} for one in found]


def _night(book: Book, one: drift.Night) -> dict[str, Any]:
    """Return the medians of both sentinels over the nodes of a night, in the metric's unit."""
    return {
        "run": one.run_id,
        "default": _middle(book, one.default),
        "incumbent": _middle(book, one.incumbent),
        "incumbent_config": one.incumbent_id,
        "nodes": len(one.default),
        "moved": list(one.moved),
    }


def _middle(book: Book, logs: Mapping[str, float]) -> float | None:
    """Return the median figure; the logarithms go up where a figure gets better, whatever its direction."""
    if not logs:
        return None
    sign = 1.0 if book.direction is Direction.MAX else -1.0
    return math.exp(sign * statistics.median(logs.values()))


def _texts(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
