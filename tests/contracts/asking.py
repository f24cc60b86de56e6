"""A program that asks optimizers in a process of its own, for the contract to compare processes and hash seeds.

`python asking.py QUESTION[,QUESTION ...] KIND [KIND ...]` prints {kind: {question: answer}}.

once      one suggestion after 300 scores
thousand  one suggestion after 1,000 scores
loop      asks with 12 pending, scores out of order, some lost, some failed, some penalised: ids, and how many were not
          legal
edges     histories of unusual shapes
climb     60 asks on a noisy function of 8 knobs: how good the late ones are
bad       the same after a start of ten that are among the worst there are
crashed   the same after ten that failed
"""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from albacore.optimizers import BUDGET, INITIAL, Observation, Optimizer, by_name, initial_design
from albacore.optimizers.smac import Smac, in_process
from albacore.space import AtMost, Config, Knob, MemorySum, Space

MODELS = ("boosted_trees", "gp", "metis", "stable_forest", "tpe")
"""Kinds that learn a surface at every ask: fewer asks in the loop."""
ASKS, ASKS_OF_MODELS = 80, 30
PENDING = 12
SPACE = Space(
    knobs=(
        Knob(name="buffers", kind="int", low=16, high=2048, default=128, log=True, unit="MB", special=(-1,)),
        Knob(name="work_mem", kind="int", low=64, high=1_000_000, default=4096, log=True, unit="kB"),
        Knob(name="cost", kind="real", low=0.1, high=10.0, default=4.0, log=True),
        Knob(name="target", kind="real", low=0.0, high=1.0, default=0.5, special=(-1.0,)),
        Knob(name="wal_min", kind="int", low=32, high=4000, default=80, unit="MB"),
        Knob(name="wal_max", kind="int", low=32, high=4000, default=1024, unit="MB"),
        Knob(name="workers", kind="int", low=0, high=8, default=2),
        Knob(name="one", kind="int", low=3, high=3, default=3),
        Knob(name="compression", kind="choice", choices=("off", "pglz", "on"), default="off"),
        Knob(name="only", kind="choice", choices=("this",), default="this"),
        Knob(name="nestloop", kind="bool", default=True),
    ),
    relations=(AtMost(lower="wal_min", upper="wal_max"),),
    memory=(MemorySum(terms=(("buffers", 1.0), ("work_mem", 8.0)), max_bytes=3e9),),
)


def optimizer(kind: str, budget: int = BUDGET) -> Optimizer:
    """Return the optimizer, computing in this process."""
    return Smac(run=in_process) if kind == "smac" else by_name(kind, budget=budget)


def cost(config: Config) -> float:
    """Return a cost of a config of `SPACE`."""
    return float(abs(SPACE.encode(config) - 0.4).sum())


def told(n: int, rungs: int = 1) -> list[Observation]:
    """Return `n` scores of random configs over some rungs."""
    return [
        Observation(config=config, rung=index % rungs, score=cost(config), ask_index=index)
        for index, config in enumerate(initial_design(SPACE, n, seed=11))
    ]


def once(kind: str) -> object:
    """Return the config after 300 scores, by the optimizer as campaigns use it."""
    return dict(by_name(kind).suggest(SPACE, told(300, rungs=2), [SPACE.default()], seed=4, ask_index=301))


def thousand(kind: str) -> object:
    """Return whether the config after 1,000 scores is legal and new."""
    seen = told(1000)
    config = optimizer(kind).suggest(SPACE, seen, [], seed=4, ask_index=1000)
    return SPACE.config(config) not in {o.config for o in seen}


