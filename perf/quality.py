"""Measure how good the optimizers are: two noisy functions, 15 and 60 trials, eight repeats.

`few` has 8 knobs that all matter; `many` has 40 of which 8 matter, with log scales and special values. The cost of a
config lies between 0 (the best there is) and about 3; every score has noise with a deviation of 0.05. One sample per
config, no ladder, no pending configs. The figure is the true cost, without noise, of the config that would be chosen:
the one with the lowest score, or Metis' lowest prediction. Takes a quarter of an hour, so `make perf` leaves it out:
`python perf/quality.py` writes `quality.json` and prints the table of docs/optimizers.md.
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("quality.json")
TRIALS = (15, 60)
REPEATS = 8
NOISE = 0.05


def few() -> Any:
    """Return 8 knobs: five reals, a log scale, a choice, a switch."""
    from albacore.space import Knob, Space

    reals = [Knob(name=f"x{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(5)]
    return Space(
        knobs=(
            *reals,
            Knob(name="pages", kind="int", low=1, high=10_000, default=1, log=True),
            Knob(name="mode", kind="choice", choices=("a", "b", "c", "d"), default="a"),
            Knob(name="fast", kind="bool", default=False),
        )
    )


def many() -> Any:
    """Return the 8 knobs and 32 that do nothing, 16 of them with a special value."""
    from albacore.space import Knob, Space

    idle = [Knob(name=f"i{i}", kind="int", low=1, high=1000, default=10, log=True, special=(-1,)) for i in range(16)]
    idle += [Knob(name=f"s{i}", kind="bool", default=False) for i in range(8)]
    idle += [Knob(name=f"r{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(8)]
    return Space(knobs=(*few().knobs, *idle))


def truth(config: Any) -> float:
    """Return the cost of a config without noise."""
    import math

    reals = sum((float(config[f"x{i}"]) - 0.3) ** 2 for i in range(5))
    pages = (math.log(config["pages"]) / math.log(10_000) - 0.7) ** 2
    return reals + pages + 0.3 * "cabd".index(str(config["mode"])) + 0.4 * (not config["fast"])


def optimizer(name: str, budget: int) -> Any:
    """Return an optimizer that computes in this process."""
    from albacore import optimizers
    from albacore.optimizers.smac import Smac, in_process

    return Smac(run=in_process) if name == "smac" else optimizers.by_name(name, budget=budget)


def found(name: str, space: Any, trials: int, seed: int) -> float:
    """Return the true cost of the config that one run ends with."""
    import numpy as np

    from albacore.optimizers import Observation

    rng, seen = np.random.default_rng([seed, 99]), []
    method = optimizer(name, trials)
    for index in range(trials):
        config = method.suggest(space, seen, [], seed=seed, ask_index=index)
        seen.append(Observation(config=config, score=truth(config) + float(rng.normal(0, NOISE)), ask_index=index))
    best = method.best(space, seen) if hasattr(method, "best") else min(seen, key=lambda o: o.score).config
    return truth(best)


def measured(names: list[str]) -> None:
    """Measure the named optimizers; what was measured before is kept."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names:
        for label, space in (("few", few()), ("many", many())):
            for trials in TRIALS:
                at = time.perf_counter()
                costs = [found(name, space, trials, seed) for seed in range(REPEATS)]
                results.setdefault(name, {})[f"{label} {trials}"] = costs
                print(name, label, trials, f"{time.perf_counter() - at:.0f} s", file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(results, indent=2) + "\n")


def table() -> str:
    """Return the figures as Markdown, the best of the last column first: mean and half of its 95 % interval."""
    results = json.loads(RESULTS.read_text())
    columns = [f"{label} {trials}" for label in ("few", "many") for trials in TRIALS]
    lines = ["| optimizer | " + " | ".join(f"{column} trials" for column in columns) + " |", "|---|" + "---|" * 4]
    for name in sorted(results, key=lambda key: statistics.fmean(results[key][columns[-1]])):
        cells = []
        for column in columns:
            costs = results[name][column]
            reach = 2.365 * statistics.stdev(costs) / len(costs) ** 0.5  # Student's t, 95 %, 7 degrees of freedom
            cells.append(f"{statistics.fmean(costs):.2f} ± {reach:.2f}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(names: list[str]) -> None:
    """Measure and print."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "include"))
    from albacore import optimizers

    measured(names or sorted(optimizers.KINDS))
    print(table())


if __name__ == "__main__":
    main(sys.argv[1:])
