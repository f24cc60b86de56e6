"""Microservices Fig. 4 and 5 in spirit: improvement and overhead of every method, at 15 and at 100 trials.

```
improvement  per cent below the default's cost, of the config that the run chooses
overhead     processor seconds of all asks of a run together, libraries loaded; the paper's unit too
serial       twelve services one after the other, 15 trials each, by a Gaussian process; reversed: from the last
```

Run as `experiments/workbench/pieces.py` says; docs/experiments/optimizers.md has what came out.
"""

import statistics
import sys

import contest
import intervals
import markdown
import numpy as np
import pieces

from albacore.optimizers import KINDS

SHOWN = {15: (1, 3, 5, 8, 10, 12, 15), 100: (15, 25, 50, 75, 100)}
INITIAL = {15: 3, 100: 10}
"""Random configs at the start; the paper's methods start from one, which a surrogate learns nothing from."""
REPEATS_OF_100 = 5
SERIAL = ("serial", "serial, reversed")
SERIAL_TRIALS = 12 * contest.SERIAL_ASKS


def all_pieces() -> list[pieces.Piece]:
    """Return a piece per function, number of trials and method."""
    application = contest.services()
    return [
        *(_piece(application, name, 15) for name in sorted(KINDS)),
        *(_piece(contest.kvcache("zipf"), name, 15) for name in sorted(KINDS)),
        *(_piece(application, name, 100) for name in sorted(KINDS)),
        *(_serial(application, name) for name in SERIAL),
    ]


def _piece(function: contest.Function, name: str, trials: int) -> pieces.Piece:
    """Return a method's runs: improvements, and the seconds of all asks."""
    default = function.truth(function.space.default())

    def make(seed: int) -> list[float]:
        ran = contest.run(function, contest.method(name, trials, INITIAL[trials]), SHOWN[trials], seed)
        improved = [pieces.rounded(100 * (1 - ran.costs[n] / default)) for n in SHOWN[trials]]
        return [*improved, float(f"{sum(ran.seconds):.3g}")]

    repeats = REPEATS_OF_100 if trials == 100 else 1000
    return pieces.Piece(name=f"{function.name} | {trials} | {name}", make=make, repeats=repeats)


def _serial(function: contest.Function, name: str) -> pieces.Piece:
    """Return a serial baseline's runs."""
    default = function.truth(function.space.default())

    def make(seed: int) -> list[float]:
        ran = contest.run(function, contest.method(name, SERIAL_TRIALS, 3), (SERIAL_TRIALS,), seed)
        return [
            pieces.rounded(100 * (1 - ran.costs[SERIAL_TRIALS] / default)),
            float(f"{sum(ran.seconds):.3g}"),
        ]

    return pieces.Piece(name=f"{function.name} | {SERIAL_TRIALS} | {name}", make=make, repeats=REPEATS_OF_100)


def tables(results: pieces.Results) -> str:
    """Return the tables of the page."""
    return "\n\n".join([every_method(results), convergence(results)])


def every_method(results: pieces.Results) -> str:
    """Return Fig. 4 as a table, the best at 15 trials first."""
    rows = {name.split(" | ")[2]: np.array(figures) for name, figures in results.items() if "services | 15 |" in name}
    lines = []
    for name in sorted(rows, key=lambda key: -rows[key][:, -2].mean()):
        cache, long = (np.array(results[f"{scope} | {name}"]) for scope in ("kvcache-zipf | 15", "services | 100"))
        gains = [intervals.mean(part[:, -2], unit=" %") for part in (rows[name], long, cache)]
        spent = [f"{statistics.fmean(part[:, -1]):.2g} s" for part in (rows[name], long)]
        lines.append([f"`{name}`", *gains, *spent])
    for name in SERIAL:
        alone = np.array(results[f"services | {SERIAL_TRIALS} | {name}"])
        gain, spent = intervals.mean(alone[:, 0], unit=" %"), f"{alone[:, 1].mean():.2g} s"
        lines.append([f"{name}, {SERIAL_TRIALS} trials", "", gain, "", "", spent])
    head = ["method", "`services`, 15 trials", "100 trials", "`kvcache-zipf`, 15 trials"]
    return markdown.table([*head, "all asks of 15", "of 100"], lines)


def convergence(results: pieces.Results) -> str:
    """Return Fig. 5 as a table: the improvement after each of some trials, of the best three at 15 and of random."""
    rows = {name.split(" | ")[2]: np.array(figures) for name, figures in results.items() if "services | 15 |" in name}
    best = sorted(rows, key=lambda key: -rows[key][:, -2].mean())[:3]
    lines = []
    for name in dict.fromkeys([*best, "random"]):
        means = [f"{rows[name][:, at].mean():.1f} %" for at in range(len(SHOWN[15]))]
        later = np.array(results[f"services | 100 | {name}"])
        lines.append([f"`{name}`", *means, *(f"{later[:, at].mean():.1f} %" for at in range(1, len(SHOWN[100])))])
    return markdown.table(["`services`, after", *map(str, (*SHOWN[15], *SHOWN[100][1:]))], lines)


if __name__ == "__main__":
    sys.exit(pieces.main("microservices", all_pieces, tables, sys.argv[1:], home=contest.HERE))
