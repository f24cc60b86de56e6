"""DynamicallyDimensionedSearch: fewer and fewer knobs of the best config are moved.

B. Tolson, C. Shoemaker: Dynamically dimensioned search algorithm, Water Resources Research 43, 2007, Fig. 1. The best
of six methods in the microservices paper (EuroMLSys 2021, §3.2.1, Fig. 4).

BestConfig's DDS is another one: divide-and-diverge sampling, in `bestconfig.py`.

```
m        asks of the search: the budget without the initial designs
i        1, 2, ... m: this ask
x_best   best config so far
P(i)     1 - ln(i) / ln(m): chance of each knob to be moved
r        0.2: standard deviation of a step, in shares of a knob's range
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

R = 0.2
"""The paper's default, which it advises to leave alone (§2.1)."""
TRIES = 50


def share(i: int, m: int) -> float:
    """Return P(i); beyond the budget and for a budget of one ask 0, so that one knob is moved."""
    return max(0.0, 1.0 - math.log(i) / math.log(m)) if m > 1 else 0.0  # step 3 of the paper's Fig. 1


def neighbour(space: Space, best: "np.ndarray", chance: float, rng: "np.random.Generator") -> "np.ndarray":
    """Return the best point with some knobs moved, at least one that has more than one value."""
    import numpy as np

    from albacore.optimizers.cube import stepped

    free = np.array([knob.size > 1 for knob in space.knobs])
    moved = free & (rng.random(len(space)) < chance)  # step 3: J knobs of D
    if not moved.any() and free.any():
        moved[rng.choice(np.flatnonzero(free))] = True
    # Step 4: x_best + r N(0, 1), mirrored at the bounds. Deviates: choices and switches have no steps, they jump.
    return stepped(space, best, moved, R, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicallyDimensionedSearch:
    """Move some knobs of the best config, fewer the nearer the end of the budget is.

    Attributes:
        initial: How many of the first asks are random designs.
        budget: How many configs the run is expected to ask for.
    """

    initial: int = INITIAL
    budget: int = BUDGET
    name: str = "dynamically_dimensioned_search"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        taken = taken_ids(observations, pending)
        first = opening(space, taken, initial=self.initial, seed=seed, ask_index=ask_index)
        if first or not observations:
            return first or untried(space, taken, seed=seed, ask_index=ask_index)
        best = min(standings(observations), key=lambda s: s.cost)  # step 5: greedy, the best is kept
        chance = share(ask_index - self.initial + 1, self.budget - self.initial)
        rng = np.random.default_rng([seed, ask_index, 1])
        point = space.encode(best.config)
        found = new_config(space, (neighbour(space, point, chance, rng) for _ in range(TRIES)), taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)
