"""Worth: what a second and a third contender cost and bring, where there is a gain to be found.

```
true gain   that around which the candidates of a run lie; `DIFFER` is the standard deviation of its logarithm
tuned       what the tuning ranks them by, correlated with the truth; the best few become contenders
in place    the true gain of what is in place after the verdict; 1 where nothing ships
```

One, two and three contenders are validated by the same samples, so their differences are paired.
"""

import math
import zlib

import numpy as np
import pieces
import verdicts
from fresh_nodes import measured
from markdown import table

from albacore.verdict.concluding import ships

DRAWS, BATCHES = 1000, 10
CANDIDATES, DIFFER, CORRELATION, BETWEEN, WITHIN = 8, 0.05, 0.5, 0.04, 0.02
MOST = 3
"""Contenders at most."""
CELLS = tuple((gain, nodes, 2) for gain in (1.1, 1.2) for nodes in (3, 4, 5))


def all_pieces() -> list[pieces.Piece]:
    """Return a piece per true gain and design."""
    return [_piece(*cell) for cell in CELLS]


def _name(gain: float, nodes: int, repeats: int) -> str:
    return f"worth | {gain:g} | {nodes} x {repeats}"


def _piece(gain: float, nodes: int, repeats: int) -> pieces.Piece:
    name = _name(gain, nodes, repeats)

    def make(batch: int) -> dict[str, list[float]]:
        return summed(in_place(np.random.default_rng([batch, zlib.crc32(name.encode())]), gain, nodes, repeats))

    return pieces.Piece(name=name, make=make, repeats=BATCHES)


def in_place(rng: np.random.Generator, gain: float, nodes: int, repeats: int, draws: int = DRAWS) -> np.ndarray:
    """Return (draws, contenders) true gains of what is in place after a verdict with one, two, … contenders."""
    truth = rng.standard_normal((draws, CANDIDATES))
    tuned = CORRELATION * truth + math.sqrt(1 - CORRELATION**2) * rng.standard_normal(truth.shape)
    first = np.argsort(-tuned, axis=1)[:, :MOST]
    true = math.log(gain) + DIFFER * np.take_along_axis(truth, first, axis=1)
    scale = BETWEEN * math.sqrt(0.5)
    noise = rng.standard_normal((draws, 1, nodes)) + rng.standard_normal((draws, MOST, nodes))
    drawn = measured(rng, true[..., None] + scale * noise, np.ones((draws, nodes)), repeats, within=WITHIN)
    found = np.ones((draws, MOST))
    for draw in range(draws):
        ours, theirs = drawn.one(draw)
        for count in range(1, MOST + 1):
            best = verdicts.best(ours[:count], theirs, drawn.direction)
            if ships(best, None, verdicts.TERMS):
                found[draw, count - 1] = math.exp(true[draw, best.rank - 1])
    return found


def summed(found: np.ndarray) -> dict[str, list[float]]:
    """Return the sums of a batch: shipped, gains, and what one more contender adds, with their squares."""
    more = np.diff(found, axis=1)
    return {
        "shipped": (found != 1).sum(axis=0).tolist(),
        **{name: _rounded(v.sum(axis=0)) for name, v in (("gain", found), ("more", more))},
        **{f"{name}, squared": _rounded((v**2).sum(axis=0)) for name, v in (("gain", found), ("more", more))},
    }


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 6) for value in values]


def contenders(results: pieces.Results) -> str:
    """Return shipped and in place by number of contenders, and what one more adds."""
    rows = []
    for gain, nodes, repeats in CELLS:
        batches = results.get(_name(gain, nodes, repeats), [])
        if not batches:
            continue
        draws, total = DRAWS * len(batches), {key: np.sum([b[key] for b in batches], axis=0) for key in batches[0]}
        cells = [
            f"{100 * s / draws:.0f} % / {g / draws:.3f}" for s, g in zip(total["shipped"], total["gain"], strict=True)
        ]
        means = total["more"] / draws
        errors = np.sqrt((total["more, squared"] / draws - means**2) / draws)
        added = [f"{100 * mean:+.2f} ± {100 * error:.2f}" for mean, error in zip(means, errors, strict=True)]
        rows.append([f"{gain:g}", f"{nodes} x {repeats}", *cells, *added])
    head = ["true gain", "fresh nodes x repeats", "1 contender", "2 contenders", "3 contenders"]
    return table([*head, "the second adds, points", "the third adds, points"], rows)
