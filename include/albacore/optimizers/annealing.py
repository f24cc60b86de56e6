"""Annealing: a walk that climbs out of valleys while it is hot.

S. Kirkpatrick, C. Gelatt, M. Vecchi: Optimization by Simulated Annealing, Science 220, 1983. One of the six methods of
the microservices paper (EuroMLSys 2021, §3.2.1).

The walk is not kept anywhere: it is walked again at every ask, over the scores in the order of their asks. A score that
never came is a step that was never tried, and a late one joins at its place.

```
c        where the walk stands; y(c) its scaled cost
n        a config next to where the walk stood when it was asked for
t        0 at the first ask after the initial designs, 1 at the end of the budget
T(t)     T0 (T1 / T0)^t: temperature, in quartile distances of the scores so far
sigma(t) standard deviation of a step, in shares of a knob's range
```
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.optimizers import BUDGET, INITIAL, Observation, new_config, opening, taken_ids, untried
from albacore.optimizers.standing import standings
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np

T0, T1 = 0.5, 0.005
"""Temperatures at the first and the last ask: half a quartile distance is climbed in a third of the cases, then none.
"""
SIGMA0, SIGMA1 = 0.3, 0.03
"""Steps shrink as the walk cools, so that it ends in a local search."""
MOVED = 0.3
"""Chance of each knob to be moved; at least one is."""
TRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Annealing:
    """Propose a neighbour of where the walk stands.

    Attributes:
        initial: How many of the first asks are random designs; the walk starts at the best of them.
        budget: How many configs the run is expected to ask for; the walk is cold then.
    """

    initial: int = INITIAL
    budget: int = BUDGET
    name: str = "annealing"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        from albacore.optimizers.cube import stepped

        taken = taken_ids(observations, pending)
        first = opening(space, taken, initial=self.initial, seed=seed, ask_index=ask_index)
        if first or not observations:
            return first or untried(space, taken, seed=seed, ask_index=ask_index)
        rng = np.random.default_rng([seed, ask_index, 1])
        here = space.encode(self.stand(observations, seed))
        sigma = SIGMA0 * (SIGMA1 / SIGMA0) ** self.time(ask_index)
        masks = (_moved(len(space), rng) for _ in range(TRIES))
        found = new_config(space, (stepped(space, here, mask, sigma, rng) for mask in masks), taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)

    def time(self, ask_index: int) -> float:
        """Return t."""
        return min(max(ask_index - self.initial, 0) / max(self.budget - self.initial, 1), 1.0)

    def stand(self, observations: Sequence[Observation], seed: int) -> Config:
        """Return where the walk stands after at least one score."""
        from albacore.optimizers.cube import scaled

        walk = standings(observations)
        costs = scaled([s.cost for s in walk])
        early = [i for i, s in enumerate(walk) if s.ask_index < self.initial] or [0]
        here = min(early, key=lambda i: costs[i])
        for i, step in enumerate(walk):
            if step.ask_index < self.initial:
                continue
            rise = costs[i] - costs[here]
            temperature = T0 * (T1 / T0) ** self.time(step.ask_index)
            if rise <= 0 or _coin(seed, step.ask_index) < math.exp(
                -rise / temperature
            ):  # Metropolis, Science 220, p. 672
                here = i
        return walk[here].config


def _coin(seed: int, ask_index: int) -> float:
    """Return the draw that decides whether a step uphill is taken."""
    import numpy as np

    return np.random.default_rng([seed, ask_index, 3]).random()


def _moved(d: int, rng: "np.random.Generator") -> "np.ndarray":
    """Return (d,) which knobs move."""
    moved = rng.random(d) < MOVED
    moved[rng.integers(d)] = True
    return moved