def loop(kind: str) -> object:
    """Return the ids of asks that have up to 12 pending, and how many configs were not legal.

    Of every five configs the later ones are told first; every ninth is never told; every seventh fails and has the
    worst cost so far; every eleventh is unstable and penalised.
    """
    asked: list[Config] = []
    seen: list[Observation] = []
    illegal = 0
    open_asks: list[int] = []
    for index in range(ASKS_OF_MODELS if kind in MODELS else ASKS):
        pending = [asked[i] for i in sorted(open_asks)]
        config = optimizer(kind).suggest(SPACE, seen, pending, seed=4, ask_index=index)
        illegal += SPACE.config(config) != config
        asked.append(config)
        open_asks.append(index)
        if len(open_asks) > PENDING:
            done = open_asks.pop(min(index % 5, 4))
            if done % 9:
                score = cost(asked[done]) * (2 if done % 11 == 0 else 1)
                worst = max((o.score for o in seen), default=score)
                failed = done % 7 == 0
                seen.append(
                    Observation(config=asked[done], score=worst if failed else score, is_failure=failed, ask_index=done)
                )
    return {"ids": [config.id for config in asked], "illegal": illegal}


def edges(kind: str) -> object:
    """Return how many histories of unusual shape ended in a legal config."""
    ask = partial(optimizer(kind).suggest, SPACE, pending=[], seed=4)
    many = told(40)
    histories = [
        [],
        many[:1],
        many[:2],
        [Observation(config=o.config, score=7.0, ask_index=o.ask_index) for o in many],
        [Observation(config=o.config, score=1e300, is_failure=True) for o in many],
        [Observation(config=o.config, score=-1e300 if i == 3 else 1e300) for i, o in enumerate(many)],
        [*many, Observation(config=SPACE.default(), rung=2, score=1.0)],
    ]
    return sum(
        SPACE.config(ask(observations=seen, ask_index=50 + i)) not in {o.config for o in seen}
        for i, seen in enumerate(histories)
    )


CLIMB = Space(
    knobs=(
        *(Knob(name=f"x{i}", kind="real", low=0.0, high=1.0, default=0.5) for i in range(5)),
        Knob(name="pages", kind="int", low=1, high=10_000, default=1, log=True),
        Knob(name="mode", kind="choice", choices=("a", "b", "c", "d"), default="a"),
        Knob(name="fast", kind="bool", default=False),
    )
)


def truth(config: Config) -> float:
    """Return the cost without noise: 0 is the best there is, 1.4 is usual."""
    reals = sum((float(config[f"x{i}"]) - 0.3) ** 2 for i in range(5))
    pages = (CLIMB.knob("pages").encode(config["pages"]) - 0.7) ** 2
    return reals + pages + 0.3 * "cabd".index(str(config["mode"])) + 0.4 * (not config["fast"])


def bad(seed: int) -> list[Observation]:
    """Return the worst ten of two hundred random configs, as if they had been asked for first."""
    worst = sorted(initial_design(CLIMB, 200, seed=100 + seed), key=truth)[-INITIAL:]
    return [Observation(config=config, score=truth(config), ask_index=i) for i, config in enumerate(worst)]


def crashed(seed: int) -> list[Observation]:
    """Return the same, all of them failed: nothing is known but one crash score."""
    return [replace(o, score=truth(CLIMB.default()), is_failure=True) for o in bad(seed)]


def nothing(seed: int) -> list[Observation]:
    """Return the usual start."""
    return []


def climb(kind: str, start: Callable[[int], list[Observation]] = nothing) -> object:
    """Return the median true cost of the last third of the asks, mean over some seeds; the noise has a deviation of
    0.05.
    """
    is_slow = kind in MODELS or (kind == "smac" and start is not nothing)
    asks, seeds = (36, 2) if is_slow else (60, 3)
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        seen = start(seed)
        for index in range(len(seen), asks):
            config = optimizer(kind, budget=asks).suggest(CLIMB, seen, [], seed=seed, ask_index=index)
            score = truth(config) + float(rng.normal(0, 0.05))
            seen.append(Observation(config=config, score=score, ask_index=index))
        found.append(float(np.median([truth(o.config) for o in seen[asks * 2 // 3 :]])))
    return sum(found) / len(found)


QUESTIONS = {
    "once": once,
    "thousand": thousand,
    "loop": loop,
    "edges": edges,
    "climb": climb,
    "bad": partial(climb, start=bad),
    "crashed": partial(climb, start=crashed),
}

if __name__ == "__main__":
    asked = sys.argv[1].split(",")
    print(json.dumps({kind: {name: QUESTIONS[name](kind) for name in asked} for kind in sys.argv[2:]}))
