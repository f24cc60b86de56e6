"""ExtraTrees: a noise adjuster that splits at random places (P. Geurts et al., Machine Learning 63, 2006).

A third of the features at each split; every tree sees all rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from albacore.policies import Reading
from albacore.policies.learning import Lesson, Predict, adjusted

SHARE = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraTrees:
    """Adjust as `forest` does, by extremely randomised trees; smoother, and a little cheaper.

    Attributes:
        trees: How many.
        clip_sd: As in `forest`.
    """

    trees: int = 100
    clip_sd: float = 2.0

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the adjusted values; the values themselves while nothing is there to learn from."""
        return adjusted(self, self.clip_sd, readings, history, seed)

    def fit(self, lesson: Lesson) -> tuple[Predict, str]:
        """Grow the trees, each on all rows."""
        import numpy as np
        from sklearn.tree import ExtraTreeRegressor

        from albacore import trees

        rows, y = lesson.x.astype(np.float32), lesson.y.astype(np.float64)
        seeds = np.random.default_rng(lesson.seed).integers(2**31, size=self.trees)
        grown = [
            ExtraTreeRegressor(max_features=SHARE, random_state=int(seed)).fit(rows, y, check_input=False).tree_
            for seed in seeds
        ]
        return lambda at: trees.votes(grown, at).mean(axis=0), ""
