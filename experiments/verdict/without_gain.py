"""Without gain: how often configs ship that are exactly as good as the default.

```
noise     from node to node: in per cent its standard deviation, of a ratio's logarithm
batch     a thousand validations with a seed of their own; its counts say in how many something was so
```
"""

import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pieces
import recorded_nodes
import verdicts
from fresh_nodes import Design, Drawn, MadeUp, heavy, normal, slow
from markdown import table
from recorded_nodes import Recorded

from albacore.verdict import Contender
from albacore.verdict.concluding import ships

DRAWS, BATCHES = 1000, 10
DESIGNS = tuple(
    Design(nodes=n, repeats=r, contenders=k) for n, r, k in ((3, 3, 1), (3, 3, 2), (4, 2, 1), (5, 2, 2), (10, 2, 2))
)
NOISES: Mapping[str, MadeUp | Recorded] = {
    "normal, 3 %": MadeUp(shape=normal, between=0.03, within=0.02),
    "normal, 1 %": MadeUp(shape=normal, between=0.01, within=0.03),
    "normal, 10 %": MadeUp(shape=normal, between=0.10, within=0.03),
    "Student's t with 3 degrees, 5 %": MadeUp(shape=heavy, between=0.05, within=0.02),
    "exponential on the slow side, 5 %": MadeUp(shape=slow, between=0.05, within=0.02),
    "the same 5 %, nothing of it the default's": MadeUp(shape=slow, between=0.05, within=0.02, shared=0),
    **{f"recorded, {name}": Recorded(workload=name) for name in recorded_nodes.FILES},
}
UNSTABLE = {f"unstable, {name}": Recorded(workload=name, stable=False) for name in recorded_nodes.FILES}
COUNTS = ("shipped", "covered", "bootstrap", "at 0.90", "at 0.99", "above 1.05", "watched")
"""Shipped; the interval holds the truth; the bootstrap would ship; shipped by other terms; and past the detector."""


def counted(drawn: Drawn, rng: np.random.Generator) -> dict[str, int]:
    """Return in how many draws each of `COUNTS` is so."""
    found: dict[str, int] = dict.fromkeys(COUNTS, 0)
    picks = np.empty(len(drawn.ours), dtype=int)
    for draw in range(len(drawn.ours)):
        ours, theirs = drawn.one(draw)
        best = verdicts.best(ours, theirs, drawn.direction)
        picks[draw] = best.rank - 1
        strict = replace(verdicts.TERMS, min_gain=1.05)
        said = {
            "shipped": ships(best, None, verdicts.TERMS),
            "covered": _holds(best),
            "above 1.05": ships(best, None, strict),
            "watched": ships(verdicts.best(ours, theirs, drawn.direction, is_watched=True), None, verdicts.TERMS),
        }
        for confidence in (0.90, 0.99):
            other = verdicts.contender(ours, best.rank - 1, theirs, drawn.direction, confidence)
            said[f"at {confidence:.2f}"] = ships(other, None, verdicts.TERMS)
        for name, is_so in said.items():
            found[name] += is_so
    found["bootstrap"] = int((verdicts.bootstrap_low(drawn, picks, rng) > 0).sum())
    return found


def _holds(best: Contender) -> bool:
    return best.gain is not None and best.gain.low <= 1 <= best.gain.high


def all_pieces(known: pieces.Results) -> list[pieces.Piece]:
    """Return a piece per noise and design; those of recorded noise need the samples, or to be known already."""
    found = [_piece(name, noise, design) for name, noise in {**NOISES, **UNSTABLE}.items() for design in DESIGNS]
    return [one for one in found if recorded_nodes.is_there() or " %" in one.name or one.name in known]


def _piece(name: str, noise: MadeUp | Recorded, design: Design) -> pieces.Piece:
    """Return the counts of a noise and a design, batch by batch; None where no run has as many configs."""
    whole = f"{name} | {design}"

    def make(batch: int) -> dict[str, int] | None:
        rng = np.random.default_rng([batch, zlib.crc32(whole.encode())])
        drawn = noise.draw(rng, DRAWS, design)
        return counted(drawn, rng) if drawn else None

    return pieces.Piece(name=whole, make=make, repeats=BATCHES)


def shares(results: pieces.Results, name: str, design: Design) -> dict[str, tuple[float, float]] | None:
    """Return per count its share of all draws and the standard error of that, in per cent; None without draws."""
    batches = [batch for batch in results.get(f"{name} | {design}", []) if batch]
    if not batches:
        return None
    draws = DRAWS * len(batches)
    means = {count: sum(batch[count] for batch in batches) / draws for count in COUNTS}
    return {count: (100 * p, 100 * math.sqrt(p * (1 - p) / draws)) for count, p in means.items()}


def coverage(results: pieces.Results) -> str:
    """Return shipped without gain, covered, and shipped by the bootstrap."""
    return _cells(results, NOISES, {"shipped": 1, "covered": 1, "bootstrap": 0})


def unstable(results: pieces.Results) -> str:
    """Return how many configs that are unstable on all nodes pass the interval, and how many the detector too."""
    return _cells(results, UNSTABLE, {"shipped": 1, "watched": 1})


def _cells(results: pieces.Results, names: Iterable[str], digits: Mapping[str, int]) -> str:
    """Return a line per noise and a column per design, and what the largest standard errors are."""
    rows, errors, draws = [], dict.fromkeys(digits, 0.0), 0
    for name in names:
        cells = []
        for design in DESIGNS:
            found = shares(results, name, design) or {}
            cells.append(" / ".join(f"{found[c][0]:.{digits[c]}f}" for c in digits if found) or "-")
            errors = {count: max(errors[count], found.get(count, (0, 0))[1]) for count in digits}
            draws = max(draws, DRAWS * len(results.get(f"{name} | {design}", [])))
        rows.append([name, *cells])
    largest = " / ".join(f"{error:.2f}" for error in errors.values())
    said = f"{draws:,} draws per cell; the largest standard errors are {largest} points."
    return f"{table(['spread of nodes', *map(str, DESIGNS)], rows)}\n\n{said}"


def terms(results: pieces.Results) -> str:
    """Return what ships without gain under other terms, from the least to the most of the designs."""
    rows = []
    for name in NOISES:
        every = [found for design in DESIGNS if (found := shares(results, name, design))]
        columns = [[found[count][0] for found in every] for count in ("at 0.90", "shipped", "at 0.99", "above 1.05")]
        rows.append([name, *(f"{min(values):.1f} to {max(values):.1f}" if values else "-" for values in columns)])
    head = ["spread of nodes", "`confidence` 0.90", "0.95", "0.99", "0.95, `min_gain` 1.05"]
    return table(head, rows)
