"""Importance: which knobs the scores of a run depend on, by permutation (M. Breiman: Random Forests, 2001, §10).

A forest learns the ranks of the scores from a part of the configs. On the other part one knob's column is shuffled,
and what the forest then explains less of is that knob's importance. Ranks, as a few crash scores would otherwise be
all there is to explain; held-out configs, as a forest knows its own training data by heart whatever the knob.

```
X      (n, d)  points of the configs in the unit cube
y      (n,)    ranks of their scores, 0 is best, 1 is worst
R²     share of the variance of y that the forest explains on configs it has not seen; below 0: nothing learned
```
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.optimizers import Observation
from albacore.space import Space

if TYPE_CHECKING:
    import numpy as np

FEWEST = 20
"""Configs below which nothing is said: a held-out fifth would have fewer than four."""
FOLDS = 5
REPEATS = 2
"""Shuffles of a column per fold."""
TREES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobImportance:
    """How much the scores depend on one knob.

    Attributes:
        mean: Loss of R² when the knob's column is shuffled; 0 or below: no use to the forest.
        low: Lower end of a 95 % interval of the mean over the folds; `high` likewise.
    """

    knob: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """The knobs of a space by their importance.

    Attributes:
        knobs: The most important first; knobs with one value are left out.
        explained: R² on configs that the forest has not seen, mean over the folds; at 0 or below the order is noise.
        configs: How many configs it was learned from.
    """

    knobs: tuple[KnobImportance, ...]
    explained: float
    configs: int


def importance(space: Space, observations: Sequence[Observation], *, seed: int) -> Importance | None:
    """Return the importance of every knob, by the scores of the lowest rung; None below `FEWEST` configs.

    Every config has a score of the lowest rung, and only scores of one rung can be compared.

    Args:
        space: The space of the run.
        observations: What the optimizer was told, in the order it was told.
        seed: Seed of the forest, the folds and the shuffles.
    """
    lowest = min((o.rung for o in observations), default=0)
    seen = {o.config.id: o for o in observations if o.rung == lowest}  # of a config measured again, the last
    if len(seen) < FEWEST:
        return None
    import numpy as np
    from scipy.stats import rankdata

    x = np.array([space.encode(o.config) for o in seen.values()])
    ranks = rankdata([o.score for o in seen.values()])
    losses, explained = _losses(x, (ranks - 1) / (len(ranks) - 1), seed)
    means, errors = losses.mean(0), losses.std(0, ddof=1) / np.sqrt(FOLDS)
    reach = 2.776 * errors  # Student's t, 95 %, 4 degrees of freedom
    found = [
        KnobImportance(knob=knob.name, mean=float(mean), low=float(mean - width), high=float(mean + width))
        for knob, mean, width in zip(space.knobs, means, reach, strict=True)
        if knob.size > 1
    ]
    return Importance(
        knobs=tuple(sorted(found, key=lambda part: -part.mean)), explained=float(explained), configs=len(seen)
    )


def _losses(x: "np.ndarray", y: "np.ndarray", seed: int) -> "tuple[np.ndarray, float]":
    """Return the loss of R² per fold and knob, (FOLDS, d), and the mean R² before any shuffle."""
    import numpy as np
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import KFold

    losses, scores = [], []
    for train, test in KFold(FOLDS, shuffle=True, random_state=seed).split(x):
        forest = RandomForestRegressor(TREES, min_samples_leaf=2, max_features=0.5, random_state=seed, n_jobs=1)
        forest.fit(x[train], y[train])
        shuffled = permutation_importance(forest, x[test], y[test], n_repeats=REPEATS, random_state=seed, n_jobs=1)
        losses.append(shuffled["importances_mean"])
        scores.append(forest.score(x[test], y[test]))
    return np.array(losses), float(np.mean(scores))


def important(found: Importance, keep: int) -> tuple[str, ...]:
    """Return the names of the `keep` most important knobs, the most important first."""
    return tuple(part.knob for part in found.knobs[:keep])
