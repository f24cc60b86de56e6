"""Measure how good the optimizers are: two noisy functions, 15 and 60 trials, eight repeats.

`few` has 8 knobs that all matter; `many` has 40 of which 8 matter, with log scales and special values. The cost of a
config lies between 0 (the best there is) and about 3; every score has noise with a deviation of 0.05. One sample per
config, no ladder, no pending configs. The figure is the true cost, without noise, of the config that would be chosen:
the one with the lowest score, or Metis' lowest prediction.

Costs follow from the seeds and the code alone, so what was measured of the same code is not measured again:
`quality.json` has a digest of the code beside the costs, and is written run by run.
The whole takes a quarter of an hour.
"""

import hashlib
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("quality.json")
TRIALS = (15, 60)
REPEATS = 8
NOISE = 0.05
STUDENT = 2.365
"""Student's t, 95 %, 7 degrees of freedom."""
FIXED = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Without them SMAC's search, and the last digits of sums, differ between two runs."""


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
    """Measure what is missing of the named optimizers."""
    spaces = {"few": few(), "many": many()}
    for name in names:
        for label, space in spaces.items():
            for trials in TRIALS:
                for seed in range(REPEATS):
                    results = known()
                    costs = results["costs"].setdefault(name, {}).setdefault(f"{label} {trials}", [])
                    if len(costs) == seed:
                        costs.append(found(name, space, trials, seed))
                        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
                print(f"quality: {name}, {label}, {trials} trials", file=sys.stderr, flush=True)


def known() -> dict[str, Any]:
    """Return what was measured of this code: its digest, and costs by optimizer and function."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return results if results.get("code") == digest() else {"code": digest(), "costs": {}}


def digest() -> str:
    """Return a digest of what the costs follow from: the optimizers, the space, and this file."""
    code = [*(ROOT / "include" / "albacore" / part for part in ("optimizers", "space")), Path(__file__).resolve()]
    files = [file for part in code for file in (sorted(part.glob("*.py")) if part.is_dir() else [part])]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def figures() -> dict[str, dict[str, Any]]:
    """Return mean cost and half of its 95 % interval for every optimizer, function and number of trials."""
    environment = {**os.environ, **FIXED, "PYTHONPATH": str(ROOT / "include")}
    subprocess.run([sys.executable, __file__], check=True, env=environment)
    found: dict[str, dict[str, Any]] = {}
    for name, by_column in known()["costs"].items():
        for column, costs in by_column.items():
            reach = STUDENT * statistics.stdev(costs) / len(costs) ** 0.5
            found[f"quality {name}, {column} trials"] = {"value": round(statistics.fmean(costs), 3), "unit": "cost"}
            found[f"quality {name}, {column} trials, ±"] = {"value": round(reach, 3), "unit": "cost"}
    return found


if __name__ == "__main__":
    from albacore.optimizers import KINDS

    measured(sys.argv[1:] or sorted(KINDS))
