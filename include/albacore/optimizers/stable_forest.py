"""StableForest: a random forest that reads every rung, and a second one that says which configs will be stable.

L. Breiman, Random Forests, Machine Learning 45, 2001; F. Hutter et al., SMAC (LION 2011), §4.1, for the mean and
variance of a forest. What is ours is what it is fed (docs/experiments/tuna.md has the measurement):

```
X, r, y  features, rung and scaled score of every observation: the worst of one sample is optimistic beside the worst
         of ten, and the rung as an input lets the forest learn by how much
R        the highest rung that has a score
m, s     mean and deviation over the trees, predicted at rung R
S(x)     probability that a config is stable, by a forest over the configs that were seen on more than one node
a(x)     EI(m, s) S(x): what an improvement is worth that may turn out to be unstable
```
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.optimizers import INITIAL, Observation, highest_rung, taken_ids, unmodelled, untried
from albacore.space import Config, Space

if TYPE_CHECKING:
    import numpy as np

TREES = 20
LEAF = 2
SHARE = 0.83
"""Share of the features that a split looks at; SMAC's 5/6."""
CANDIDATES = 2000
CENTRES = 5
RANDOM_SHARE = 0.1
"""Share of random configs, as trees say nothing of where they know nothing."""
SMALLEST = 1e-3
"""Least deviation, in quartile distances."""
FEWEST = 4
"""Stable and unstable configs each, before S is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StableForest:
    """Propose where an improvement on the highest rung is likely, and likely to be stable.

    Attributes:
        initial: How many of the first asks are random designs.
        reads_all_rungs: Without it only the highest rung is read, as SMAC does: the ablation of X, r.
        weighs_stability: Without it S is 1: the ablation of the second forest.
        trees: Of each forest.
    """

    initial: int = INITIAL
    reads_all_rungs: bool = True
    weighs_stability: bool = True
    trees: int = TREES
    name: str = "stable_forest"

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
        seen = observations if self.reads_all_rungs else highest_rung(observations)
        stable = _stability(space, seen if self.weighs_stability else (), self.trees, rng)
        found = _promising(space, seen, stable, taken, (self.trees, rng))
        return found or untried(space, taken, seed=seed, ask_index=ask_index)


def _promising(
    space: Space,
    seen: Sequence[Observation],
    stable: "Callable[[np.ndarray], np.ndarray]",
    taken: set[str],
    growing: tuple[int, "np.random.Generator"],
) -> Config | None:
    """Return the config with the largest a(x), if one of the best is new; `growing` is trees and their generator."""
    import numpy as np

    from albacore.optimizers import cube
    from albacore.optimizers.acquisition import expected_improvement

    size, rng = growing
    points = cube.points_of(space, [o.config for o in seen])
    rungs = np.array([o.rung for o in seen], dtype=float)
    top = float(rungs.max())
    x = np.column_stack([cube.features(space, points), rungs])
    predict = _surrogate(x, cube.scaled([o.score for o in seen]), size, rng)

    def at_top(at: np.ndarray) -> np.ndarray:
        return np.column_stack([cube.features(space, at), np.full(len(at), top)])

    sound = np.array([not (o.is_unstable or o.is_failure) for o in seen])
    believed = predict(at_top(points))[0]
    order = np.argsort(np.where(sound, believed, np.inf), kind="stable")
    best = float(believed[order[0]])

    def worth(at: np.ndarray) -> np.ndarray:
        mean, deviation = predict(at_top(at))
        return expected_improvement(mean, deviation, best) * stable(at)

    centres = _distinct(points[order], CENTRES)
    return cube.most_promising(space, cube.candidates(space, centres, CANDIDATES, rng), worth, taken)


def _distinct(points: "np.ndarray", count: int) -> "np.ndarray":
    """Return the first points that differ: a config has an observation on each of its rungs."""
    import numpy as np

    _, first = np.unique(points, axis=0, return_index=True)
    return points[np.sort(first)[:count]]


def _surrogate(
    x: "np.ndarray", y: "np.ndarray", size: int, rng: "np.random.Generator"
) -> Callable[["np.ndarray"], tuple["np.ndarray", "np.ndarray"]]:
    """Return the function that gives m and s, (n,) each, of features with rung (n, c + 1)."""
    import numpy as np
    from sklearn.tree import DecisionTreeRegressor

    from albacore import trees

    settings = {"min_samples_leaf": LEAF, "max_features": SHARE}
    forest = trees.grown(DecisionTreeRegressor, x, y, trees=size, seed=int(rng.integers(2**31)), **settings)

    def predict(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        votes = trees.votes(forest, at)
        return votes.mean(axis=0), np.maximum(votes.std(axis=0), SMALLEST)

    return predict


def _stability(
    space: Space, seen: Sequence[Observation], size: int, rng: "np.random.Generator"
) -> Callable[["np.ndarray"], "np.ndarray"]:
    """Return S; 1 everywhere while too little was seen.

    A config counts once, with what its highest rung showed. One node shows nothing.
    """
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    from albacore import trees
    from albacore.optimizers import cube

    last = {o.config.id: o for o in sorted(seen, key=lambda o: o.rung) if not o.is_failure}
    shown = [o for o in last.values() if o.rung > 0 or o.is_unstable]
    labels = np.array([not o.is_unstable for o in shown], dtype=bool)
    seed = int(rng.integers(2**31))
    if min(labels.sum(), (~labels).sum()) < FEWEST:
        return lambda at: np.ones(len(at))
    x = cube.features(space, cube.points_of(space, [o.config for o in shown]))
    settings = {"min_samples_leaf": LEAF, "max_features": "sqrt"}
    forest = trees.grown(DecisionTreeClassifier, x, labels, trees=size, seed=seed, **settings)
    return lambda at: trees.shares(forest, cube.features(space, at))
