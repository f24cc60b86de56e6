"""Metis Fig. 4 to 7 in spirit: who has the best config after 25 trials, with and without outliers and re-sampling.

Run as `experiments/workbench/pieces.py` says; docs/experiments/optimizers.md has what came out.
"""

import sys
from collections.abc import Callable, Iterable

import contest
import intervals
import markdown
import numpy as np
import pieces

RIVALS = ("metis", "ituned", "cherrypick", "tpe_20", "random")
PLAIN = "metis, no re-sampling"
METHODS = (*RIVALS, PLAIN)
SHOWN = (5, 10, 15, 20, 25)
FEW = ("synthetic-6", "kvcache-zipf")
"""The functions of docs/decisions/metis-exploits-its-process.md."""


def functions() -> list[contest.Function]:
    """Return the three synthesised traces, and a function without a system."""
    return [*(contest.kvcache(frequency) for frequency in ("zipf", "normal", "linear")), contest.synthetic(6)]


def all_pieces() -> list[pieces.Piece]:
    """Return a piece per function, noise and method."""

    def piece(function: contest.Function, noise: str, name: str) -> pieces.Piece:
        def make(seed: int) -> list[float]:
            ran = contest.run(function, contest.method(name, SHOWN[-1]), SHOWN, seed, noise=noise, tag=name)
            return [pieces.rounded(ran.costs[n]) for n in SHOWN]

        return pieces.Piece(name=f"{function.name} | {noise} | {name}", make=make)

    return [piece(f, noise, name) for f in functions() for noise in contest.NOISES for name in METHODS]


def tables(results: pieces.Results) -> str:
    """Return the tables of the page."""
    return "\n\n".join([winners(results), distances(results), ablation(results), by_trials(results), few(results)])


def winners(results: pieces.Results) -> str:
    """Return Fig. 4: the share of repeats in which a method's choice is the best of all five."""
    lines = list[list[str]]()
    for function, noise in scopes(results):
        won = intervals.wins(costs(results, function, noise, RIVALS))
        lines.append([function, noise, *(intervals.share(won[:, i]) for i in range(len(RIVALS)))])
    for noise in contest.NOISES:
        won = pooled(results, noise, intervals.wins, RIVALS)
        lines.append(["all four", noise, *(intervals.share(won[:, i]) for i in range(len(RIVALS)))])
    return markdown.table(["function", "scores", *quoted(RIVALS)], lines)


def distances(results: pieces.Results) -> str:
    """Return by how much the choices cost more than the best config that any run has found, in per cent."""
    lines = list[list[str]]()
    for function, noise in scopes(results):
        above = 100 * (costs(results, function, noise, METHODS) / least(results, function) - 1)
        lines.append([function, noise, *(intervals.mean(above[:, i]) for i in range(len(METHODS)))])
    return markdown.table(["function", "scores", *quoted(METHODS)], lines)


def ablation(results: pieces.Results) -> str:
    """Return Fig. 7's line without re-sampling: wins against the four others, and which of both is better."""
    lines = list[list[str]]()
    for function, noise in scopes(results):
        told = _compared(costs(results, function, noise, METHODS))
        lines.append([function, noise, *(intervals.share(told[:, i]) for i in range(5))])
    for noise in contest.NOISES:
        told = pooled(results, noise, _compared, METHODS)
        lines.append(["all four", noise, *(intervals.share(told[:, i]) for i in range(5))])
    head = ["function", "scores", "wins with", "wins without", "better with", "better without", "equal"]
    return markdown.table(head, lines)


def _compared(costs: np.ndarray) -> np.ndarray:
    """Return (repeats, 5) of costs (repeats, METHODS): wins with and without, better with, without, equal."""
    others = costs[:, 1:-1]
    wins = [intervals.wins(np.column_stack([costs[:, at], others]))[:, 0] for at in (0, -1)]
    ratio = costs[:, 0] / costs[:, -1]
    return np.column_stack([*wins, ratio < 1 - 1e-6, ratio > 1 + 1e-6, np.abs(ratio - 1) <= 1e-6])


def pooled(
    results: pieces.Results, noise: str, what: Callable[[np.ndarray], np.ndarray], methods: tuple[str, ...]
) -> np.ndarray:
    """Return (repeats of all functions, figures) of the costs of each function."""
    return np.vstack([what(costs(results, f, n, methods)) for f, n in scopes(results) if n == noise])


def by_trials(results: pieces.Results) -> str:
    """Return Fig. 5 and 6 for the Zipf trace: the share of wins and the mean distance after so many trials."""
    lines = list[list[str]]()
    for at, number in enumerate(SHOWN):
        at_number = costs(results, "kvcache-zipf", "clean", RIVALS, at=at)
        won, above = intervals.wins(at_number), 100 * (at_number / least(results, "kvcache-zipf") - 1)
        cells = [f"{intervals.share(won[:, i])}, {above[:, i].mean():.1f} above" for i in range(len(RIVALS))]
        lines.append([f"{number} trials", *cells])
    return markdown.table(["`kvcache-zipf`, clean, after", *quoted(RIVALS)], lines)


def few(results: pieces.Results) -> str:
    """Return mean true costs without noise: of the first eight repeats, and of all with their interval."""
    lines = list[list[str]]()
    for name in (PLAIN, "metis"):
        found = [costs(results, function, "clean", (name,))[:, 0] for function in FEW]
        lines.append(
            [f"`{name}`", *(cell for own in found for cell in (f"{own[:8].mean():.2f}", intervals.mean(own, 2)))]
        )
    return markdown.table(["", *(f"`{function}`, {of}" for function in FEW for of in ("first eight", "all"))], lines)


def quoted(names: Iterable[str]) -> list[str]:
    """Return names as code."""
    return [f"`{name}`" for name in names]


def scopes(results: pieces.Results) -> list[tuple[str, str]]:
    """Return (function, noise), in the order of the pieces."""
    names = dict.fromkeys(name.rsplit(" | ", 1)[0] for name in results)
    order = ["kvcache-zipf", "kvcache-normal", "kvcache-linear", "synthetic-6"]
    found = [(name.split(" | ")[0], name.split(" | ")[1]) for name in names]
    return sorted(found, key=lambda scope: (order.index(scope[0]), list(contest.NOISES).index(scope[1])))


def costs(results: pieces.Results, function: str, noise: str, methods: tuple[str, ...], *, at: int = -1) -> np.ndarray:
    """Return (repeats, methods) true costs after the last of `SHOWN`, or another of them."""
    return np.array([[row[at] for row in results[f"{function} | {noise} | {name}"]] for name in methods]).T


def least(results: pieces.Results, function: str) -> float:
    """Return the lowest true cost that any run has found."""
    return min(min(row) for name, rows in results.items() if name.startswith(f"{function} | ") for row in rows)


if __name__ == "__main__":
    sys.exit(pieces.main("metis", all_pieces, tables, sys.argv[1:], home=contest.HERE))
