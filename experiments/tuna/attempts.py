"""Attempts: changes to the noise adjusters that were tried on real telemetry, each named in the table of the page.

All are pure functions of the readings they are given, as an adjuster has to be.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import copysign, log1p

import numpy as np

from albacore.policies import Adjuster, Reading
from albacore.policies.learning import Lesson, Model, Predict, adjusted, columns, features

Trial = Sequence[Reading]


@dataclass(frozen=True, slots=True)
class TrialMean:
    """Replace each figure by the mean of its trial: no model, and what averaging over the nodes alone is worth."""

    def adjust(self, readings: Trial, history: Sequence[Trial], *, seed: int) -> tuple[list[float], str]:
        """Return the mean, once per reading."""
        return [statistics.fmean(r.value for r in readings)] * len(readings), "mean of the trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeToTrial:
    """Give a model the logs of metrics relative to their mean over the trial: what the config itself does is gone."""

    inner: Adjuster

    def adjust(self, readings: Trial, history: Sequence[Trial], *, seed: int) -> tuple[list[float], str]:
        """See `Adjuster.adjust`."""
        return self.inner.adjust(_centred(readings), [_centred(trial) for trial in history], seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeToNode:
    """Give a model the logs of metrics relative to their mean on the node so far."""

    inner: Adjuster

    def adjust(self, readings: Trial, history: Sequence[Trial], *, seed: int) -> tuple[list[float], str]:
        """See `Adjuster.adjust`."""
        every = [r for trial in history for r in trial]
        usual = {node: _mean([r for r in every if r.node == node]) for node in {r.node for r in every}}
        whole = _mean(every)

        def moved(trial: Trial) -> list[Reading]:
            return [_less(r, usual.get(r.node, whole)) for r in trial]

        return self.inner.adjust(moved(readings), [moved(trial) for trial in history], seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtWithinTrials:
    """Teach a model the logs of metrics relative to their mean over each trial, and ask it relative to the usual mean.

    Errors of a trial's samples are relative to the trial's mean, so what disturbs all of its nodes shows in the metrics
    alone, and teaches that it does nothing. Here both sides are relative to the trial while a model learns; a new trial
    is compared with the usual one, so that what disturbs all of its nodes can be taken off.
    """

    inner: Adjuster

    def adjust(self, readings: Trial, history: Sequence[Trial], *, seed: int) -> tuple[list[float], str]:
        """See `Adjuster.adjust`."""
        usual = _mean([r for trial in history for r in trial])
        return self.inner.adjust([_less(r, usual) for r in readings], [_centred(trial) for trial in history], seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged:
    """Adjust by the mean of what several models predict."""

    models: tuple[Model, ...]
    clip_sd: float = 2.0

    def adjust(self, readings: Trial, history: Sequence[Trial], *, seed: int) -> tuple[list[float], str]:
        """See `Adjuster.adjust`."""
        return adjusted(self, self.clip_sd, readings, history, seed)

    def fit(self, lesson: Lesson) -> tuple[Predict, str]:
        """Fit each."""
        fitted = [model.fit(lesson)[0] for model in self.models]
        return lambda at: sum(predict(at) for predict in fitted) / len(fitted), ""  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRatio:
    """Predict the log of a figure over its trial's geometric mean: what platforms do multiplies.

    For figures above 0.
    """

    model: Model
    clip_sd: float = 2.0

    def adjust(self, readings: Trial, history: Sequence[Trial], *, seed: int) -> tuple[list[float], str]:
        """See `Adjuster.adjust`."""
        if not history:
            return [r.value for r in readings], "untrained"
        rows = [r for trial in history for r in trial]
        metrics, nodes = columns(rows)
        y = np.concatenate([np.log([r.value for r in t]) - np.log([r.value for r in t]).mean() for t in history])
        owner = np.repeat(np.arange(len(history)), [len(trial) for trial in history])
        x, bound = features(rows, metrics, nodes), self.clip_sd * float(y.std())
        predict, _ = self.model.fit(Lesson(x=x, y=y, metrics=len(metrics), owner=owner, seed=seed))
        s = np.clip(predict(features(readings, metrics, nodes)), -bound, bound)
        return [r.value / float(np.exp(one)) for r, one in zip(readings, s, strict=True)], ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietLevel:
    """Scale adjusted figures from the mean of a trial to its best samples: neighbours only ever slow a system down.

    One factor for all configs, so it changes no choice between them, only how far figures are from an undisturbed
    machine's. For metrics that are better when higher.

    Attributes:
        share: Quantile of figure over trial mean, of all samples so far, that is taken for undisturbed.
    """

    inner: Adjuster
    share: float = 0.95

    def adjust(self, readings: Trial, history: Sequence[Trial], *, seed: int) -> tuple[list[float], str]:
        """See `Adjuster.adjust`."""
        values, reason = self.inner.adjust(readings, history, seed=seed)
        ratios = [r.value / statistics.fmean(q.value for q in trial) for trial in history for r in trial]
        return [value * (float(np.quantile(ratios, self.share)) if ratios else 1.0) for value in values], reason


def _logs(reading: Reading) -> dict[str, float]:
    return {name: copysign(log1p(abs(value)), value) for name, value in reading.telemetry.items()}


def _mean(readings: Trial) -> dict[str, float]:
    """Return the mean log of each metric over those readings that have it."""
    every = [_logs(reading) for reading in readings]
    names = sorted({name for one in every for name in one})
    return {name: statistics.fmean(one[name] for one in every if name in one) for name in names}


def _less(reading: Reading, usual: Mapping[str, float]) -> Reading:
    return replace(reading, telemetry={n: v - usual[n] for n, v in _logs(reading).items() if n in usual})


def _centred(trial: Trial) -> list[Reading]:
    usual = _mean(trial)
    return [_less(reading, usual) for reading in trial]
