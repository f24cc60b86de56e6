"""Metis Fig. 4 to 7 in spirit: who has the best config after 25 trials, with and without outliers and re-sampling.

    nice python experiments/optimizers/metis.py [repeats=30]

Writes metis.json beside itself as it goes and prints the tables of docs/experiments/optimizers.md.
"""

import sys
from pathlib import Path

import contest

METHODS = ("metis", "metis, no re-sampling", "ituned", "cherrypick", "tpe_20", "random")
TRIALS = 25
RESULTS = Path(__file__).with_name("metis.json")


def measured(repeats: int) -> dict[tuple[str, bool, str], list[list[float]]]:
    """Return (function, outliers, method) -> per repeat the costs after each trial."""
    found: dict[tuple[str, bool, str], list[list[float]]] = {}
    functions = contest.functions()
    for seed in range(repeats):
        for function in functions:
            for outliers in (False, True):
                for name in METHODS:
                    key = f"{function.name} | {'outliers' if outliers else 'clean'} | {name} | {seed}"
                    costs = contest.recorded(
                        RESULTS,
                        key,
                        lambda f=function, n=name, s=seed, o=outliers: contest.run(f, n, TRIALS, s, outliers=o).costs,
                    )
                    found.setdefault((function.name, outliers, name), []).append(costs)
        print(f"repeat {seed + 1} of {repeats}", file=sys.stderr, flush=True)
    return found


def table(found: dict[tuple[str, bool, str], list[list[float]]]) -> str:
    """Return win rates (share of repeats with the lowest true cost; ties are shared) and mean true costs."""
    lines = [
        "| function | scores | " + " | ".join(f"`{m}`" for m in METHODS) + " |",
        "|---|---|" + "---|" * len(METHODS),
    ]
    for name, outliers in dict.fromkeys((f, o) for f, o, _ in found):
        ends = {m: [costs[-1] for costs in found[name, outliers, m]] for m in METHODS}
        wins = dict.fromkeys(METHODS, 0.0)
        for row in zip(*ends.values(), strict=True):
            tied = [m for m, cost in zip(METHODS, row, strict=True) if cost <= min(row) + 1e-9]
            for m in tied:
                wins[m] += 1 / len(tied)
        cells = [f"{100 * wins[m] / len(ends[m]):.0f} %, {contest.mean_of(ends[m])}" for m in METHODS]
        lines.append(f"| {name} | {'outliers' if outliers else 'clean'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(measured(int(sys.argv[1]) if len(sys.argv) > 1 else 30)))
