"""RecursiveRandomSearch: random search that zooms in.

T. Ye, S. Kalyanaraman: A Recursive Random Search Algorithm for Large-Scale Network Parameter Configuration, SIGMETRICS
2003, Alg. 1. The baseline that BestConfig is compared with (SoCC 2017, §5.3, §7).

The search's state is read off the scores in the order of their asks, at every ask.

```
p, r    0.99, 0.1: explore until the chance is p to have met the best share r of the space: n1 = ln(1-p)/ln(1-r) = 44
q, v    0.99, 0.8: exploit l = ln(1-q)/ln(1-v) = 3 asks without a gain before the box shrinks
c, st   0.5, 0.001: factor of a shrinking box; share of the space below which the search starts anew
rho     share of the space that the box around x0 has; a side is rho^(1/d)
f_r     cost below which a point is zoomed in on at once: the mean of the best of all explorations
```
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.optimizers import Observation, new_config, taken_ids, untried
from albacore.optimizers.standing import Standing, standings
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np

P, R, Q, V, C, ST = 0.99, 0.1, 0.99, 0.8, 0.5, 0.001  # §3.5, table of parameters
EXPLORE = round(math.log(1 - P) / math.log(1 - R))
EXPLOIT = max(1, round(math.log(1 - Q) / math.log(1 - V)))
TRIES = 50


@dataclass(frozen=True, slots=True)
class Zoom:
    """Where the search is: exploiting a box around a config, or exploring (`centre` is None)."""

    centre: Config | None
    rho: float = R


def state(asked: Sequence[Standing], explore: int = EXPLORE) -> Zoom:
    """Return where the search is after some standings, in the order of their asks (the paper's Alg. 1)."""
    centre: Standing | None = None
    rho, failed = R, 0
    explored: list[Standing] = []  # of the exploration that goes on
    marks: list[float] = []  # best costs of the explorations so far
    for one in asked:
        if centre is None:
            explored.append(one)
            is_promising = bool(marks) and one.cost < sum(marks) / len(marks)  # l. 25: below f_r
            if len(explored) < explore and not is_promising:
                continue
            centre = min(explored, key=lambda s: s.cost)  # l. 6: exploit around the best
            marks.append(centre.cost)
            rho, failed, explored = R, 0, []
        elif one.cost < centre.cost:
            centre, failed = one, 0  # l. 14: re-align
        else:
            failed += 1
            if failed >= EXPLOIT:
                rho, failed = C * rho, 0  # l. 18: shrink
            if rho < ST:
                centre = None  # l. 10: start anew
    return Zoom(centre.config, rho) if centre else Zoom(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveRandomSearch:
    """Draw from the whole space, or from a box around a promising config.

    Attributes:
        explore: Draws of an exploration.
    """

    explore: int = EXPLORE
    name: str = "recursive_random_search"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        taken = taken_ids(observations, pending)
        zoom = state([s for s in standings(observations) if s.ask_index >= 0], self.explore)
        if zoom.centre is None:
            return untried(space, taken, seed=seed, ask_index=ask_index)
        rng = np.random.default_rng([seed, ask_index, 1])
        point = space.encode(zoom.centre)
        found = new_config(space, (_in_box(space, point, zoom.rho, rng) for _ in range(TRIES)), taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)


def _in_box(space: Space, centre: "np.ndarray", rho: float, rng: "np.random.Generator") -> "np.ndarray":
    """Return a point of the box that has the share rho of the space (§3.3).

    Deviates: a choice or switch has no box; it keeps its value with chance 1 - side, and is anything otherwise.
    """
    import numpy as np

    from albacore.optimizers.cube import unordered

    side = rho ** (1 / len(space))
    low = np.clip(centre - side / 2, 0.0, 1.0 - side)  # at the border the box is moved, not cut
    anywhere = np.where(rng.random(len(space)) < side, rng.random(len(space)), centre)
    return np.where(unordered(space), anywhere, low + side * rng.random(len(space)))
