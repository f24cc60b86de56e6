"""Verdicts: what the program's own verdict says of drawn samples, and the percentile bootstrap beside it.

Comparison, choice among contenders and shipping are those of `albacore.verdict`.
"""

from collections.abc import Sequence

import numpy as np
from fresh_nodes import Drawn
from numpy.typing import NDArray

from albacore.policies.relative_range import RelativeRange
from albacore.trial import Direction
from albacore.verdict import Contender, Terms
from albacore.verdict.comparison import Figures, compare
from albacore.verdict.concluding import best_of
from albacore.verdict.validation import Deployment

TERMS = Terms(unit="")
DETECTOR = RelativeRange()
RESAMPLES = 2000
"""Of the bootstrap."""


def best(ours: Sequence[Figures], theirs: Figures, direction: Direction, *, is_watched: bool = False) -> Contender:
    """Return the contender that the verdict picks.

    Args:
        ours: Figures of the contenders, the most promising first.
        theirs: Those of the default.
        direction: Which way they improve.
        is_watched: Whether the detector looks at the nodes' means too.
    """
    every = [contender(ours, i, theirs, direction, TERMS.confidence, is_watched) for i in range(len(ours))]
    found = best_of(every)
    return found if found is not None else every[0]


def contender(
    ours: Sequence[Figures],
    i: int,
    theirs: Figures,
    direction: Direction,
    confidence: float = TERMS.confidence,
    is_watched: bool = False,
) -> Contender:
    """Return one of the contenders as the verdict compares it; `best` has the other arguments."""
    against = compare(ours[i], theirs, direction, confidence=confidence, among=len(ours))
    by_node = {node: tuple(values.values()) for node, values in ours[i].items()}
    means = [sum(values) / len(values) for values in by_node.values()]
    detected = DETECTOR.detect(means)
    unstable = detected.reason if is_watched and detected.is_unstable else None
    return Contender(
        rank=i + 1,
        tuning_nodes=None,
        expected=None,
        deployment=Deployment(config_id=str(i), mean=None, worst=None, cov=None, by_node=by_node),
        estimate=against.estimate,
        gain=against.interval,
        probability_beats_default=against.probability,
        instability_upper_bound=None,
        unstable=unstable,
        refused=unstable or against.reason or None,
    )


def bootstrap_low(drawn: Drawn, picks: NDArray[np.int_], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the lower ends of the percentile bootstrap's 95 % intervals of the gain's logarithm, (D,).

    Nodes are drawn with replacement, then repeats on each; the same resamples serve all draws.

    Args:
        drawn: The validations.
        picks: (D,) which contender each has picked.
        rng: The only randomness.
    """
    ours = drawn.ours[np.arange(len(picks)), picks]
    sign = 1 if drawn.direction is Direction.MAX else -1
    logs = sign * np.log(ours / drawn.default)
    _, n, r = logs.shape
    nodes = rng.integers(n, size=(RESAMPLES, n, 1))
    places = (nodes * r + rng.integers(r, size=(RESAMPLES, n, r))).reshape(RESAMPLES, -1)
    weights = np.zeros((RESAMPLES, n * r))
    np.add.at(weights, (np.arange(RESAMPLES)[:, None], places), 1 / (n * r))
    return np.percentile(weights @ logs.reshape(len(logs), -1).T, 50 * (1 - TERMS.confidence), axis=0)
