"""Brackets: the ladder of budgets, by successive halving.

K. Jamieson, A. Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS 2016
(successive halving);
L. Li et al., "Hyperband", JMLR 18 (2018), Alg. 1 (several bracket shapes in turn); TUNA §4.1 and §5.1 (budget =
number of nodes).

| symbol | meaning |
|---|---|
| rungs | nodes per rung, e.g. (1, 3, 10) |
| eta | of each stage the best 1/eta are promoted |
| s | rung that a bracket starts at |

A bracket that starts at rung s with k rungs in all has eta^(k-1-s) configs in its first stage (rounded up as in
Hyperband when brackets differ), and 1/eta of them in each next one: 9:3:1 for three rungs.

Several brackets are open at once. The oldest that can go on does; when all of them wait for samples a new one opens,
so no lane ever waits.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from albacore.errors import CampaignError
from albacore.policies import Step
from albacore.trial import Ask

Shape = tuple[tuple[int, int], ...]
"""The stages of a bracket: (rung, number of configs)."""


def halving_shape(rungs: int, start: int, eta: int) -> Shape:
    """Return the stages of the bracket that starts at rung `start`, as Hyperband sizes them (Alg. 1 l.3-6)."""
    s_max, s = rungs - 1, rungs - 1 - start
    first = math.ceil((s_max + 1) / (s + 1) * eta**s)
    return tuple((start + i, max(1, first // eta**i)) for i in range(s + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Brackets:
    """Promote the best 1/eta of each stage; a pure function of the asks and their costs.

    Attributes:
        rungs: Nodes per rung, strictly rising.
        eta: Halving factor, 3 in the paper.
        is_hyperband: Whether brackets that start at higher rungs take turns with the full one. Successive halving, the
            paper's choice, repeats the full bracket only.
    """

    rungs: tuple[int, ...] = (1, 3, 10)
    eta: int = 3
    is_hyperband: bool = False

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in pairwise(self.rungs))
        if not self.rungs or self.rungs[0] < 1 or not rising:
            raise CampaignError(
                f"rungs: expected strictly rising numbers of nodes such as [1, 3, 10], got {list(self.rungs)}."
            )
        if self.eta < 2:
            raise CampaignError(f"eta: expected a whole number of at least 2, got {self.eta}.")

    def shape(self, bracket: int) -> Shape:
        """Return the stages of the bracket with this number."""
        starts = len(self.rungs) if self.is_hyperband else 1
        return halving_shape(len(self.rungs), bracket % starts, self.eta)

    def step(self, asks: Sequence[Ask], costs: Mapping[tuple[str, int], float]) -> Step:
        """Return the first step that any open bracket can take, oldest bracket first; open a new one when none can."""
        members = self._members(asks)
        for bracket in range(len(members)):
            if step := self._step_of(bracket, members[bracket], costs):
                return step
        bracket = len(members)
        return Step(config_id=None, rung=self.shape(bracket)[0][0], bracket=bracket)

    def _members(self, asks: Sequence[Ask]) -> list[dict[int, list[str]]]:
        """Return, per bracket, rung -> configs asked for at it; a config that was asked for again counts once."""
        count = max((ask.bracket for ask in asks), default=-1) + 1
        members: list[dict[int, list[str]]] = [{} for _ in range(count)]
        for ask in asks:
            at_rung = members[ask.bracket].setdefault(ask.rung, [])
            if ask.config_id not in at_rung:
                at_rung.append(ask.config_id)
        return members

    def _step_of(
        self, bracket: int, members: dict[int, list[str]], costs: Mapping[tuple[str, int], float]
    ) -> Step | None:
        """Return the next step of one bracket, or None while it waits for samples or is complete."""
        shape = self.shape(bracket)
        if len(members.get(shape[0][0], [])) < shape[0][1]:
            return Step(config_id=None, rung=shape[0][0], bracket=bracket)
        for (below, _), (rung, size) in pairwise(shape):
            candidates, promoted = members.get(below, []), members.get(rung, [])
            if any((config_id, below) not in costs for config_id in candidates):
                return None
            alive = [c for c in candidates if c not in promoted and costs[c, below] < math.inf]
            if len(promoted) < size and alive:
                return Step(config_id=min(alive, key=lambda c: costs[c, below]), rung=rung, bracket=bracket)
        return None
