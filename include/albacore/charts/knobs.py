"""Knobs: best against default, and what each knob may be. How much each matters is in `importance.py`."""

from typing import Any

from albacore import replay
from albacore.charts import finite
from albacore.charts.book import Book
from albacore.charts.trials import knob_differences
from albacore.space.knob import Knob


def page(book: Book) -> dict[str, Any]:
    """Return the differences between the best config and the default, and the space."""
    scene = book.scene
    if scene is None:
        return {"best": None, "differences": [], "space": []}
    best = replay.incumbent(scene)
    return {
        "best": best.config_id if best else None,
        "differences": knob_differences(scene, best.config_id) if best else [],
        "space": [_knob(knob, scene.space.text(scene.space.default())[knob.name]) for knob in scene.space.knobs],
    }


def _knob(knob: Knob, default: str) -> dict[str, Any]:
    return {
        "name": knob.name,
        "kind": knob.kind.value,
        "unit": knob.unit,
        "default": default,
        "low": finite(knob.low),
        "high": finite(knob.high),
        "log": knob.log,
        "choices": list(knob.choices),
        "special": list(knob.special),
        "restart": knob.restart,
        "doc": knob.doc,
        "safety": knob.safety,
        "why": knob.why,
    }
