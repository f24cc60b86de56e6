"""Genetic: children of the fittest, crossed and mutated.

D. Goldberg, J. Holland: Genetic Algorithms and Machine Learning, Machine Learning 3, 1988. One of the six methods of
the microservices paper (EuroMLSys 2021, §3.2.1).

Steady state instead of generations: every ask is one child of the fittest configs scored so far. So it has no state but
the scores, and lanes never wait for a generation to end.

```
M        fittest configs that may have children; none that failed
parents  two winners of tournaments of two among them
child    each knob from one parent or the other, then mutated with chance 1 / d
```
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.optimizers import INITIAL, Observation, new_config, opening, taken_ids, untried
from albacore.optimizers.standing import Standing, standings
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np

M = 10
SIGMA = 0.1
"""Standard deviation of a mutation, in shares of a knob's range."""
TRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Genetic:
    """Propose a child of two fit configs.

    Attributes:
        initial: How many of the first asks are random designs: the first population.
    """

    initial: int = INITIAL
    name: str = "genetic"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        taken = taken_ids(observations, pending)
        first = opening(space, taken, initial=self.initial, seed=seed, ask_index=ask_index)
        if first or not observations:
            return first or untried(space, taken, seed=seed, ask_index=ask_index)
        alive = [s for s in standings(observations) if not s.is_failure]
        if not alive:
            return untried(space, taken, seed=seed, ask_index=ask_index)
        fittest = sorted(alive, key=lambda s: s.cost)[:M]  # selection: the population is pruned
        rng = np.random.default_rng([seed, ask_index, 1])
        found = new_config(space, (_child(space, fittest, rng) for _ in range(TRIES)), taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)


def _child(space: Space, fittest: Sequence[Standing], rng: "np.random.Generator") -> "np.ndarray":
    """Return a point: two winners crossed knob by knob, then mutated."""
    import numpy as np

    from albacore.optimizers.cube import stepped

    mother, father = (fittest[int(rng.integers(len(fittest), size=2).min())] for _ in range(2))
    child = np.where(rng.random(len(space)) < 0.5, space.encode(mother.config), space.encode(father.config))
    mutated = rng.random(len(space)) < 1 / len(space)
    if mother.config == father.config:
        mutated[rng.integers(len(space))] = True  # a copy of one parent is no child
    return stepped(space, child, mutated, SIGMA, rng)
