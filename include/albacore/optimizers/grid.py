"""Grid: gridding, the complete coverage that a budget hardly ever pays for (BestConfig §4.1, §5.3).

```
k   intervals per knob: the most whose k^n cells the budget covers, at least 2; a knob with fewer values has these
n   knobs
N   cells: the product of all k
```

The cells are walked in the order of (a i + b) mod N for the i-th ask, with a and N coprime: every cell comes once
before any comes twice, spread over the space, without a list of 2^100 cells. After N asks the intervals are halved.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from albacore.optimizers import BUDGET, Observation, new_config, taken_ids, untried
from albacore.space import Config, Space


def intervals(space: Space, k: int) -> list[int]:
    """Return how many intervals each knob has: k, or its number of values when there are fewer."""
    return [int(min(k, knob.size)) for knob in space.knobs]


def coarsest(space: Space, budget: int) -> int:
    """Return the most intervals per knob whose cells the budget covers; at least 2."""
    k = 2
    while math.prod(intervals(space, k + 1)) <= budget and intervals(space, k + 1) != intervals(space, k):
        k += 1
    return k


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Walk through the middles of the cells of a grid; scores are ignored.

    Attributes:
        budget: How many configs the run is expected to ask for.
    """

    budget: int = BUDGET
    name: str = "grid"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        taken = taken_ids(observations, pending)
        k, walked = coarsest(space, self.budget), 0
        while ask_index - walked >= math.prod(intervals(space, k)) and intervals(space, 2 * k) != intervals(space, k):
            walked += math.prod(intervals(space, k))
            k *= 2
        parts = intervals(space, k)
        cell = place_in_walk(ask_index - walked, math.prod(parts), seed)
        point = []
        for part in parts:  # the digits of the cell's number, one per knob
            cell, digit = divmod(cell, part)
            point.append((digit + 0.5) / part)
        found = new_config(space, [np.array(point)], taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)


def place_in_walk(i: int, cells: int, seed: int) -> int:
    """Return the i-th cell of a walk that meets each of the cells once; another walk per seed."""
    import numpy as np

    words = np.random.default_rng([seed, cells % 2**32]).integers(2**32, size=2 + cells.bit_length() // 16)
    number = int.from_bytes(words.astype("<u4").tobytes(), "little")
    step, start = number % cells, number // cells % cells
    while math.gcd(step, cells) != 1:
        step += 1
    return (step * i + start) % cells
