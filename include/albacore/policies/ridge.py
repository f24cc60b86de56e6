"""Ridge: a noise adjuster that is linear in the logs of the guest metrics (A. E. Hoerl, R. W. Kennard, 1970).

| symbol | meaning |
|---|---|
| z | columns of X, metrics as sign(m) log(1 + |m|), all with mean 0 and deviation 1 |
| a | penalty; the one of `PENALTIES` with the least leave-one-out error (generalised cross-validation) |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from albacore.policies import Reading
from albacore.policies.learning import Lesson, Predict, adjusted

if TYPE_CHECKING:
    import numpy as np

PENALTIES = tuple(10.0 ** (0.5 * i) for i in range(-2, 9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """Adjust by a linear model: the best where what the platform does shows in proportion, and quick.

    Attributes:
        clip_sd: As in `forest`.
    """

    clip_sd: float = 2.0

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the adjusted values; the values themselves while nothing is there to learn from."""
        return adjusted(self, self.clip_sd, readings, history, seed)

    def fit(self, lesson: Lesson) -> tuple[Predict, str]:
        """Solve for each penalty by one decomposition, and keep the best."""
        import numpy as np

        from albacore.threads import one_thread

        seen = _logs(lesson.x, lesson.metrics)
        centre, scale = seen.mean(axis=0), seen.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        level = float(lesson.y.mean())
        with one_thread():
            u, d, vt = np.linalg.svd((seen - centre) / scale, full_matrices=False)
            target = u.T @ (lesson.y - level)
            rest = float(((lesson.y - level) ** 2).sum() - (target**2).sum())
            penalty = min(PENALTIES, key=lambda a: _error(d, target, rest, len(lesson.y), a))
            weights = vt.T @ (d / (d**2 + penalty) * target)

        def predict(at: "np.ndarray") -> "np.ndarray":
            with one_thread():
                return level + (_logs(at, lesson.metrics) - centre) / scale @ weights

        return predict, ""


def _logs(x: "np.ndarray", metrics: int) -> "np.ndarray":
    """Return X with the logs of its metrics."""
    import numpy as np

    found = x.copy()
    found[:, :metrics] = np.sign(x[:, :metrics]) * np.log1p(np.abs(x[:, :metrics]))
    return found


def _error(d: "np.ndarray", target: "np.ndarray", rest: float, rows: int, penalty: float) -> float:
    """Return the generalised cross-validation error (G. Golub, M. Heath, G. Wahba, Technometrics 21, 1979, eq. 1.4)."""
    shrunk = penalty / (d**2 + penalty)
    left = rows - 1 - len(d) + float(shrunk.sum())
    return (float(((shrunk * target) ** 2).sum()) + rest) / max(left, 1e-9) ** 2
