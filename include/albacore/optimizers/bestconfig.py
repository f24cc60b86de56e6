"""BestConfig: divide-and-diverge sampling with recursive bound and search (Zhu et al., SoCC 2017, §4.1, §4.2).

```
n     tests of one round; k = n intervals per knob (§4.1)
r     rounds: budget / n (§4.2: "nr tests")
C0    best config of the round that is bounded; p_f, p_c the nearest values below and above C0's, per knob
```

An ask's round is its number / n. What a round does follows from the scores of the rounds before it, by the numbers of
their asks: scores may come late or never. A round that began before the last score of the one before came, may see its
bounds move once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.optimizers import BUDGET, Observation, new_config, taken_ids, untried
from albacore.optimizers.standing import Standing, standings
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np

ROUNDS = 5
"""Rounds when the budget allows for as many tests per round as there are knobs."""
TRIES = 20


def set_size(budget: int, knobs: int) -> int:
    """Return n: a fifth of the budget, but no less than the number of knobs where the budget has so many (§5.6)."""
    return max(min(max(-(-budget // ROUNDS), knobs), budget), 2)


def divided(n: int, d: int, seed: int, call: int) -> "np.ndarray":
    """Return (n, d) intervals of the `call`-th divide-and-diverge sampling of a space: each interval of a knob once.

    Later calls cover subspaces that were not covered before (§4.1, "reuses its initial division"): knob j's permutation
    is turned by j times the number of the call. Two calls a and b share a subspace only where all (a - b) j are
    multiples of n, so the first n calls share none as soon as there are two knobs.
    """
    import numpy as np

    rng = np.random.default_rng([seed, 4])
    first = np.array([rng.permutation(n) for _ in range(d)]).T
    return (first + call * np.arange(d)) % n


def bounds(space: Space, sampled: Sequence[Standing], best: Standing) -> "tuple[np.ndarray, np.ndarray]":
    """Return (d,) p_f and (d,) p_c: per knob the nearest sampled places below and above the best's (§4.2, Fig. 4).

    Where none is below or above, the bound is the knob's own.
    """
    import numpy as np

    centre = space.encode(best.config)
    points = space.encode_all([s.config for s in sampled])
    low = np.where(points < centre, points, 0.0).max(0)
    high = np.where(points > centre, points, 1.0).min(0)
    return low, high


@dataclass(frozen=True, slots=True)
class Round:
    """What one round samples: the whole space for the `call`-th time, or the box between two points."""

    call: int
    box: "tuple[np.ndarray, np.ndarray] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BestConfig:
    """Sample round by round, in the whole space or around the best.

    Attributes:
        budget: How many configs the run is expected to ask for.
    """

    budget: int = BUDGET
    name: str = "bestconfig"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        import numpy as np

        taken = taken_ids(observations, pending)
        n = set_size(self.budget, len(space))
        asked = [s for s in standings(observations) if s.ask_index >= 0]
        now = self.round(space, asked, ask_index // n, n)
        number = ask_index // n if now.box is not None else now.call
        cells = divided(n, len(space), seed, number)[ask_index % n]
        low, high = now.box or (np.zeros(len(space)), np.ones(len(space)))
        rng = np.random.default_rng([seed, ask_index, 1])
        points = (low + (high - low) * (cells + rng.random(len(space))) / n for _ in range(TRIES))  # one per interval
        found = new_config(space, points, taken)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)

    def round(self, space: Space, asked: Sequence[Standing], number: int, n: int) -> Round:
        """Return what a round does after the rounds before it (§4.2, bound step and recursion step)."""
        best: Standing | None = None  # of this search, since its last start in the whole space
        calls, bounded = 1, list[Standing]()
        for earlier in range(number):
            sampled = [s for s in asked if s.ask_index // n == earlier]
            top = min(sampled, key=lambda s: s.cost, default=None)
            if top is not None and (best is None or top.cost < best.cost):
                best, bounded = top, sampled  # bound step: around the better point
            else:
                best, calls = None, calls + 1  # recursion step: the complete space again
        return Round(calls - 1, bounds(space, bounded, best) if best else None)

    def advice(self, space: Space) -> str:
        """Return a warning when a round has fewer tests than there are knobs (§5.6); "" when all is well."""
        n = set_size(self.budget, len(space))
        if n >= len(space):
            return ""
        return (
            f"bestconfig: {n} tests per round for {len(space)} knobs; BestConfig found little with fewer tests than "
            "knobs (Table 4: 5 % instead of 42 %). Raise limits.samples or tune fewer knobs."
        )
