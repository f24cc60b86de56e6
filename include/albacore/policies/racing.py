"""Racing: the next sample goes to the config whose place it can change most; fixed rungs have no part in it.

F. Hutter et al., "Sequential Model-Based Optimization for General Algorithm Configuration", LION 2011, §3.2
(intensification), with one sample more at a time and several races side by side.

| symbol | meaning |
|---|---|
| rungs | 1, 2, …, N: every number of nodes is a rung |
| b | least cost on the highest rung so far; none: infinite |
| challenger | a config with a score that is better than b and not yet of the highest rung |

A score is the worst of its samples, so it only gets worse as samples are added (but for what the noise adjuster moves
it by, and an unstable one is halved): a config that has fallen behind b stays behind, and gets no more samples. That
is an early verdict, not a guess.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from albacore.policies import Step
from albacore.policies.brackets import Brackets
from albacore.trial import Ask


def highest_asked(asks: Sequence[Ask]) -> dict[str, int]:
    """Return config -> the highest rung that it was asked for at, in the order of their first asks."""
    reached: dict[str, int] = {}
    for ask in asks:
        reached[ask.config_id] = max(ask.rung, reached.get(ask.config_id, 0))
    return reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Racing:
    """Give the best challenger another node, while there is one; otherwise ask for a new config.

    Attributes:
        rungs: 1 to the number of nodes.
        first: Configs with a score before the first race begins.
        width: Challengers that may be measured at the same time.
    """

    rungs: tuple[int, ...] = tuple(range(1, 11))
    first: int = 10
    width: int = 4

    def __post_init__(self) -> None:
        Brackets(rungs=self.rungs)  # the same is asked of both

    def step(self, asks: Sequence[Ask], costs: Mapping[tuple[str, int], float]) -> Step:
        """Return the next sample of the best challenger, or a new config."""
        top = len(self.rungs) - 1
        reached = highest_asked(asks)
        finished = {c: rung for c, rung in reached.items() if (c, rung) in costs}
        running = sum(rung > 0 and c not in finished for c, rung in reached.items())
        best = min((cost for (_, rung), cost in costs.items() if rung == top), default=math.inf)
        ahead = [c for c, rung in finished.items() if rung < top and costs[c, rung] < best]
        if ahead and running < self.width and len(finished) >= self.first:
            config_id = min(ahead, key=lambda c: costs[c, finished[c]])
            return Step(config_id=config_id, rung=finished[config_id] + 1, bracket=0)
        return Step(config_id=None, rung=0, bracket=0)
