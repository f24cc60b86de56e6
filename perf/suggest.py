"""Measure one suggestion in a fresh process: 100 PostgreSQL-like knobs, histories of 10 to 1,000 scores.

Wall time has everything: two interpreters, all imports, the forest and the search. The first ask imports the libraries
of its method; the second one, asked for the next index, has them, and is computed in the process itself. Memory is the
sum of the peaks, after the first ask, of the process that asks and of its child, as both are alive at the same time.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

HISTORIES = (10, 100, 300, 1000)


def space() -> Any:
    """Return 100 knobs as PostgreSQL mixes them: 40 int (20 log), 25 real (5 log), 10 special, 15 bool, 10 choice."""
    from albacore.space import AtMost, Knob, Space

    knobs = [
        Knob(name=f"pages_{i}", kind="int", low=16, high=1_000_000, default=128, log=True, unit="kB") for i in range(20)
    ]
    knobs += [Knob(name=f"count_{i}", kind="int", low=1, high=10 * (i + 1), default=2) for i in range(20)]
    knobs += [Knob(name=f"cost_{i}", kind="real", low=0.01, high=100.0, default=1.0, log=True) for i in range(5)]
    knobs += [Knob(name=f"share_{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(20)]
    knobs += [
        Knob(name=f"limit_{i}", kind="int", low=1, high=10_000, default=-1, special=(-1, 0), unit="ms")
        for i in range(10)
    ]
    knobs += [Knob(name=f"enable_{i}", kind="bool", default=True) for i in range(15)]
    knobs += [Knob(name=f"mode_{i}", kind="choice", choices=("a", "b", "c"), default="a") for i in range(10)]
    return Space(knobs=tuple(knobs), relations=(AtMost(lower="pages_0", upper="pages_1"),))


def history(of: Any, n: int) -> list[Any]:
    """Return `n` scores of random configs: a quadratic in ten knobs, a jump in one, and noise."""
    import numpy as np

    from albacore.optimizers import Observation, initial_design

    rng = np.random.default_rng(7)
    configs = initial_design(of, n, seed=11)
    places = np.array([of.encode(config) for config in configs])
    scores = 10 + ((places[:, 15:25] - 0.3) ** 2).sum(1) * 10 + places[:, 80] + rng.normal(0, 0.2, n)
    return [
        Observation(config=config, score=float(score), ask_index=index)
        for index, (config, score) in enumerate(zip(configs, scores, strict=True))
    ]


def suggest_once(name: str, n: int) -> dict[str, float | str]:
    """Suggest in this process; return seconds of the ask, peak bytes of the process tree, and the config's id."""
    from albacore import optimizers

    of = space()
    told = history(of, n)
    optimizer = optimizers.by_name(name, budget=1000)
    first = next(index for index in range(n, n + 40) if not _is_random(name, index))
    asked_at = time.perf_counter()
    config = optimizer.suggest(of, told, [], seed=1, ask_index=first)
    asked_s = time.perf_counter() - asked_at
    # Only SMAC computes in a child; of others a child is an `lscpu` of joblib, which counts as large as its parent.
    counted = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) if name == "smac" else (resource.RUSAGE_SELF,)
    peaks = [resource.getrusage(who).ru_maxrss * 1024 for who in counted]
    return {"ask_s": asked_s, "again_s": again_s(name, of, told), "rss_bytes": float(sum(peaks)), "config": config.id}


def again_s(name: str, of: Any, told: list[Any]) -> float:
    """Return the seconds of an ask with all libraries loaded: the median of three."""
    from albacore import optimizers
    from albacore.optimizers.smac import Smac, in_process

    optimizer = Smac(run=in_process) if name == "smac" else optimizers.by_name(name, budget=1000)
    if name == "smac":  # its libraries have been loaded by its child only
        _elapsed(lambda: [optimizer.suggest(of, told[:20], [], seed=1, ask_index=index) for index in (20, 21, 22)])
    indices = iter(range(len(told) + 1, len(told) + 40))
    seconds = list[float]()
    while len(seconds) < 3:
        index = next(indices)
        spent = _elapsed(lambda index=index: optimizer.suggest(of, told, [], seed=1, ask_index=index))
        if not _is_random(name, index):
            seconds.append(spent)
    return statistics.median(seconds)


def _elapsed(work: Callable[[], Any]) -> float:
    at = time.perf_counter()
    work()
    return time.perf_counter() - at


def _is_random(name: str, index: int) -> bool:
    """Return whether an ask is of a forest's share of random configs, which takes no time and tells nothing."""
    import importlib

    import numpy as np

    share = getattr(importlib.import_module(f"albacore.optimizers.{name}"), "RANDOM_SHARE", 0.0)
    return bool(np.random.default_rng([1, index, 1]).random() < share)


def figures() -> dict[str, dict[str, Any]]:
    """Return every figure by its name, with its unit."""
    from albacore import optimizers

    found: dict[str, dict[str, Any]] = {}
    for name in sorted(optimizers.KINDS):
        for n in HISTORIES:
            started_at = time.perf_counter()
            done = subprocess.run([sys.executable, __file__, name, str(n)], capture_output=True, text=True, check=True)
            wall_s = time.perf_counter() - started_at
            one = json.loads(done.stdout)
            found[f"suggest {name}, {n} scores, wall"] = {"value": round(wall_s, 2), "unit": "s"}
            found[f"suggest {name}, {n} scores, ask"] = {"value": round(one["ask_s"], 3), "unit": "s"}
            found[f"suggest {name}, {n} scores, ask again"] = {"value": round(one["again_s"], 4), "unit": "s"}
            found[f"suggest {name}, {n} scores, peak RSS"] = {"value": round(one["rss_bytes"] / 1e6), "unit": "MB"}
    return found


if __name__ == "__main__":
    print(json.dumps(suggest_once(sys.argv[1], int(sys.argv[2])) if len(sys.argv) == 3 else figures(), indent=2))
