"""Rules: which config leads after a run, by six rules, and what it is worth on nodes that it was not measured on.

Every config that a recorded run has on all of its nodes is cut down to one, three or five of them (`cutting.py`). What
is left is ranked by the program's own ranking, and a rule picks. The pick is judged as `albacore replay` judges.

```
mean, worst   of the pick on the nodes it was cut off from, in % of the best candidate's there
unstable      whether its relative range over all nodes exceeds 0.30, in % of the draws
```

A run's draws are averaged; intervals are over runs. Rules choose from the same draws, so differences are paired.
"""

import math
import statistics
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import cutting
import numpy as np
import pieces
import recorded_nodes
from intervals import interval
from markdown import table
from numpy.typing import NDArray

from albacore.lab.matrix import Matrix
from albacore.lab.protocol import FIGURES, Truth
from albacore.trial import Direction, Judgement
from albacore.verdict import ranking
from albacore.verdict.ranking import Standing

DRAWS, BATCHES = 100, 2
"""Of every run in each batch."""
SHOWN = FIGURES[:3]
NOISIEST = "TPC-C"
SCOPES = (tuple(recorded_nodes.FILES), (NOISIEST,))
HEAD = ("rule", *SHOWN, *(f"{NOISIEST}: {figure}" for figure in SHOWN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What a rule chooses from.

    Attributes:
        ranked: The stable configs, as the program ranks them.
        seen: Config id -> its figures.
        direction: Which way these improve.
    """

    ranked: Sequence[Standing]
    seen: Mapping[str, Sequence[float]]
    direction: Direction

    @property
    def top(self) -> list[Standing]:
        """Those on the highest rung."""
        return [standing for standing in self.ranked if standing.nodes == self.ranked[0].nodes]

    @property
    def several(self) -> Sequence[Standing]:
        """Those on several nodes; all when there are none."""
        return [standing for standing in self.ranked if standing.nodes > 1] or self.ranked

    def cautious(self, among: Sequence[Standing]) -> Standing:
        """Return the best by its cautious estimate."""
        return min(among, key=lambda s: self.direction.cost(s.cautious))

    def worst(self, among: Sequence[Standing]) -> Standing:
        """Return the best by its worst figure."""
        return min(among, key=lambda s: max(map(self.direction.cost, self.seen[s.config_id])))

    def mean(self, among: Sequence[Standing]) -> Standing:
        """Return the best by its mean."""
        return min(among, key=lambda s: self.direction.cost(statistics.fmean(self.seen[s.config_id])))


OURS = "cautious estimate on the highest rung (**ours**)"
RULES: Mapping[str, Callable[[Field], Standing]] = {
    "best worst case on the highest rung": lambda field: field.worst(field.top),
    OURS: lambda field: field.ranked[0],
    "cautious estimate over all rungs, one node last": lambda field: field.cautious(field.several),
    "cautious estimate over all rungs": lambda field: field.cautious(field.ranked),
    "best worst case over all rungs": lambda field: field.worst(field.ranked),
    "best mean over all rungs": lambda field: field.mean(field.ranked),
}


def picks(matrix: Matrix, nodes: cutting.Nodes) -> dict[str, int]:
    """Return which candidate each rule picks; nothing where all of them were found unstable."""
    scene = cutting.run(matrix, nodes)
    ranked = ranking.ranked(scene)
    seen = {fact.config_id: list(fact.raw.values()) for fact in scene.log.facts(Judgement)}
    field = Field(ranked=ranked, seen=seen, direction=matrix.direction)
    return {name: int(rule(field).config_id) for name, rule in RULES.items()} if ranked else {}


def worth(matrix: Matrix, pick: int, nodes: NDArray[np.int_]) -> list[float]:
    """Return what is shown of a pick, in per cent, on the nodes that were not its own."""
    held = np.setdiff1d(np.arange(matrix.nodes), nodes)
    return Truth.of(matrix, nodes[None], held[None]).figures(np.array([pick]))[: len(SHOWN)].tolist()


def played(matrix: Matrix, way: str, rng: np.random.Generator, draws: int) -> dict[str, list[float]]:
    """Return what each rule's picks are worth in the mean over the draws, and then its standard errors.

    Draws in which no config was found stable are left out.
    """
    found: dict[str, list[list[float]]] = {name: [] for name in RULES}
    for _ in range(draws):
        nodes = cutting.WAYS[way](matrix, rng)
        for name, pick in picks(matrix, nodes).items():
            found[name].append(worth(matrix, pick, nodes[pick]))
    return {name: [pieces.rounded(value) for value in _mean(np.array(rows))] for name, rows in found.items()}


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([rows.mean(axis=0), rows.std(axis=0, ddof=1) / math.sqrt(len(rows))])


def all_pieces() -> list[pieces.Piece]:
    """Return a piece per workload and way to cut."""
    return [_piece(workload, way) for way in cutting.WAYS for workload in recorded_nodes.FILES]


def _name(workload: str, way: str) -> str:
    return f"rules | {way} | {workload}"


def _piece(workload: str, way: str) -> pieces.Piece:
    name = _name(workload, way)

    def make(batch: int) -> list[dict[str, list[float]]]:
        rng = np.random.default_rng([batch, zlib.crc32(name.encode())])
        return [played(matrix, way, rng, DRAWS) for matrix in recorded_nodes.runs(workload)]

    return pieces.Piece(name=name, make=make, repeats=BATCHES)


def by_run(results: pieces.Results, way: str, rule: str, workloads: Sequence[str]) -> NDArray[np.float64]:
    """Return (R, 6) what a rule's picks are worth in each run, in the order of `SHOWN`, and the standard errors."""
    batches = [results.get(_name(workload, way), []) for workload in workloads]
    every = np.concatenate([[[run[rule] for run in batch] for batch in own] for own in batches], axis=1)
    means, errors = np.split(every, 2, axis=2)
    return np.concatenate([means.mean(axis=0), np.sqrt((errors**2).mean(axis=0) / len(every))], axis=1)


def worths(results: pieces.Results, way: str) -> str:
    """Return what every rule's picks are worth, on all workloads and on the noisiest alone."""
    rows, errors = [], []
    for rule in RULES:
        scopes = [by_run(results, way, rule, names) for names in SCOPES]
        rows.append([rule, *(_cell(own[:, i]) for own in scopes for i in range(len(SHOWN)))])
        errors.append([np.sqrt((own[:, len(SHOWN) :] ** 2).mean(axis=0) / len(own)) for own in scopes])
    largest = [" / ".join(f"{error:.1f}" for error in scope) for scope in np.max(errors, axis=0)]
    return (
        f"{table(HEAD, rows)}\n\n{DRAWS * BATCHES} draws per run; the largest standard errors of drawing alone are "
        f"{largest[0]} points, on {NOISIEST} {largest[1]}."
    )


def differences(results: pieces.Results) -> str:
    """Return by how much the other rules' picks are above ours, in points, run by run."""
    rows = []
    for way in cutting.WAYS:
        for rule in RULES:
            if rule == OURS:
                continue
            cells = []
            for names in SCOPES:
                more = by_run(results, way, rule, names) - by_run(results, way, OURS, names)
                cells += [_cell(more[:, i], "+") for i in range(len(SHOWN))]
            rows.append([way, rule, *cells])
    return table(["rungs", *HEAD], rows)


def _cell(values: NDArray[np.float64], sign: str = "") -> str:
    middle, low, high = interval(values)
    return f"{middle:{sign}.1f} ({low:{sign}.1f} to {high:{sign}.1f})"
