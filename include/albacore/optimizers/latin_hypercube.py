"""LatinHypercube: every interval of every knob once per cube (McKay, Beckman, Conover, Technometrics 42/1, 2000).

The design of iTuned and of Metis' bootstrap, and a baseline of BestConfig (§5.3). Cube after cube; a cube knows
nothing of the one before, which is what divide-and-diverge sampling (`bestconfig.py`) does better.

```
n   points of one cube: each knob's range is cut into n intervals, each interval has one point
b   number of the cube: ask_index // n; the ask is its point ask_index % n
```
"""

from collections.abc import Sequence
from dataclasses import dataclass

from albacore.optimizers import INITIAL, Observation, new_config, taken_ids, untried
from albacore.space import Config, Space


@dataclass(frozen=True, slots=True, kw_only=True)
class LatinHypercube:
    """Walk through one hypercube after the other; scores are ignored.

    Attributes:
        initial: Points of one cube; the campaign's number of initial designs.
    """

    initial: int = INITIAL
    name: str = "latin_hypercube"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        from albacore.optimizers.cube import latin_hypercube

        n, taken = max(self.initial, 1), taken_ids(observations, pending)
        point = latin_hypercube(n, len(space), [seed, ask_index // n, 2])[ask_index % n]
        found = new_config(space, [point], taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)
