"""Matrix: a recorded run as configs x nodes, the form that the protocol computes on."""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from albacore.history import HistoricalRun, Samples
from albacore.policies.choice import Seen
from albacore.trial import Direction

MOST_SPLITS = 5_000
"""More splits than these are sampled, with a fixed seed; ten nodes have at most 252."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matrix:
    """One run: A configs on n nodes, the C candidates first, the default last.

    Attributes:
        values: (A, n) figures; NaN where there is no sample, or a failed one.
        order: (A, n) place of the sample in the run; -1 where there is none.
        is_failed: (A, n) whether the config failed there.
        candidates: C; each has a figure on all n nodes.
    """

    workload: str
    number: int
    direction: Direction
    values: NDArray[np.float64]
    order: NDArray[np.int64]
    is_failed: NDArray[np.bool_]
    candidates: int

    @classmethod
    def of(cls, run: HistoricalRun) -> "Matrix":
        """Lay out a run; of a (config, node) measured twice the first sample counts.

        The default is a row of its own. A config that was suggested and is the default as well stays a candidate: its
        samples as a suggestion are its own.
        """
        s = run.samples
        names: dict[str, int] = {}
        for config_id in s.config_id[~s.is_default]:
            names.setdefault(config_id, len(names))
        row = np.array([len(names) if d else names[c] for c, d in zip(s.config_id, s.is_default, strict=True)])
        column = {node: j for j, node in enumerate(run.nodes)}
        place = (row.astype(int), np.array([column[node] for node in s.node], dtype=int))
        return cls._ordered(run, s, place, (len(names) + 1, len(column)))

    @classmethod
    def _ordered(
        cls, run: HistoricalRun, s: Samples, place: tuple[NDArray[np.int_], NDArray[np.int_]], shape: tuple[int, int]
    ) -> "Matrix":
        is_bad = s.is_failed | ~(s.value > 0) | ~np.isfinite(s.value)
        values = np.full(shape, np.nan)
        order = np.full(shape, -1, dtype=np.int64)
        failed = np.zeros(shape, dtype=np.bool_)
        back = slice(None, None, -1)  # the first sample of a pair is written last
        rows, columns = place[0][back], place[1][back]
        values[rows, columns] = np.where(is_bad, np.nan, s.value)[back]
        order[rows, columns] = s.order[back]
        failed[rows, columns] = is_bad[back]
        is_candidate = np.append(~np.isnan(values[:-1]).any(axis=1), False)
        first = np.argsort(~is_candidate, kind="stable")
        return cls(
            workload=run.workload,
            number=run.number,
            direction=run.direction,
            values=values[first],
            order=order[first],
            is_failed=failed[first],
            candidates=int(is_candidate.sum()),
        )

    @property
    def nodes(self) -> int:
        """How many nodes the run had."""
        return self.values.shape[1]

    def splits(self, k: int) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """Return (S, k) seen and (S, n - k) held-out nodes: every C(n, k) split, the same for all configs."""
        seen = np.array(list(itertools.islice(itertools.combinations(range(self.nodes), k), 10**6)), dtype=int)
        if len(seen) > MOST_SPLITS:
            seen = seen[np.sort(np.random.default_rng(0).permutation(len(seen))[:MOST_SPLITS])]
        is_held = np.ones((len(seen), self.nodes), dtype=bool)
        np.put_along_axis(is_held, seen, False, axis=1)
        return seen, np.nonzero(is_held)[1].reshape(len(seen), -1)

    def seen(self, nodes: NDArray[np.int_]) -> Seen:
        """Return what a choice may see when it is shown (S, k) nodes: copies, of these nodes only."""
        return Seen(
            values=self.values[:, nodes].transpose(1, 0, 2).copy(),
            order=self.order[:, nodes].transpose(1, 0, 2).copy(),
            is_failed=self.is_failed[:, nodes].transpose(1, 0, 2).copy(),
            candidates=self.candidates,
            direction=self.direction,
        )
