"""Asynchronous: successive halving that never waits for a bracket, with capped promotion.

L. Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020, Alg. 2 (ASHA), with one difference.

| symbol | meaning |
|---|---|
| rungs | nodes per rung, e.g. (1, 3, 10) |
| eta | of what has finished at a rung, at most 1/eta is promoted |
| F_r, P_r | configs with a score at rung r; those asked for at rung r + 1 |

Deviates: ASHA promotes whatever is among the best 1/eta of F_r at the moment. With noisy scores newcomers push others
out and in, and in the end more than 1/eta have been promoted. Here |P_r| never exceeds |F_r| / eta; the best that has
not been promoted takes the next place.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from albacore.policies import Step
from albacore.policies.brackets import Brackets
from albacore.trial import Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Asynchronous:
    """Promote as soon as there is a place, the highest rung first; otherwise ask for a new config.

    Attributes:
        rungs: Nodes per rung, strictly rising.
        eta: Halving factor, 3 as in the paper's ladder.
    """

    rungs: tuple[int, ...] = (1, 3, 10)
    eta: int = 3

    def __post_init__(self) -> None:
        Brackets(rungs=self.rungs, eta=self.eta)  # the same is asked of both

    def step(self, asks: Sequence[Ask], costs: Mapping[tuple[str, int], float]) -> Step:
        """Return the best promotion that there is a place for, or a new config."""
        asked = {(ask.config_id, ask.rung) for ask in asks}
        for rung in reversed(range(len(self.rungs) - 1)):
            finished = [c for c in dict.fromkeys(a.config_id for a in asks if a.rung == rung) if (c, rung) in costs]
            promoted = [c for c in finished if (c, rung + 1) in asked]
            alive = [c for c in finished if (c, rung + 1) not in asked and costs[c, rung] < math.inf]
            if alive and len(promoted) < len(finished) // self.eta:
                return Step(config_id=min(alive, key=lambda c: costs[c, rung]), rung=rung + 1, bracket=0)
        return Step(config_id=None, rung=0, bracket=0)
