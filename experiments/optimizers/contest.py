"""Play optimizers against functions whose truth is known: the harness of the experiments in this folder.

```
trials    configs that one run measures, one at a time, without a ladder
truth     cost of a config without noise; what a run is judged by
outlier   with this chance a score is drawn worse or better by a third (Metis §6.2 has no figure for either)
```

Seeds are fixed: the same command gives the same figures, but for seconds.
"""

import json
import math
import runpy
import statistics
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "include"), str(ROOT / "tests" / "paper")]

import baselines  # noqa: E402

from albacore import optimizers  # noqa: E402
from albacore.optimizers import Observation, Optimizer, Repeating  # noqa: E402
from albacore.optimizers.smac import Smac, in_process  # noqa: E402
from albacore.space import Config, Space  # noqa: E402
from albacore.space.catalogue import Catalogue  # noqa: E402

KVCACHE = ROOT / "include" / "benchmarks" / "kvcache"
KEYS, WARMUP, REQUESTS = 2000, 3000, 3000
OUTLIERS, OUTLYING = 0.15, 1 / 3


@dataclass(frozen=True)
class Function:
    """A space and the cost of its configs."""

    name: str
    space: Space
    truth: Callable[[Config], float]


def kvcache(frequency: str) -> Function:
    """Return half of the 99th percentile and half of the mean of the cache's counted work, in us (Metis §6.1)."""
    cache, demand = (runpy.run_path(str(KVCACHE / f"{name}.py")) for name in ("cache", "demand"))
    sizes, keys = demand["sizes"](KEYS, 1), demand["requests"](KEYS, WARMUP + REQUESTS, frequency, 1)
    space = Catalogue.read(KVCACHE / "knobs.toml").space({"ram_bytes": 2**33, "cores": 2, "disk_bytes": 2**36})
    known: dict[str, float] = {}

    def truth(config: Config) -> float:
        if config.id not in known:
            figures = cache["counted"](dict(config), sizes, keys, WARMUP)
            known[config.id] = 0.5 * figures["p99_us"] + 0.5 * figures["mean_us"]
        return known[config.id]

    return Function(f"kvcache-{frequency}", space, truth)


def synthetic() -> Function:
    """Return six reals with a bent valley and ripples; the least cost is 1."""
    from albacore.space import Knob

    knobs = tuple(Knob(name=f"x{i}", kind="real", low=0.0, high=1.0, default=0.9) for i in range(6))

    def truth(config: Config) -> float:
        x = [float(config[f"x{i}"]) for i in range(6)]
        bowl = sum((v - 0.2 - 0.1 * i) ** 2 for i, v in enumerate(x)) + 0.8 * (x[0] * x[1] - 0.06) ** 2
        return 1.0 + bowl + 0.03 * sum(1 - math.cos(12 * (v - 0.2 - 0.1 * i)) for i, v in enumerate(x))

    return Function("synthetic", Space(knobs=knobs), truth)


def functions() -> list[Function]:
    """Return all functions."""
    return [synthetic(), *(kvcache(frequency) for frequency in ("zipf", "normal", "linear"))]


def method(name: str, trials: int) -> Optimizer:
    """Return an optimizer or a baseline of the papers; SMAC computes in this process."""
    own = {"ituned": baselines.ituned, "cherrypick": baselines.cherrypick, "tpe_20": baselines.tpe_20}
    if name in own:
        return own[name]()
    if name == "smac":
        return Smac(run=in_process)
    if name == "metis, no re-sampling":
        return optimizers.NewOnly(inner=optimizers.by_name("metis"))
    return optimizers.by_name(name, budget=trials)


@dataclass(frozen=True)
class Ran:
    """What one run came to: the true cost of its choice after each trial, and the seconds of its asks."""

    costs: list[float]
    seconds: list[float]


def run(function: Function, name: str, trials: int, seed: int, *, outliers: bool = False) -> Ran:
    """Play one run; the choice is the lowest score, or Metis' lowest prediction."""
    chosen, seen = method(name, trials), list[Observation]()
    costs, seconds = [], []
    best: Config | None = None
    for index in range(trials):
        at = time.process_time()
        suggest = chosen.suggest_or_repeat if isinstance(chosen, Repeating) else chosen.suggest
        config = suggest(function.space, seen, [], seed=seed, ask_index=index)
        seconds.append(time.process_time() - at)
        score = function.truth(config) * (luck(name, index, seed) if outliers else 1.0)
        seen.append(Observation(config=config, score=score, ask_index=index))
        best = predicted(chosen, function.space, seen) or min(seen, key=lambda o: o.score).config
        costs.append(function.truth(best))
    return Ran(costs, seconds)


def luck(name: str, index: int, seed: int) -> float:
    """Return the factor on one score: 1, or, with the chance of an outlier, a third more or less."""
    draw = zlib.crc32(f"{name}/{index}/{seed}".encode()) / 2**32
    return 1 - OUTLYING if draw < OUTLIERS / 2 else 1 + OUTLYING if draw < OUTLIERS else 1.0


def predicted(chosen: Any, space: Space, seen: list[Observation]) -> Config | None:
    """Return the config that Metis predicts to be best, once it has a model; None for all others."""
    inner = getattr(chosen, "inner", chosen)
    return inner.best(space, seen) if hasattr(inner, "best") and len(seen) >= 6 else None


def recorded(path: Path, key: str, make: Callable[[], Any]) -> Any:
    """Return a figure out of a JSON file, or make it and write it down, so that a command that was ended goes on."""
    found = json.loads(path.read_text()) if path.exists() else {}
    if key not in found:
        found[key] = make()
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    return found[key]


def mean_of(values: list[float], digits: int = 2) -> str:
    """Return a mean and half of its 95 % interval, by Student's t."""
    from scipy.stats import t

    if len(values) < 2:
        return f"{values[0]:.{digits}f}"
    reach = t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.fmean(values):.{digits}f} ± {reach:.{digits}f}"
