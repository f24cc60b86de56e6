"""Adjusting: what an adjuster makes of measured trials, and how far that is from the truth. Pure, seeded.

| symbol | shape | meaning |
|---|---|---|
| trial | (samples,) | readings of one config, one per node |
| error | (configs,) | mean of abs(v / target - 1) over a config's samples |
"""

from collections.abc import Sequence

import numpy as np
import studies  # noqa: F401  the path of the library
from numpy.typing import NDArray

from albacore.policies import Adjuster, Reading

Trial = Sequence[Reading]
GROUPS = 10
"""Of configs, each left out together."""


def prequential(kind: Adjuster, trials: Sequence[Trial], *, seed: int) -> list[list[float]]:
    """Return each trial's adjusted values; it is adjusted by what those before it teach, as in a campaign."""
    return [kind.adjust(own, trials[:i], seed=seed)[0] for i, own in enumerate(trials)]


def left_out(kind: Adjuster, trials: Sequence[Trial], *, seed: int) -> list[list[float]]:
    """Return each trial's adjusted values; it is adjusted by what the trials outside its group teach.

    Groups are of configs a tenth of all apart, so that one that is measured early and one late are in each.
    """
    groups, found = min(GROUPS, len(trials)), {}
    for group in range(groups):  # one after the other: an adjuster remembers what it has learnt last
        taught = [trial for i, trial in enumerate(trials) if i % groups != group]
        found |= {i: kind.adjust(trials[i], taught, seed=seed)[0] for i in range(group, len(trials), groups)}
    return [found[i] for i in range(len(trials))]


def errors(adjusted: Sequence[Sequence[float]], targets: Sequence[float]) -> list[float]:
    """Return the mean relative error of each trial's values."""
    return [round(float(np.mean(np.abs(np.divide(v, t) - 1.0))), 6) for v, t in zip(adjusted, targets, strict=True)]


def common_factor(trials: Sequence[Trial], truth: Sequence[float]) -> float:
    """Return what the fleet as a whole does to a figure: the mean of measured over true, over all samples.

    An adjuster learns from ratios within a trial, so it cannot see this factor; as it is the same for all configs, it
    changes no choice between them.
    """
    return float(np.mean([r.value / t for trial, t in zip(trials, truth, strict=True) for r in trial]))


def gone(own: NDArray[np.float64], none: NDArray[np.float64]) -> float:
    """Return the part of the error that an adjuster removed."""
    return 1.0 - float(own.mean() / none.mean())
