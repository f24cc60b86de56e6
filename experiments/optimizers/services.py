"""A made-up application of twelve services on a path, five knobs each (microservices paper, §3.1, §3.2.2).

```
u     place of a knob in [0, 1]
t_i   ms of service i: its weight x (1 + what its knobs cost above their best)
p95   sum of all t_i + the largest one: the tail is made by the slowest service
```

What is best differs from service to service and is drawn by a fixed seed. Threads cost where the next service has far
fewer; memory is better the more there is, with less and less gain. Nothing of it was measured on a real application:
it has the shape of one, so that serial tuning has something to lose.
"""

import math
import random
from collections.abc import Callable

from albacore.space import Config, Knob, Space

COUNT = 12
MODES = ("synchronous", "adaptive", "polling")


def space() -> Space:
    """Return sixty knobs, service by service along the path."""
    return Space(knobs=tuple(knob for i in range(COUNT) for knob in _knobs(i)))


def groups() -> tuple[tuple[str, ...], ...]:
    """Return the knobs' names, a group per service."""
    return tuple(tuple(knob.name for knob in _knobs(i)) for i in range(COUNT))


def _knobs(i: int) -> tuple[Knob, ...]:
    return (
        Knob(name=f"s{i}_threads", kind="int", low=1, high=64, default=4, log=True),
        Knob(name=f"s{i}_memory", kind="int", low=16, high=8192, default=64, log=True, unit="MB"),
        Knob(name=f"s{i}_backlog", kind="int", low=16, high=4096, default=128, log=True),
        Knob(name=f"s{i}_mode", kind="choice", choices=MODES, default=MODES[0]),
        Knob(name=f"s{i}_share", kind="real", low=0.0, high=1.0, default=0.1),
    )


def latency(whole: Space) -> Callable[[Config], float]:
    """Return what gives p95 of a config in ms."""
    drawn = random.Random("services")
    weights = [1.5**-i for i in range(COUNT)]
    drawn.shuffle(weights)
    best = [{name: drawn.uniform(0.2, 0.9) for name in ("threads", "backlog", "share")} for _ in range(COUNT)]
    modes = [drawn.sample(range(3), 3) for _ in range(COUNT)]

    def cost(config: Config) -> float:
        place = {name: whole.knob(name).encode(config[name]) for name in whole.names if not name.endswith("mode")}
        times = []
        for i in range(COUNT):
            above = sum(
                share * (place[f"s{i}_{name}"] - best[i][name]) ** 2
                for name, share in (("threads", 1.2), ("backlog", 0.4), ("share", 0.5))
            )
            crowd = max(0.0, place[f"s{i}_threads"] - place[f"s{min(i + 1, COUNT - 1)}_threads"] - 0.1)
            memory = 0.5 * math.exp(-4 * place[f"s{i}_memory"])
            mode = 0.15 * modes[i][MODES.index(str(config[f"s{i}_mode"]))] / 2
            times.append(weights[i] * (1 + above + 0.8 * crowd**2 + memory + mode))
        return 10 * (sum(times) + max(times))

    return cost
