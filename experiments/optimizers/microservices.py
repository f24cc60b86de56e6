"""Microservices Fig. 4 and 5 in spirit: improvement over the default and overhead per ask, at 15 and 100 trials.

    nice python experiments/optimizers/microservices.py [repeats=5]

Writes microservices.json beside itself as it goes. Seconds are of the processor: load disturbs them less.
"""

import statistics
import sys
from pathlib import Path

import contest

from albacore.optimizers import KINDS

RESULTS = Path(__file__).with_name("microservices.json")
TRIALS = (15, 100)


def measured(function: contest.Function, name: str, trials: int, seed: int) -> list[float]:
    """Return the improvement in per cent, and the processor seconds per ask."""
    default = function.truth(function.space.default())

    def make() -> list[float]:
        ran = contest.run(function, name, trials, seed)
        return [100 * (1 - ran.costs[-1] / default), statistics.fmean(ran.seconds)]

    return contest.recorded(RESULTS, f"{function.name} | {name} | {trials} | {seed}", make)


def main(repeats: int) -> None:
    """Print the table: improvement in per cent over the default, mean of repeats; processor ms per ask."""
    function = contest.kvcache("zipf")
    print(
        "| method | improvement, 15 trials | 100 trials | ms per ask, 15 trials | 100 trials |\n|---|---|---|---|---|"
    )
    for name in sorted(KINDS):
        both = [[measured(function, name, trials, seed) for seed in range(repeats)] for trials in TRIALS]
        gains = [contest.mean_of([gain for gain, _ in rows], 1) + " %" for rows in both]
        costs = [f"{1000 * statistics.fmean([s for _, s in rows]):.0f}" for rows in both]
        print(f"| `{name}` | {' | '.join([*gains, *costs])} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
