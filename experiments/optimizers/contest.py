"""Play optimizers against functions whose truth is known: what the experiments of this folder share.

```
trials    configs that one run measures, one at a time, without a ladder; a second measurement counts as one
truth     cost of a config without noise; what a run is judged by
noise     what a score differs from the truth by, see `NOISES`; Metis §6.2 gives no figures of its outliers
```
"""

import math
import sys
import time
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "include"), str(ROOT / "tests" / "paper"), str(ROOT / "experiments" / "workbench")]

import baselines  # noqa: E402 - the path has just been made
import cache_tail  # noqa: E402
import services as application  # noqa: E402

from albacore import optimizers  # noqa: E402
from albacore.optimizers import Observation, Optimizer, Repeating  # noqa: E402
from albacore.optimizers.smac import Smac, in_process  # noqa: E402
from albacore.space import Config, Knob, Space  # noqa: E402

OUTLIERS = 0.15
NOISES: dict[str, Callable[[float], float]] = {
    "clean": lambda draw: 1.0,
    # Background work on the machine makes one trial in seven 1.2 to 2 times as slow.
    "slower": lambda draw: 1.2 + 0.8 * draw / OUTLIERS if draw < OUTLIERS else 1.0,
    # One trial in seven is a third better or worse: a lucky score is possible too.
    "both ways": lambda draw: 2 / 3 if draw < OUTLIERS / 2 else 4 / 3 if draw < OUTLIERS else 1.0,
}
PREDICTS_FROM = 6
"""Scores from which Metis' choice is what it predicts to be best; before that it has only its hypercube."""
SERIAL_ASKS = 15
"""Trials per service of the serial baseline (microservices §3.3)."""


@dataclass(frozen=True)
class Function:
    """A space and the cost of its configs."""

    name: str
    space: Space
    truth: Callable[[Config], float]


def kvcache(frequency: str) -> Function:
    """Return the tail of the cache under keys of a frequency, in us."""
    return Function(f"kvcache-{frequency}", cache_tail.space(), cache_tail.tail(frequency))


def services() -> Function:
    """Return the made-up application, in ms."""
    space = application.space()
    return Function("services", space, application.latency(space))


def synthetic(d: int) -> Function:
    """Return d reals with a bent valley and ripples; knob i + 6 is half as important as knob i; the least is 1."""
    knobs = tuple(Knob(name=f"x{i}", kind="real", low=0.0, high=1.0, default=0.9) for i in range(d))

    def truth(config: Config) -> float:
        x = [float(config[f"x{i}"]) for i in range(d)]
        off = [(v - 0.2 - 0.1 * (i % 6), 0.5 ** (i // 6)) for i, v in enumerate(x)]
        bowl = sum(weight * far**2 for far, weight in off) + 0.8 * (x[0] * x[1] - 0.06) ** 2
        return 1.0 + bowl + 0.03 * sum(weight * (1 - math.cos(12 * far)) for far, weight in off)

    return Function(f"synthetic-{d}", Space(knobs=knobs), truth)


def method(name: str, trials: int, initial: int = optimizers.INITIAL) -> Optimizer:
    """Return an optimizer or a baseline of the papers; SMAC computes in this process."""
    serial = baselines.Serial(
        groups=application.groups(), asks=SERIAL_ASKS, inner=optimizers.by_name("gp", initial=initial)
    )
    own: dict[str, Callable[[], Optimizer]] = {
        "ituned": baselines.ituned,
        "cherrypick": baselines.cherrypick,
        "tpe_20": baselines.tpe_20,
        "serial": lambda: serial,
        "serial, reversed": lambda: baselines.reversed_order(serial),
        "smac": lambda: Smac(run=in_process, initial=initial),
        "metis, no re-sampling": lambda: optimizers.NewOnly(inner=optimizers.by_name("metis")),
    }
    return own[name]() if name in own else optimizers.by_name(name, budget=trials, initial=initial)


@dataclass(frozen=True)
class Ran:
    """What one run came to: the true cost of its choice after some trials, and the processor seconds of its asks."""

    costs: dict[int, float]
    seconds: list[float]


def run(
    function: Function, chosen: Optimizer, shown: Collection[int], seed: int, *, noise: str = "clean", tag: str = ""
) -> Ran:
    """Play one run up to the last of the trials `shown`; the choice is the lowest score, or Metis' lowest prediction.

    Args:
        function: What is minimised.
        chosen: Who suggests.
        shown: Numbers of trials, from 1, after which the cost is looked at.
        seed: Of the run.
        noise: A name of `NOISES`.
        tag: Runs with another tag draw other noise.
    """
    seen, costs, seconds = list[Observation](), dict[int, float](), list[float]()
    for index in range(max(shown)):
        at = time.process_time()
        suggest = chosen.suggest_or_repeat if isinstance(chosen, Repeating) else chosen.suggest
        config = suggest(function.space, seen, [], seed=seed, ask_index=index)
        seconds.append(time.process_time() - at)
        draw = zlib.crc32(f"{function.name}/{tag}/{index}/{seed}".encode()) / 2**32
        score = function.truth(config) * NOISES[noise](draw)
        seen.append(Observation(config=config, score=score, ask_index=index))
        if index + 1 in shown:
            best = predicted(chosen, function.space, seen) or min(seen, key=lambda o: o.score).config
            costs[index + 1] = function.truth(best)
    return Ran(costs, seconds)


def predicted(chosen: Any, space: Space, seen: list[Observation]) -> Config | None:
    """Return the config that Metis predicts to be best, once it has a model; None for all others."""
    inner = getattr(chosen, "inner", chosen)
    return inner.best(space, seen) if hasattr(inner, "best") and len(seen) >= PREDICTS_FROM else None
