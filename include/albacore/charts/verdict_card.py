"""Verdict card: ship or do not ship, with every figure behind it; what was not measured is None.

It reads the note that the run's verdict task wrote and computes nothing of its own: a page never disagrees with the
store. Notes of older versions lack some figures.
"""

from collections.abc import Mapping
from typing import Any

from albacore.charts.book import Book

FIGURES = ("probability_beats_default", "instability_upper_bound", "cost", "incumbent", "min_gain", "confidence")
"""Figures of the verdict that a note of the first shape lacks; see docs/verdict.md."""


def page(book: Book) -> dict[str, Any]:
    """Return the last verdict, or None while there is none."""
    notes = book.scene.log.notes("verdict") if book.scene else []
    if not notes:
        return {"verdict": None, "earlier": []}
    body: Mapping[str, Any] = notes[-1].body
    return {
        "verdict": {
            "sentence": body.get("sentence"),
            "ship": bool(body.get("ship")),
            "metric": body.get("metric"),
            "unit": body.get("unit"),
            "gain": body.get("gain"),
            "best": _deployment(body.get("best")),
            "default": _deployment(body.get("default")),
            "contenders": [_deployed(one) for one in _list(body.get("contenders")) if isinstance(one, Mapping)],
            "previous": _deployed(found) if isinstance(found := body.get("previous_incumbent"), Mapping) else None,
            "stopped": body.get("stopped"),
            "warnings": [str(w) for w in _list(body.get("warnings"))],
            "knobs": _list(body.get("knobs")),
            "fragment": body.get("fragment"),
            **{name: body.get(name) for name in FIGURES},
        },
        "earlier": [str(note.body.get("sentence")) for note in notes[:-1]],
    }


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _deployed(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a contender or the incumbent, with its figures on the fresh nodes."""
    return {**one, "deployment": _deployment(one.get("deployment"))}


def _deployment(body: object) -> dict[str, Any] | None:
    """Return one config's figures on the fresh nodes; what the note has beside them is kept."""
    if not isinstance(body, Mapping):
        return None
    known = {"config_id": None, "mean": None, "worst": None, "cov": None, "by_node": {}, "failures": []}
    found = {**known, **body}
    if not found["by_node"]:
        found["cov"] = None  # of no sample there is no variation, not one of 0
    return found
