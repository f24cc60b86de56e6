"""BestConfig Table 4 and Fig. 8 to 10: set size x rounds, and the search under other samplers.

```
size     tests per round
RBS      recursive bound and search: BestConfig's search, whatever samples its rounds
DDS      divide-and-diverge sampling; LHS: a new hypercube per round; uniform; grid: the middles of equal cells
gain     per cent below the default's cost
```

Run as `experiments/workbench/pieces.py` says; docs/experiments/optimizers.md has what came out.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import contest
import intervals
import markdown
import numpy as np
import pieces

from albacore.fewer import narrowed
from albacore.optimizers import bestconfig, by_name

TESTS = 100
SIZES = (5, 10, 20, 50, 100)
SAMPLERS = ("DDS", "LHS", "uniform", "grid")
FIVE_ROUNDS = tuple(TESTS * n for n in range(1, 6))
Cells = Callable[[int, int, int, int], np.ndarray]


def lhs(n: int, d: int, seed: int, call: int) -> np.ndarray:
    """Return (n, d) intervals of a hypercube that knows nothing of earlier rounds."""
    rng = np.random.default_rng([seed, 4, call])
    return np.array([rng.permutation(n) for _ in range(d)]).T


def uniform(n: int, d: int, seed: int, call: int) -> np.ndarray:
    """Return (n, d) intervals drawn anew for each point and knob."""
    return np.random.default_rng([seed, 4, call]).integers(n, size=(n, d))


def grid(n: int, d: int, seed: int, call: int) -> np.ndarray:
    """Return (n, d) intervals that hold the middles of k^d equal cells; n must be k^d."""
    k = round(n ** (1 / d))
    cells = np.stack(np.meshgrid(*[np.arange(k)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    return ((cells + 0.5) * n / k).astype(int)


CELLS: dict[str, Cells] = {"DDS": bestconfig.divided, "LHS": lhs, "uniform": uniform, "grid": grid}


@contextmanager
def rounds_of(size: int, sampler: str = "DDS") -> Iterator[None]:
    """Let BestConfig run in rounds of a size, sampled in another way."""
    kept: Any = (bestconfig.set_size, bestconfig.divided)
    bestconfig.set_size, bestconfig.divided = (lambda budget, knobs: size), CELLS[sampler]
    try:
        yield
    finally:
        bestconfig.set_size, bestconfig.divided = kept


def gains(function: contest.Function, name: str, shown: tuple[int, ...], seed: int) -> list[float]:
    """Return the gains after some tests."""
    default = function.truth(function.space.default())
    ran = contest.run(function, by_name(name, budget=shown[-1]), shown, seed)
    return [pieces.rounded(100 * (1 - ran.costs[n] / default)) for n in shown]


def two_knobs() -> contest.Function:
    """Return the cache with two free knobs, as the paper's grid has: what may come in, and after how many queries."""
    whole = contest.kvcache("zipf")
    part, default = narrowed(whole.space, ["admission_threshold", "shadow_promotion_freq"]), whole.space.default()
    return contest.Function("kvcache-zipf, 2 knobs", part, lambda c: whole.truth(whole.space.config({**default, **c})))


def all_pieces() -> list[pieces.Piece]:
    """Return the pieces of the three tables."""
    tuned = [contest.synthetic(13), contest.kvcache("zipf")]
    return [
        *(_sized(function, size) for function in tuned for size in SIZES),
        *(_sampled(function, name) for function in (contest.synthetic(2), two_knobs()) for name in SAMPLERS),
        *(_rounds(contest.synthetic(13), name) for name in ("DDS", "LHS", "RRS")),
    ]


def _sized(function: contest.Function, size: int) -> pieces.Piece:
    """Return a cell of Table 4: the gain after the first round, and after all tests."""

    def make(seed: int) -> list[float]:
        with rounds_of(size):
            found = gains(function, "bestconfig", tuple(sorted({size, TESTS})), seed)
        return [found[0], found[-1]]

    return pieces.Piece(name=f"size | {function.name} | {size}", make=make)


def _sampled(function: contest.Function, sampler: str) -> pieces.Piece:
    """Return a line of Fig. 8: the gain after one and after two rounds of a hundred."""

    def make(seed: int) -> list[float]:
        with rounds_of(TESTS, sampler):
            return gains(function, "bestconfig", (TESTS, 2 * TESTS), seed)

    return pieces.Piece(name=f"sampler | {function.name} | {sampler}", make=make)


def _rounds(function: contest.Function, name: str) -> pieces.Piece:
    """Return a line of Fig. 9 and 10: the gain after each of five rounds of a hundred."""

    def make(seed: int) -> list[float]:
        if name == "RRS":
            return gains(function, "recursive_random_search", FIVE_ROUNDS, seed)
        with rounds_of(TESTS, name):
            return gains(function, "bestconfig", FIVE_ROUNDS, seed)

    return pieces.Piece(name=f"rounds | {function.name} | {name}", make=make)


def tables(results: pieces.Results) -> str:
    """Return the tables of the page."""
    return "\n\n".join([sizes(results), samplers(results), five_rounds(results)])


def _part(results: pieces.Results, kind: str) -> dict[tuple[str, str], np.ndarray]:
    """Return (function, what) -> (repeats, figures)."""
    names = [name.split(" | ") for name in results if name.startswith(f"{kind} | ")]
    return {(name, what): np.array(results[f"{kind} | {name} | {what}"]) for _, name, what in names}


def sizes(results: pieces.Results) -> str:
    """Return Table 4."""
    part = _part(results, "size")
    lines = []
    for name in dict.fromkeys(function for function, _ in part):
        for label, at in (("first round", 0), (f"{TESTS} tests", 1)):
            cells = [intervals.mean(part[name, str(size)][:, at], unit=" %") for size in SIZES]
            lines.append([name, label, *cells])
    return markdown.table(["function", "gain after", *(f"{n} x {TESTS // n}" for n in SIZES)], lines)


def samplers(results: pieces.Results) -> str:
    """Return Fig. 8 as a table."""
    part = _part(results, "sampler")
    lines = []
    for name in dict.fromkeys(function for function, _ in part):
        for label, at in (("1 round", 0), ("2 rounds", 1)):
            cells = [intervals.mean(part[name, sampler][:, at], 2, " %") for sampler in SAMPLERS]
            lines.append([name, label, *cells])
    return markdown.table(["function", "gain after", *(f"RBS + {name}" for name in SAMPLERS)], lines)


def five_rounds(results: pieces.Results) -> str:
    """Return Fig. 9 and 10 as a table."""
    part, (name,) = _part(results, "rounds"), {function for function, _ in _part(results, "rounds")}
    lines = []
    for what, label in (("DDS", "RBS + DDS"), ("LHS", "RBS + LHS"), ("RRS", "RRS")):
        cells = [intervals.mean(part[name, what][:, at], unit=" %") for at in range(len(FIVE_ROUNDS))]
        lines.append([label, *cells])
    return markdown.table([f"`{name}`, gain after", *(f"{n} tests" for n in FIVE_ROUNDS)], lines)


if __name__ == "__main__":
    sys.exit(pieces.main("bestconfig", all_pieces, tables, sys.argv[1:], home=contest.HERE))
