"""BoostedTrees: gradient boosting of three quantiles as a surrogate, with expected improvement.

The GBRT of the microservices paper (EuroMLSys 2021, §3.2.1), made as scikit-optimize makes it: J. Friedman, Greedy
Function Approximation, Annals of Statistics 29, 2001, with the quantile loss.

```
X, y   features and scaled scores of the highest rung
q16, q50, q84   boosted trees fitted to the quantile loss at 0.16, 0.5 and 0.84
m, s   q50 and (q84 - q16) / 2: mean and standard deviation of a normal distribution with these quantiles
```
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.optimizers import INITIAL, Observation, highest_rung, taken_ids, unmodelled, untried
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np

QUANTILES = (0.16, 0.5, 0.84)
TREES = 30
CANDIDATES = 2000
CENTRES = 5
RANDOM_SHARE = 0.2
"""Share of random configs, as trees say nothing of where they know nothing; SMAC's share."""
SMALLEST = 1e-3
"""Least deviation, in quartile distances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostedTrees:
    """Propose where three boosted quantiles expect the largest improvement.

    Attributes:
        initial: How many of the first asks are random designs.
        weighs_limits: Whether expected improvement is weighed by the probability that a config keeps all limits.
    """

    initial: int = INITIAL
    weighs_limits: bool = True
    name: str = "boosted_trees"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        taken = taken_ids(observations, pending)
        first, rng = unmodelled(
            space, observations, taken, initial=self.initial, share=RANDOM_SHARE, stream=(seed, ask_index)
        )
        if first:
            return first
        found = _promising(space, highest_rung(observations), taken, rng, weighs_limits=self.weighs_limits)
        return found or untried(space, taken, seed=seed, ask_index=ask_index)


def _promising(
    space: Space,
    seen: Sequence[Observation],
    taken: set[str],
    rng: "np.random.Generator",
    *,
    weighs_limits: bool,
) -> Config | None:
    """Return the config with the largest expected improvement, if one of the best is new."""
    import numpy as np
    from sklearn.ensemble import GradientBoostingRegressor

    from albacore.optimizers import cube, feasibility
    from albacore.optimizers.acquisition import expected_improvement

    points = cube.points_of(space, [o.config for o in seen])
    kept = feasibility.probability(points, [o.is_failure for o in seen]) if weighs_limits else None
    x, y = cube.features(space, points), cube.scaled([o.score for o in seen])
    trees = [
        GradientBoostingRegressor(
            loss="quantile", alpha=quantile, n_estimators=TREES, max_features=0.5, random_state=int(rng.integers(2**31))
        ).fit(x, y)
        for quantile in QUANTILES
    ]

    def improvement(at: np.ndarray) -> np.ndarray:
        low, middle, high = (tree.predict(cube.features(space, at)) for tree in trees)
        gain = expected_improvement(middle, np.maximum((high - low) / 2, SMALLEST), float(y.min()))
        return gain * kept(at) if kept else gain

    centres = points[np.argsort(y, kind="stable")[:CENTRES]]
    pool = cube.candidates(space, centres, CANDIDATES, rng)
    return cube.most_promising(space, pool, improvement, taken)
