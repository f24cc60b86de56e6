"""CrossValidated: the noise adjuster that predicts best the configs it has not seen, or none.

No model is the best everywhere: a linear one where metrics follow what the platform does, trees where they only show
that something is badly wrong (docs/experiments/tuna.md). So each is tried on configs that were left out of its
training, and what does not beat doing nothing is not used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from albacore.policies import Reading
from albacore.policies.extra_trees import ExtraTrees
from albacore.policies.forest import Forest
from albacore.policies.learning import Lesson, Model, Predict, adjusted
from albacore.policies.ridge import Ridge

FOLDS = 5
FEWEST = 3
"""Configs that a choice takes; with fewer nothing is adjusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidated:
    """Adjust by the model of several with the least error on left-out configs.

    Attributes:
        trees: Of the forests among them.
        clip_sd: As in `forest`.
    """

    trees: int = 40
    clip_sd: float = 2.0

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the adjusted values; the values themselves while nothing is there to learn from."""
        return adjusted(self, self.clip_sd, readings, history, seed)

    @property
    def models(self) -> dict[str, Model]:
        """Name -> model; the first of equals wins."""
        trees = self.trees
        return {"ridge": Ridge(), "extra_trees": ExtraTrees(trees=trees), "forest": Forest(trees=trees)}

    def fit(self, lesson: Lesson) -> tuple[Predict, str]:
        """Choose by squared error on left-out configs, then fit the chosen one on all."""
        import numpy as np

        nothing: tuple[Predict, str] = (lambda at: np.zeros(len(at))), "no model: none predicts left-out configs"
        if len(set(lesson.owner.tolist())) < FEWEST:
            return nothing
        errors = {name: left_out_error(model, lesson) for name, model in self.models.items()}
        best = min(errors, key=lambda name: errors[name])
        if errors[best] >= float((lesson.y**2).mean()):
            return nothing
        return self.models[best].fit(lesson)[0], best


def left_out_error(model: Model, lesson: Lesson) -> float:
    """Return the mean squared error on configs that were left out, in at most `FOLDS` groups of whole configs."""
    import numpy as np

    fold = lesson.owner % min(FOLDS, len(np.unique(lesson.owner)))
    errors = np.empty(len(lesson.y))
    for one in np.unique(fold):
        predict, _ = model.fit(lesson.rows(fold != one))
        errors[fold == one] = predict(lesson.x[fold == one]) - lesson.y[fold == one]
    return float((errors**2).mean())
