"""Forest: the paper's noise adjuster, a random forest over guest metrics (TUNA §4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from albacore.policies import Reading
from albacore.policies.learning import Lesson, Predict, adjusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Adjust by p / (s + 1), the forest rebuilt from the history at each call.

    Attributes:
        trees: Size of the forest. The paper does not say; its artifact uses 1000, which costs 30-90 s a fit and gains
            nothing measurable.
        share: Of the features, that a split chooses from, in (0, 1]; 1 in the artifact. With both as they are a fit
            takes a sixth of the time and errs no more (docs/decisions/forest-size.md).
        clip_sd: Bound of |s| in standard deviations of the training errors (a guardrail that §7 asks for).
    """

    trees: int = 40
    share: float = 1 / 3
    clip_sd: float = 2.0

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the adjusted values; the values themselves while nothing is there to learn from."""
        return adjusted(self, self.clip_sd, readings, history, seed)

    def fit(self, lesson: Lesson) -> tuple[Predict, str]:
        """Standardise and grow (Alg. 1 l.3)."""
        import numpy as np
        from sklearn.preprocessing import StandardScaler
        from sklearn.tree import DecisionTreeRegressor

        from albacore import trees

        scale = StandardScaler().fit(lesson.x)
        x = np.asarray(scale.transform(lesson.x))
        forest = trees.grown(
            DecisionTreeRegressor, x, lesson.y, trees=self.trees, seed=lesson.seed, max_features=self.share
        )
        return lambda at: trees.votes(forest, np.asarray(scale.transform(at))).mean(axis=0), ""
