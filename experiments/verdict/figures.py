"""Figures: every figure of the verdict's interval that the docs name.

    [ALBACORE_SAMPLES=folder] python experiments/verdict/figures.py [--seconds 540] [--print]

What is in figures.json is not computed again; experiments/workbench/pieces.py has the other arguments, and how it
goes on after its end. Without ALBACORE_SAMPLES recorded samples stay as they are known.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "include"), str(HERE), str(ROOT / "experiments" / "workbench")]

import pieces  # noqa: E402 - the path has just been made
import reach  # noqa: E402
import without_gain  # noqa: E402
import worth  # noqa: E402

RESULTS = HERE / "figures.json"
SECTIONS = {
    "coverage": without_gain.coverage,
    "terms": without_gain.terms,
    "unstable": without_gain.unstable,
    "spread": reach.spreads,
    "contenders": worth.contenders,
    "reach": reach.widths,
}
"""Block of the docs -> what fills it."""


def results() -> pieces.Results:
    """Return what is known."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def all_pieces() -> list[pieces.Piece]:
    """Return what there is to compute."""
    return [*reach.all_pieces(results()), *worth.all_pieces(), *without_gain.all_pieces(results())]


def tables(found: pieces.Results) -> str:
    """Return all tables."""
    return "\n\n".join(f"{name}\n\n{fill(found)}" for name, fill in SECTIONS.items())


if __name__ == "__main__":
    sys.exit(pieces.main("figures", all_pieces, tables, sys.argv[1:], home=HERE))
