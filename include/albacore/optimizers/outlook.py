"""Outlook: what more asking can be expected to bring, by a Gaussian process over the scores so far.

M. Li et al., "Metis: Robustly Tuning Tail Latencies of Cloud Systems", USENIX ATC 2018, §3 and §3.2: a model has
converged "when Metis does not change its prediction of the best-performing configuration with additional data points".
The predicted best is the config with the lowest predicted score, not the lowest observed one (§4.2.2).

```
y     (n,)  scaled scores of one rung, see `cube.scaled`; s is the factor from y back to the metric
m(x)        predicted mean, lower is better
m*          min m over the configs that have a score
EI(x)       expected improvement over m*
```
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from albacore.optimizers import Observation, cube, gaussian
from albacore.optimizers.acquisition import expected_improvement
from albacore.space import Space

NU = 1.5
"""Smoothness of the kernel: Matern 3/2 with noise (Metis §5)."""
CANDIDATES = 4000
CENTRES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What the scores so far lead one to expect.

    Attributes:
        best: Id of the config with the best predicted score.
        expected: That score, as a cost in the metric's unit.
        improvement: Largest expected improvement over it anywhere in the space, in the metric's unit.
    """

    best: str
    expected: float
    improvement: float

    @property
    def share(self) -> float:
        """The improvement as a share of the best score; infinite for a score of 0."""
        return self.improvement / abs(self.expected) if self.expected else float("inf")


def outlook(space: Space, observations: Sequence[Observation], *, seed: int) -> Outlook:
    """Return what may be expected beyond these scores, at least three of one rung."""
    points = cube.points_of(space, [o.config for o in observations])
    process, factor, offset = _learned(space, points, observations)
    mean = process.predict(process.x)[0]
    centres = points[np.argsort(mean, kind="stable")[:CENTRES]]
    pool = cube.candidates(space, centres, CANDIDATES, np.random.default_rng([seed, len(observations), 2]))
    improvement = expected_improvement(*process.predict(cube.features(space, pool)), float(mean.min()))
    return Outlook(
        best=observations[int(np.argmin(mean))].config.id,
        expected=float(mean.min()) * factor + offset,
        improvement=float(improvement.max()) * factor,
    )


def predicted_bests(space: Space, observations: Sequence[Observation], last: int) -> list[tuple[str, float]]:
    """Return (config id, expected cost) of the predicted best before each of the last scores, and after all.

    The kernel is that of all scores, so that what moves the prediction is a score and not the kernel's fit.

    Args:
        space: The space.
        observations: Scores of one rung, oldest first, at least three more than `last`.
        last: How many scores to look back over.
    """
    points = cube.points_of(space, [o.config for o in observations])
    process, factor, offset = _learned(space, points, observations)
    found = []
    for n in range(len(observations) - last, len(observations) + 1):
        then = gaussian.given(process.model.kernel_, process.x[:n], process.y[:n])
        mean = then.predict(then.x)[0]
        found.append((observations[int(np.argmin(mean))].config.id, float(mean.min()) * factor + offset))
    return found


def _learned(
    space: Space, points: np.ndarray, observations: Sequence[Observation]
) -> tuple[gaussian.Process, float, float]:
    """Return the process, and factor and offset from its scale to that of the scores."""
    scores = np.asarray([o.score for o in observations], dtype=np.float64)
    low, middle, high = np.percentile(scores, [25, 50, 75])
    factor = float(high - low) if high > low else float(scores.std())
    is_per_dimension = len(space) < gaussian.PER_DIMENSION_BELOW
    y = cube.scaled([o.score for o in observations])
    process = gaussian.learn(cube.features(space, points), y, nu=NU, is_per_dimension=is_per_dimension)
    return process, factor, float(middle)
