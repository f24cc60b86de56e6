"""Cutting: recorded configs cut down to fewer nodes, judged and climbing as in a campaign.

Rungs are drawn, or earned by the paper's ladder in the order of the run; which nodes are left is drawn either way.
Detector, score and ladder are the program's own.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from albacore import judging
from albacore.lab.matrix import Matrix
from albacore.policies import presets
from albacore.replay import Scene
from albacore.space import Kind, Knob, Space
from albacore.trial import Ask, Event, Judgement, Log, Stability

RUNGS = (1, 3, 5)
POLICY = presets.by_name("tuna", nodes=10, rungs=RUNGS, adjuster="identity")
SPACE = Space(knobs=(Knob(name="knob", kind=Kind.REAL, low=0.0, high=1.0, default=0.5),))
"""No knob is read, but a run has a default config."""
Nodes = Sequence[NDArray[np.int_]]
"""The nodes that are left of each candidate, in the order of the candidates."""


def drawn(matrix: Matrix, rng: np.random.Generator) -> Nodes:
    """Return one, three or five nodes per candidate, each number as likely."""
    counts = rng.choice(RUNGS, size=matrix.candidates)
    return [rng.choice(matrix.nodes, size=count, replace=False) for count in counts]


def earned(matrix: Matrix, rng: np.random.Generator) -> Nodes:
    """Return the nodes that the ladder gives each candidate when they are offered in the order of the run."""
    orders = [rng.permutation(matrix.nodes) for _ in range(matrix.candidates)]
    asks: list[Ask] = []
    costs: dict[tuple[str, int], float] = {}
    taken = [0] * len(orders)
    while True:
        step = POLICY.ladder.step(asks, costs)
        if step.config_id is None and all(taken):
            return [order[:count] for order, count in zip(orders, taken, strict=True)]
        place = taken.index(0) if step.config_id is None else int(step.config_id)
        taken[place] = RUNGS[step.rung]
        at = {"config_id": str(place), "rung": step.rung, "bracket": step.bracket}
        asks.append(Ask(index=len(asks), key=str(len(asks)), lane=0, read_n=0, inputs_digest="", **at))
        score = judged(matrix, place, orders[place][: taken[place]]).score
        costs[str(place), step.rung] = matrix.direction.cost(score or 0.0)


WAYS: Mapping[str, Callable[[Matrix, np.random.Generator], Nodes]] = {"drawn": drawn, "earned": earned}
"""How many nodes are left of a config."""


def judged(matrix: Matrix, row: int, nodes: NDArray[np.int_], config_id: str = "") -> Judgement:
    """Return the program's judgement of what a row of a run shows on some nodes, on the rung that has so many."""
    figures = {f"n{node}": float(matrix.values[row, node]) for node in nodes}
    found = POLICY.detector.detect(list(figures.values()))
    stability = Stability.UNSTABLE if found.is_unstable else Stability.STABLE
    score, reasons = judging.score(scene(matrix), stability, figures)
    return Judgement(
        config_id=config_id or str(row),
        rung=RUNGS.index(len(nodes)) if len(nodes) in RUNGS else len(RUNGS) - 1,
        stability=stability,
        relative_range=found.relative_range,
        raw=figures,
        adjusted=figures,
        score=score,
        reasons=tuple(reasons),
        read_n=0,
    )


def run(matrix: Matrix, nodes: Nodes) -> Scene:
    """Return a run in which each candidate was measured on its nodes, and the default wherever it has a figure."""
    sound = np.flatnonzero(~np.isnan(matrix.values[-1]))
    default = judged(matrix, -1, sound, SPACE.default().id)
    return scene(matrix, [default, *(judged(matrix, place, own) for place, own in enumerate(nodes))])


def scene(matrix: Matrix, judgements: Sequence[Judgement] = ()) -> Scene:
    """Return a run whose log has some judgements and no samples."""
    return Scene(
        policy=POLICY,
        space=SPACE,
        metric="figure",
        direction=matrix.direction,
        seed=0,
        limits={},
        configs={},
        log=Log(tuple(Event(n=n + 1, at=0.0, fact=fact) for n, fact in enumerate(judgements))),
    )
