"""Budget allocation (OCBA): samples where they raise the chance most that the best config is chosen.

C.-H. Chen et al., "Simulation Budget Allocation for Further Enhancing the Efficiency of Ordinal Optimization",
Discrete Event Dynamic Systems 10 (2000), Theorem 1, one sample at a time and among configs that keep coming.

| symbol | meaning |
|---|---|
| J_i | cost of config i on the nodes it has, lower is better |
| b | the config with the least cost |
| d_i | J_i - J_b |
| s_i | deviation of one sample of config i |
| a_i | its share of all samples: a_i / a_j = (s_i / d_i)^2 / (s_j / d_j)^2 for i, j other than b |
| a_b | s_b * sqrt(sum over i other than b of (a_i / s_i)^2) |
| m | samples per config, on average over all configs that were asked for |

A ladder sees one score per config and rung and not the samples behind it, so all s_i are equal here, and cancel.

Deviates: the theorem is of means, which may rise again. A score here is the worst of its samples and only gets worse,
so a config behind the best on all nodes is certain to lose, and has no share, as in `racing.py`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from albacore.policies import Step
from albacore.policies.brackets import Brackets
from albacore.policies.racing import highest_asked
from albacore.trial import Ask

LEAST_GAP = 1e-6
"""Of the largest d_i: what equals the best has a share without an end otherwise."""


def shares(costs: Sequence[float], deviations: Sequence[float]) -> list[float]:
    """Return which share of all samples each config is to have (Chen et al. 2000, Theorem 1).

    Args:
        costs: J_i, finite, at least one; of equal ones the first is b.
        deviations: s_i, above zero, in the unit of the costs.
    """
    best = costs.index(min(costs))
    least = LEAST_GAP * (max(costs) - costs[best]) or 1.0
    ratio = [(s / max(cost - costs[best], least)) ** 2 for cost, s in zip(costs, deviations, strict=True)]
    others = sum((r / s) ** 2 for i, (r, s) in enumerate(zip(ratio, deviations, strict=True)) if i != best)
    ratio[best] = deviations[best] * math.sqrt(others) or 1.0
    return [r / sum(ratio) for r in ratio]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAllocation:
    """Give the config that lacks most of its share another node, while there is budget; otherwise ask for a new one.

    Attributes:
        rungs: 1 to the number of nodes.
        first: Configs with a score before anything is allocated.
        per_config: m; new configs come whenever there are no more samples than that for each.
    """

    rungs: tuple[int, ...] = tuple(range(1, 11))
    first: int = 10
    per_config: float = 3.0

    def __post_init__(self) -> None:
        Brackets(rungs=self.rungs)  # the same is asked of both

    def step(self, asks: Sequence[Ask], costs: Mapping[tuple[str, int], float]) -> Step:
        """Return the next sample of the config that lacks most of its share, or a new config."""
        reached = highest_asked(asks)
        scored = {config_id for config_id, _ in costs} & reached.keys()
        spent = sum(self.rungs[rung] for rung in reached.values())
        may_allocate = len(scored) >= self.first and spent < self.per_config * len(reached)
        if may_allocate and (config_id := self._neediest(reached, costs)):
            return Step(config_id=config_id, rung=reached[config_id] + 1, bracket=0)
        return Step(config_id=None, rung=0, bracket=0)

    def _neediest(self, reached: Mapping[str, int], costs: Mapping[tuple[str, int], float]) -> str | None:
        """Return who lacks most of its share and can be given another node now; None when nobody can."""
        playing = self._playing(costs)
        if not playing:
            return None
        top = len(self.rungs) - 1
        taken = {c: self.rungs[reached.get(c, top)] for c in playing}  # who was never asked for has all nodes
        total = sum(taken.values()) + 1
        due = dict(zip(playing, shares(list(playing.values()), [1.0] * len(playing)), strict=True))
        free = [c for c, rung in reached.items() if c in playing and rung < top and (c, rung) in costs]
        return max(free, key=lambda c: due[c] * total - taken[c], default=None)

    def _playing(self, costs: Mapping[tuple[str, int], float]) -> dict[str, float]:
        """Return config -> its latest cost, for those that are not certain to lose."""
        top = len(self.rungs) - 1
        latest: dict[str, int] = {}
        for config_id, rung in costs:
            latest[config_id] = max(rung, latest.get(config_id, 0))
        best = min((costs[c, top] for c, rung in latest.items() if rung == top), default=math.inf)
        found = {c: costs[c, rung] for c, rung in sorted(latest.items()) if rung == top or costs[c, rung] < best}
        return {c: cost for c, cost in found.items() if cost < math.inf}
