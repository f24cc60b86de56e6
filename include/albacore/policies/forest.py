"""Forest: the noise adjuster, a random forest over guest metrics.

TUNA (EuroSys 2025), §4.3, Algorithms 1 and 2.

| symbol | shape | meaning |
|---|---|---|
| C, W | | stable configs that ran on the highest rung; the nodes |
| M | rows x metrics | guest metrics of a sample |
| OneHot(w) | rows x nodes | which node the sample is from |
| X | rows x (metrics + nodes) | features; the performance is never among them |
| y | rows | P / E[P of the config] - 1: the relative error of a sample |
| s | | the predicted relative error of a new sample |

The order is the paper's: predict before fit. A sample is adjusted by a model of the trials that were finished before;
its own trial trains later ones.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from albacore.policies import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Adjust by p / (s + 1), the forest rebuilt from the history at each call.

    Attributes:
        trees: Size of the forest. The paper does not say; its artifact uses 1000, which costs 30-90 s a fit and gains
        nothing measurable.
        clip_sd: Bound of |s| in standard deviations of the training errors (a guardrail that §7 asks for).
    """

    trees: int = 100
    clip_sd: float = 2.0

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the adjusted values; the values themselves while nothing is there to learn from."""
        p = [reading.value for reading in readings]
        trials = [trial for trial in history if len(trial) > 1 and statistics.fmean(r.value for r in trial) != 0]
        rows = [reading for trial in trials for reading in trial]
        y = [r.value / statistics.fmean(q.value for q in trial) - 1 for trial in trials for r in trial]  # Alg. 1 l.2
        if not rows or max(y) == min(y):
            return p, "adjuster untrained: no stable trial on the highest rung yet"
        bound = self.clip_sd * statistics.pstdev(y)
        s = [max(-bound, min(bound, e)) for e in self._predict(rows, y, readings, seed)]
        adjusted = [value / (error + 1) for value, error in zip(p, s, strict=True)]  # Alg. 2 l.2
        moved = max(abs(error) for error in s)
        return (
            adjusted,
            f"adjuster trained on {len(trials)} trial(s), {len(rows)} samples; moved values by up to {moved:.1%}",
        )

    def _predict(self, rows: Sequence[Reading], y: list[float], readings: Sequence[Reading], seed: int) -> list[float]:
        """Fit on the history (Alg. 1 l.3-4), return s for each reading (Alg. 2 l.1)."""
        x, encode = _encoder(rows)
        model = _fitted(self.trees, seed % 2**32, x.shape, x.tobytes(), tuple(y))
        return [float(error) for error in model(encode(readings))]


@lru_cache(maxsize=2)
def _fitted(count: int, seed: int, shape: tuple[int, int], x: bytes, y: tuple[float, ...]) -> Callable[[Any], Any]:
    """Return what predicts by the model of a history: one that is judged again asks for it several times in a row."""
    import numpy as np
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeRegressor

    from albacore import trees

    rows = np.frombuffer(x).reshape(shape)
    scale = StandardScaler().fit(rows)  # Alg. 1 l.3
    x_scaled = np.asarray(scale.transform(rows))
    forest = trees.grown(DecisionTreeRegressor, x_scaled, np.array(y), trees=count, seed=seed)
    return lambda at: trees.votes(forest, np.asarray(scale.transform(at))).mean(axis=0)


def _encoder(rows: Sequence[Reading]) -> tuple[Any, Any]:
    """Return X of the training rows, and the function that turns readings into X, its columns fixed by these rows.

    Metrics that some training row lacks are left out: a column of guesses would tell nodes apart by what they lack.
    """
    import numpy as np

    metrics = sorted(set.intersection(*(set(row.telemetry) for row in rows)))
    nodes = sorted({row.node for row in rows})

    def encode(readings: Sequence[Reading]) -> Any:
        """Return X, a row per reading."""
        return np.array(
            [[r.telemetry.get(m, 0.0) for m in metrics] + [float(r.node == w) for w in nodes] for r in readings],
            dtype=np.float64,
        )

    return encode(rows), encode
