"""Learning: what the noise adjusters that learn from finished trials have in common.

TUNA (EuroSys 2025), §4.3, Algorithms 1 and 2.

| symbol | shape | meaning |
|---|---|---|
| C, W | | stable configs that ran on the highest rung; the nodes |
| M | (rows, metrics) | guest metrics of a sample |
| OneHot(w) | (rows, nodes) | which node the sample is from |
| X | (rows, metrics + nodes) | features, the metrics first; the performance is never among them |
| y | (rows,) | P / E[P of the config] - 1: the relative error of a sample |
| s | | the predicted relative error of a new sample |

The order is the paper's: predict before fit. A sample is adjusted by a model of the trials that were finished before;
its own trial trains later ones.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from albacore.policies import Reading

if TYPE_CHECKING:
    import numpy as np

Predict = Callable[["np.ndarray"], "np.ndarray"]
"""From X to s."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """What there is to learn from.

    Attributes:
        x, y: X and y of the training rows.
        metrics: How many columns of X are metrics.
        owner: (rows,) number of the config that a row is of; below 0 for those of earlier runs.
        seed: Seeds the model.
    """

    x: "np.ndarray"
    y: "np.ndarray"
    metrics: int
    owner: "np.ndarray"
    seed: int

    def rows(self, kept: "np.ndarray") -> "Lesson":
        """Return the lesson of some of the rows."""
        x, y, owner = self.x[kept], self.y[kept], self.owner[kept]
        return Lesson(x=x, y=y, metrics=self.metrics, owner=owner, seed=self.seed)

    @property
    def own(self) -> "Lesson":
        """The lesson without the rows of earlier runs."""
        return self.rows(self.is_own)

    @property
    def is_own(self) -> "np.ndarray":
        """(rows,) Whether a row is of the present run."""
        return self.owner >= 0


class Model(Protocol):
    """Learn the relative error of a sample; hashable, and equal to others with the same settings."""

    def fit(self, lesson: Lesson) -> tuple[Predict, str]:
        """Return what predicts s, and a word on the model (empty: nothing to say)."""
        ...


def adjusted(
    model: Model,
    clip_sd: float,
    readings: Sequence[Reading],
    history: Sequence[Sequence[Reading]],
    seed: int,
    *,
    earlier: Sequence[Sequence[Reading]] = (),
) -> tuple[list[float], str]:
    """Return p / (s + 1) of each reading (Alg. 2 l.2), and what was done; the values while nothing is there to learn.

    Args:
        model: Learns from the history, anew at each call.
        clip_sd: Bound of |s| in standard deviations of the training errors (a guardrail that §7 asks for).
        readings: The samples of the trial at hand.
        history: The samples of each earlier stable trial on the highest rung.
        seed: Seeds the model.
        earlier: Trials of earlier runs, which a model may learn from as well; those that lack a metric are passed over.
    """
    p = [reading.value for reading in readings]
    trials = [trial for trial in history if teaches(trial)]
    y = _errors(trials)
    if not y or max(y) == min(y):
        return p, "adjuster untrained: no stable trial on the highest rung yet"
    bound = clip_sd * statistics.pstdev(y)
    found, word = _predicted(model, trials, [trial for trial in earlier if teaches(trial)], readings, seed % 2**32)
    s = [max(-bound, min(bound, error)) for error in found]
    moved = max(abs(error) for error in s)
    reason = f"adjuster trained on {len(trials)} trial(s), {len(y)} samples{word}; moved values by up to {moved:.1%}"
    return [value / (error + 1) for value, error in zip(p, s, strict=True)], reason


def teaches(trial: Sequence[Reading]) -> bool:
    """Say whether relative errors of a trial's samples are defined, and not all 0."""
    return len(trial) > 1 and statistics.fmean(r.value for r in trial) != 0


def _errors(trials: Sequence[Sequence[Reading]]) -> list[float]:
    """Return y of all samples of trials, in order."""
    return [r.value / statistics.fmean(q.value for q in trial) - 1 for trial in trials for r in trial]  # Alg. 1 l.2


def _predicted(
    model: Model,
    trials: Sequence[Sequence[Reading]],
    earlier: Sequence[Sequence[Reading]],
    readings: Sequence[Reading],
    seed: int,
) -> tuple[list[float], str]:
    """Fit on the history (Alg. 1 l.3-4), return s for each reading (Alg. 2 l.1)."""
    metrics, _ = columns([reading for trial in trials for reading in trial])
    usable = [trial for trial in earlier if all(r.telemetry.keys() >= set(metrics) for r in trial)]
    every = [*trials, *usable]
    rows = [reading for trial in every for reading in trial]
    owner = [i if i < len(trials) else len(trials) - 1 - i for i, trial in enumerate(every) for _ in trial]
    nodes = columns(rows)[1]
    x = features(rows, metrics, nodes)
    predict, word = _fitted(model, seed, len(metrics), (x.shape, x.tobytes(), tuple(_errors(every)), tuple(owner)))
    return [float(error) for error in predict(features(readings, metrics, nodes))], word and f" by {word}"


Rows = tuple[tuple[int, int], bytes, tuple[float, ...], tuple[int, ...]]
"""Shape and bytes of X, then y and owner: a lesson that can be a key."""


@lru_cache(maxsize=2)
def _fitted(model: Model, seed: int, metrics: int, rows: Rows) -> tuple[Predict, str]:
    """Return the model of a history: one that is judged again asks for it several times in a row."""
    import numpy as np

    shape, x, y, owner = rows
    x_read = np.frombuffer(x).reshape(shape)
    return model.fit(Lesson(x=x_read, y=np.array(y), metrics=metrics, owner=np.array(owner), seed=seed))


def columns(rows: Sequence[Reading]) -> tuple[list[str], list[str]]:
    """Return the metrics and the nodes that are the columns of X.

    Metrics that some training row lacks are left out: a column of guesses would tell nodes apart by what they lack.
    """
    return sorted(set.intersection(*(set(row.telemetry) for row in rows))), sorted({row.node for row in rows})


def features(readings: Sequence[Reading], metrics: Sequence[str], nodes: Sequence[str]) -> "np.ndarray":
    """Return X, a row per reading; a metric that a new reading lacks is 0 there."""
    import numpy as np

    return np.array(
        [[r.telemetry.get(m, 0.0) for m in metrics] + [float(r.node == w) for w in nodes] for r in readings],
        dtype=np.float64,
    )
