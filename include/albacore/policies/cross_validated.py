"""CrossValidated: the noise adjuster that predicts best the configs it has not seen, or none.

No model is the best everywhere: a linear one where metrics follow what the platform does, trees where they only show
that something is badly wrong (docs/experiments/tuna.md). So each is tried on configs that were left out of its
training, with and without what earlier runs teach; and what does not beat doing nothing by more than chance is not
used.

| symbol | shape | meaning |
|---|---|---|
| e | (rows,) | error of a model on a sample whose config was left out, clipped as it would be in use |
| g | (configs,) | mean of y^2 - e^2 over a config's samples: what the model would have taken off |
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from albacore.policies import Reading
from albacore.policies.extra_trees import ExtraTrees
from albacore.policies.forest import Forest
from albacore.policies.learning import Lesson, Model, Predict, adjusted
from albacore.policies.ridge import Ridge

if TYPE_CHECKING:
    import numpy as np

FOLDS = 5
FEWEST = 3
"""Configs that a choice takes; with fewer nothing is adjusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidated:
    """Adjust by the model of several with the least error on left-out configs.

    Attributes:
        trees: Of the forests among them; few, as each is grown once per fold.
        share: As in `forest`.
        clip_sd: As in `forest`.
        caution: Standard errors by which the mean of g has to exceed 0.
        earlier: Trials of earlier runs, as in a history: models that learn from them too are candidates beside those
            that do not, and judged by the present run's samples alone. Nodes that are not the same machines have to
            have other names.
    """

    trees: int = 15
    share: float = 1 / 3
    clip_sd: float = 2.0
    caution: float = 1.0
    earlier: tuple[tuple[Reading, ...], ...] = ()

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the adjusted values; the values themselves while nothing is there to learn from."""
        chooser = replace(self, earlier=())  # their rows are in the lesson, and readings cannot be a key
        return adjusted(chooser, self.clip_sd, readings, history, seed, earlier=self.earlier)

    def taught_by(self, earlier: Sequence[Sequence[Reading]]) -> "CrossValidated":
        """Return the choice that has trials of earlier runs to learn from too."""
        return replace(self, earlier=tuple(tuple(trial) for trial in earlier))

    @property
    def models(self) -> dict[str, Model]:
        """Name -> model; the first of equals wins."""
        forest = Forest(trees=self.trees, share=self.share)
        return {"ridge": Ridge(), "extra_trees": ExtraTrees(trees=self.trees), "forest": forest}

    def fit(self, lesson: Lesson) -> tuple[Predict, str]:
        """Choose by squared error on left-out configs, then fit the chosen one on all."""
        import numpy as np

        nothing: tuple[Predict, str] = (lambda at: np.zeros(len(at))), "no model: none predicts left-out configs"
        own = lesson.own
        if len(np.unique(own.owner)) < FEWEST:
            return nothing
        lessons = {"": own} if len(own.y) == len(lesson.y) else {"": own, " and earlier runs": lesson}
        candidates = {
            name + more: (model, taught) for more, taught in lessons.items() for name, model in self.models.items()
        }
        errors = {name: left_out_errors(*candidate, self.clip_sd) for name, candidate in candidates.items()}
        best = min(errors, key=lambda name: float((errors[name] ** 2).mean()))
        if not _pays(errors[best], own, self.caution):
            return nothing
        model, taught = candidates[best]
        return model.fit(taught)[0], best


def left_out_errors(model: Model, lesson: Lesson, clip_sd: float) -> "np.ndarray":
    """Return e of the present run's samples; configs are left out in at most `FOLDS` groups of whole configs."""
    import numpy as np

    y, is_own = lesson.y, lesson.is_own
    bound = clip_sd * float(y[is_own].std())
    fold = np.where(is_own, lesson.owner % min(FOLDS, len(np.unique(lesson.owner[is_own]))), -1)
    errors = np.zeros(len(y))
    for one in np.unique(fold[is_own]):
        predict, _ = model.fit(lesson.rows(fold != one))
        errors[fold == one] = np.clip(predict(lesson.x[fold == one]), -bound, bound) - y[fold == one]
    return errors[is_own]


def _pays(errors: "np.ndarray", own: Lesson, caution: float) -> bool:
    """Say whether the mean of g exceeds 0 by more than `caution` standard errors."""
    import numpy as np

    taken = own.y**2 - errors**2
    g = np.array([taken[own.owner == config].mean() for config in np.unique(own.owner)])
    return float(g.mean()) > caution * float(g.std(ddof=1)) / len(g) ** 0.5
