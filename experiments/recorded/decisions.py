"""Decisions: figures of recorded samples that pages of docs/decisions argue with.

    [ALBACORE_SAMPLES=folder] python experiments/recorded/decisions.py [--seconds 540] [--print]

What is in decisions.json is not computed again; experiments/workbench/pieces.py has the other arguments, and how it
goes on after its end. Without ALBACORE_SAMPLES everything stays as it is known.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "include"), str(HERE), *(str(ROOT / "experiments" / n) for n in ("verdict", "workbench"))]

import luck  # noqa: E402 - the path has just been made
import pieces  # noqa: E402
import recorded_nodes  # noqa: E402
import risk  # noqa: E402
import rules  # noqa: E402

RESULTS = HERE / "decisions.json"
SECTIONS = {
    "drawn": lambda results: rules.worths(results, "drawn"),
    "earned": lambda results: rules.worths(results, "earned"),
    "differences": rules.differences,
    "reached": luck.reached,
    "promoted": luck.promoted,
    "lost": luck.lost,
    "risk": risk.overall,
    "risk-bins": risk.bins,
}
"""Block of the docs -> what fills it."""


def results() -> pieces.Results:
    """Return what is known."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def all_pieces() -> list[pieces.Piece]:
    """Return what there is to compute.

    Without recorded samples that is what is known already; all of it when nothing is, which then says what it lacks.
    """
    every, known = [piece for part in (luck, risk, rules) for piece in part.all_pieces()], results()
    return [piece for piece in every if recorded_nodes.is_there() or not known or piece.name in known]


def tables(found: pieces.Results) -> str:
    """Return all tables."""
    return "\n\n".join(f"{name}\n\n{fill(found)}" for name, fill in SECTIONS.items())


if __name__ == "__main__":
    sys.exit(pieces.main("decisions", all_pieces, tables, sys.argv[1:], home=HERE))
