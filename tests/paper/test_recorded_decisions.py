"""Figures of recorded runs in docs/decisions come out again: the first batch of each piece, anew."""

import os
from pathlib import Path

import pytest

FOLDER = os.environ.get("ALBACORE_SAMPLES")
ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not FOLDER, reason="ALBACORE_SAMPLES is not set: docs/policies.md"),
]


def test_a_batch_comes_out_again(monkeypatch):
    """To five digits; random ones have a seed of their own."""
    monkeypatch.syspath_prepend(str(ROOT / "experiments" / "recorded"))
    import decisions

    known = decisions.results()
    for piece in decisions.all_pieces():
        assert _flat(piece.make(0)) == pytest.approx(_flat(known[piece.name][0]), rel=1e-5, abs=1e-9), piece.name


def _flat(found):
    """Return all numbers of JSON data, in order."""
    if isinstance(found, dict):
        return [number for value in found.values() for number in _flat(value)]
    return [number for value in found for number in _flat(value)] if isinstance(found, list) else [found]
