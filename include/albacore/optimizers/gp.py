"""GaussianProcess: a Gaussian process and expected improvement.

TUNA §6.6 names it as its second optimizer, "as in OtterTune" (SIGMOD 2017); expected improvement as in CherryPick (NSDI
2017, §3.4).

```
X, y     features and scaled scores of the highest rung (see `gaussian`)
f        cost to improve on: the lowest mean at a measured config, so that a lucky score does not count
pending  configs in flight: as if what the process expects had been measured there (kriging believer; Ginsbourger,
         Le Riche, Carraro 2010, §4.2)
```
"""

from collections.abc import Sequence
from dataclasses import dataclass

from albacore.optimizers import INITIAL, Observation, Optimizer, highest_rung, opening, taken_ids, untried
from albacore.space import Config, Space

CANDIDATES = 2000
CENTRES = 5
"""Best configs that candidates lie around."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianProcess:
    """Propose where the process expects the largest improvement.

    Attributes:
        initial: How many of the first asks are random designs.
        nu: Smoothness of the Matern kernel; 2.5 is SMAC's and CherryPick's.
        weighs_limits: Whether expected improvement is weighed by the probability that a config keeps all limits.
        design: Who makes the first designs in place of random ones: another optimizer, asked with the same numbers.
    """

    initial: int = INITIAL
    nu: float = 2.5
    weighs_limits: bool = True
    design: Optimizer | None = None
    name: str = "gp"

    def suggest(
        self, space: Space, observations: Sequence[Observation], pending: Sequence[Config], *, seed: int, ask_index: int
    ) -> Config:
        """Return a config that is neither observed nor pending."""
        taken = taken_ids(observations, pending)
        if self.design and ask_index < self.initial:
            return self.design.suggest(space, observations, pending, seed=seed, ask_index=ask_index)
        first = opening(space, taken, initial=self.initial, seed=seed, ask_index=ask_index)
        if first or not observations:
            return first or untried(space, taken, seed=seed, ask_index=ask_index)
        found = self._promising(space, observations, pending, taken, [seed, ask_index, 1])
        return found or untried(space, taken, seed=seed, ask_index=ask_index)

    def _promising(
        self,
        space: Space,
        observations: Sequence[Observation],
        pending: Sequence[Config],
        taken: set[str],
        stream: list[int],
    ) -> Config | None:
        """Return the config with the largest expected improvement, if one of the best is new."""
        import numpy as np

        from albacore.optimizers import cube, feasibility, gaussian
        from albacore.optimizers.acquisition import expected_improvement

        seen = highest_rung(observations)
        points = cube.points_of(space, [o.config for o in seen])
        kept = feasibility.probability(points, [o.is_failure for o in seen]) if self.weighs_limits else None
        y = cube.scaled([o.score for o in seen])
        is_per_dimension = len(space) < gaussian.PER_DIMENSION_BELOW
        process = gaussian.learn(cube.features(space, points), y, nu=self.nu, is_per_dimension=is_per_dimension)
        process = gaussian.extended(process, cube.features(space, cube.points_of(space, pending)))
        expected = process.predict(process.x)[0]

        def improvement(at: np.ndarray) -> np.ndarray:
            gain = expected_improvement(*process.predict(cube.features(space, at)), float(expected.min()))
            return gain * kept(at) if kept else gain

        centres = points[np.argsort(expected[: len(points)], kind="stable")[:CENTRES]]
        pool = cube.candidates(space, centres, CANDIDATES, np.random.default_rng(stream))
        return cube.most_promising(space, pool, improvement, taken)
