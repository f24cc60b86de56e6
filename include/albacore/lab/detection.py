"""Detection: how many nodes find the unstable configs of a tuning run (TUNA §5.1, Fig. 8 and 9).

| symbol | meaning |
|---|---|
| N | nodes that a config was measured on; all of a run's |
| RR | (max - min) / mean over nodes (TUNA §4.2) |
| unstable | RR over all N nodes exceeds the threshold |
| p_c(n) | share of all sets of n of the N nodes on which config c's RR exceeds it |
| P(n) | chance that n nodes find every unstable config of a run: the product of its p_c(n), averaged over runs |

p_c(N) is 1, so N nodes always look sufficient. The chances on a fleet without an end, of which the N nodes are a
sample, have none of this: n values are drawn from the N with replacement.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from albacore.errors import UserError
from albacore.lab.matrix import Matrix
from albacore.policies.choice import relative_range

Array = NDArray[np.float64]
DRAWS = 2_000
"""Per config and number of nodes: a chance is off by 0.011 at most, their mean by less."""
MOST_NODES = 40
BIN = 0.05
"""Width of the histogram's bars."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Detection:
    """What recorded runs say of the number of nodes.

    Attributes:
        ranges: RR of every config that has a sample on every node of its run.
        threshold: Above which one is unstable.
        nodes: N, the most that a run has.
        runs: Runs with an unstable config.
        one, all_of_run: n -> mean p_c(n); P(n). Of the recorded nodes.
        one_unlimited, all_unlimited: The same on a fleet without an end.
        samples, freed: Samples of all configs; those that were taken of one whose range over the samples before, in
            their order, exceeded the threshold already: what an early verdict would have saved.
    """

    ranges: Array
    threshold: float
    nodes: int
    runs: int
    one: Mapping[int, float]
    all_of_run: Mapping[int, float]
    one_unlimited: Mapping[int, float]
    all_unlimited: Mapping[int, float]
    samples: int
    freed: int

    @property
    def unstable(self) -> int:
        """How many configs are unstable."""
        return int((self.ranges > self.threshold).sum())

    def histogram(self) -> list[int]:
        """Return how many configs have an RR in each bar of width `BIN`, from 0."""
        return np.bincount((self.ranges / BIN).astype(int)).tolist() if len(self.ranges) else []


def detection(runs: Sequence[Matrix], threshold: float) -> Detection:
    """Return what recorded runs say.

    Raises:
        UserError: When no config of them is unstable: then nothing says how many nodes find one.
    """
    own = [matrix.values[: matrix.candidates] for matrix in runs]
    ranges = [relative_range(values) for values in own]
    bad = [values[found > threshold] for values, found in zip(own, ranges, strict=True) if (found > threshold).any()]
    if not bad:
        largest = max(float(found.max()) for found in ranges)
        raise UserError(
            f"cluster-size: expected a config whose relative range over all nodes exceeds {threshold:g}, got "
            f"{sum(map(len, ranges))} config(s) with at most {largest:.2f}. "
            "Lower --threshold, or give --share and --configs."
        )
    most = max(matrix.nodes for matrix in runs)
    recorded = {n: [_of_sets(v, n, threshold) for v in bad] for n in range(2, most + 1)}
    drawn = {n: [_of_draws(v, n, threshold) for v in bad] for n in range(2, MOST_NODES + 1)}
    return Detection(
        ranges=np.concatenate(ranges),
        threshold=threshold,
        nodes=most,
        runs=len(bad),
        one={n: float(np.concatenate(p).mean()) for n, p in recorded.items()},
        all_of_run={n: float(np.mean([x.prod() for x in p])) for n, p in recorded.items()},
        one_unlimited={n: float(np.concatenate(p).mean()) for n, p in drawn.items()},
        all_unlimited={n: float(np.mean([x.prod() for x in p])) for n, p in drawn.items()},
        samples=sum(int((matrix.order >= 0).sum()) for matrix in runs),
        freed=sum(_freed(matrix, threshold) for matrix in runs),
    )


def _freed(matrix: Matrix, threshold: float) -> int:
    """Return how many samples came after their config was proven unstable; failed samples prove nothing here."""
    freed = 0
    for values, order in zip(matrix.values, matrix.order, strict=True):
        own = values[np.argsort(np.where(order < 0, np.iinfo(order.dtype).max, order))]
        own = own[~np.isnan(own)]
        proven = [n for n in range(2, len(own)) if relative_range(own[:n]) > threshold]
        freed += len(own) - proven[0] if proven else 0
    return freed


def _of_sets(values: Array, n: int, threshold: float) -> Array:
    """Return (C,) p_c(n) over all sets of n of a run's nodes; with no more nodes than n it is that of all."""
    if n >= values.shape[1]:
        return (relative_range(values) > threshold).astype(float)
    sets = _sets(values.shape[1], n)
    return np.array([(relative_range(config[sets]) > threshold).mean() for config in values])


def _sets(nodes: int, n: int) -> NDArray[np.int_]:
    """Return (S, n) sets of nodes: all of them, or as many random ones when there are too many."""
    import itertools

    if math.comb(nodes, n) <= 10 * DRAWS:
        return np.array(list(itertools.combinations(range(nodes), n)))
    return np.random.default_rng(n).permuted(np.tile(np.arange(nodes), (10 * DRAWS, 1)), axis=1)[:, :n]


def _of_draws(values: Array, n: int, threshold: float) -> Array:
    """Return (C,) the chance on nodes drawn from a fleet of which a run's are a sample."""
    picks = np.random.default_rng(n).integers(values.shape[1], size=(DRAWS, n))
    return np.array([(relative_range(config[picks]) > threshold).mean() for config in values])


def modelled(share: float, configs: int, fleet: int | None = None) -> dict[int, float]:
    """Return n -> chance that n nodes find so many configs, each slow on a share of the nodes, without other noise.

    A config is found when some of the n nodes are slow and some are not.

    Args:
        share: Of the nodes that a config is slow on; of a fleet of so many nodes the nearest whole number.
        configs: How many have to be found.
        fleet: Nodes that the n are drawn from; None: without an end.
    """
    found = {}
    for n in range(2, (fleet or MOST_NODES) + 1):
        if fleet is None:
            missed = share**n + (1.0 - share) ** n
        else:
            slow = round(share * fleet)
            missed = (math.comb(slow, n) + math.comb(fleet - slow, n)) / math.comb(fleet, n)
        found[n] = max(0.0, 1.0 - missed) ** configs
    return found


def needed(chances: Mapping[int, float], chance: float) -> int | None:
    """Return the fewest nodes that reach a chance; None when none of them do."""
    return next((n for n, found in sorted(chances.items()) if found >= chance), None)
