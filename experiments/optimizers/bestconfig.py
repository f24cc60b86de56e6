"""BestConfig Table 4 and its comparison of samplers (§5.3, §5.6): set size x rounds, and who samples best.

nice python experiments/optimizers/bestconfig.py [repeats=30]
"""

import sys
from dataclasses import dataclass

import contest

from albacore.optimizers import Observation, bestconfig, by_name

BUDGET = 100
SIZES = (5, 10, 20, 50, 100)
SAMPLERS = ("bestconfig", "latin_hypercube", "random", "grid", "recursive_random_search")


@dataclass(frozen=True)
class Row:
    """One cell of the table: tests per round, rounds, and the true costs that repeats ended with."""

    size: int
    rounds: int
    costs: list[float]


def of_size(function: contest.Function, size: int, seed: int) -> float:
    """Return the cost after `BUDGET` trials in rounds of a given size."""
    kept = bestconfig.set_size
    bestconfig.set_size = lambda budget, knobs: size
    try:
        return contest.run(function, "bestconfig", BUDGET, seed).costs[-1]
    finally:
        bestconfig.set_size = kept


def sampled(function: contest.Function, name: str, seed: int) -> float:
    """Return the best cost of a sampler's first twenty-five configs."""
    chosen = by_name(name, initial=25, budget=25)
    seen: list[Observation] = []
    for index in range(25):
        config = chosen.suggest(function.space, seen, [], seed=seed, ask_index=index)
        seen.append(Observation(config=config, score=function.truth(config), ask_index=index))
    return min(o.score for o in seen)


def main(repeats: int) -> None:
    """Print both tables."""
    print("| function | " + " | ".join(f"{n} x {BUDGET // n}" for n in SIZES) + " | default |")
    print("|---|" + "---|" * (len(SIZES) + 1))
    functions = contest.functions()
    for function in functions:
        cells = [contest.mean_of([of_size(function, n, seed) for seed in range(repeats)]) for n in SIZES]
        print(f"| {function.name} | {' | '.join(cells)} | {function.truth(function.space.default()):.2f} |", flush=True)
    print("\n| function | " + " | ".join(f"`{s}`" for s in SAMPLERS) + " |\n|---|" + "---|" * len(SAMPLERS))
    for function in functions:
        cells = [contest.mean_of([sampled(function, s, seed) for seed in range(repeats)]) for s in SAMPLERS]
        print(f"| {function.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
