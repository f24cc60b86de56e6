"""Early: how many samples ladders take on recorded runs until they have chosen, and whether they choose the same.

    ALBACORE_SAMPLES=folder python experiments/tuna/early.py

Every config that a published run measured on all ten nodes is offered to a ladder, in the order of the run; what the
ladder asks for is read from the record, its nodes in a random order. Scores are the paper's: the worst value, halved
when unstable. A ladder has chosen when every config was offered and it asks for no more of what it was offered.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import studies  # noqa: F401  the path of the library

from albacore.history import read
from albacore.lab.matrix import Matrix
from albacore.lab.protocol import matrices
from albacore.policies import Halve, Ladder, Worst
from albacore.policies.asynchronous import Asynchronous
from albacore.policies.brackets import Brackets
from albacore.policies.budget_allocation import BudgetAllocation
from albacore.policies.racing import Racing
from albacore.policies.relative_range import RelativeRange
from albacore.trial import Ask

FILE = Path(__file__).with_name("runs") / "early.json"
ORDERS = 10
"""Random orders of nodes per run."""
NODES = tuple(range(1, 11))
LADDERS: Mapping[str, Ladder] = {
    "all on 10 nodes": Brackets(rungs=(10,)),
    "all on 3 nodes": Brackets(rungs=(3,)),
    "all on 1 node": Brackets(rungs=(1,)),
    "successive halving 1, 3, 10": Brackets(rungs=(1, 3, 10)),
    "asynchronous 1, 3, 10": Asynchronous(rungs=(1, 3, 10)),
    "racing": Racing(rungs=NODES, first=3, width=1),
    **{
        f"OCBA, {per_config:g} samples per config": BudgetAllocation(rungs=NODES, first=3, per_config=per_config)
        for per_config in (1.5, 2.2, 3, 10)
    },
}


def score(values: np.ndarray, matrix: Matrix) -> float:
    """Return what is told of some values: lower is better."""
    value = Worst().score(values.tolist(), matrix.direction)
    if RelativeRange(threshold=0.30).detect(values.tolist()).is_unstable:
        value = Halve().penalise(value, matrix.direction)
    return matrix.direction.cost(value)


def chosen(ladder: Ladder, matrix: Matrix, nodes: np.ndarray) -> tuple[int, int]:
    """Return which candidate a ladder chooses, and after how many samples."""
    asks: list[Ask] = []
    costs: dict[tuple[str, int], float] = {}
    taken: dict[str, int] = {}
    offered = 0
    while True:
        step = ladder.step(asks, costs)
        if step.config_id is None and offered == matrix.candidates:
            break
        name = step.config_id or str(offered)
        offered += step.config_id is None
        taken[name] = ladder.rungs[step.rung]
        at = {"rung": step.rung, "bracket": step.bracket, "config_id": name}
        asks.append(Ask(index=len(asks), key=str(len(asks)), lane=0, read_n=0, inputs_digest="", **at))
        costs[name, step.rung] = score(matrix.values[int(name), nodes[: taken[name]]], matrix)
    top = max(rung for _, rung in costs)
    best = min((cost, name) for (name, rung), cost in costs.items() if rung == top)[1]
    return int(best), sum(taken.values())


def compared(runs: list[Matrix]) -> dict[str, list[list[float]]]:
    """Return, per ladder and run: samples per config offered, share of choices as on all nodes, what they are worth."""
    found: dict[str, list[list[float]]] = {name: [] for name in LADDERS}
    for number, matrix in enumerate(runs):
        own: dict[str, list[tuple[float, float, float]]] = {name: [] for name in LADDERS}
        scores = np.array([score(values, matrix) for values in matrix.values[: matrix.candidates]])
        for order in range(ORDERS):
            nodes = np.random.default_rng([number, order]).permutation(matrix.nodes)
            for name, ladder in LADDERS.items():
                pick, samples = chosen(ladder, matrix, nodes)
                worth = _worth(scores, pick)
                own[name].append((samples / matrix.candidates, float(scores[pick] == scores.min()), worth))
        for name, rows in own.items():
            found[name].append(np.mean(rows, axis=0).tolist())
    return found


def _worth(scores: np.ndarray, pick: int) -> float:
    """Return the score of a pick on all nodes, as a share of the best one's; costs of a throughput are negative."""
    best = float(scores.min())
    return float(scores[pick]) / best if best < 0 else best / float(scores[pick])


def main() -> None:
    """Compare on the published samples."""
    folder = Path(os.environ["ALBACORE_SAMPLES"])
    runs = matrices([run for path in sorted(folder.glob("*.samples.csv.gz")) for run in read(path)])
    found = compared([m for m in runs if m.candidates >= 9])
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(found) + "\n")
    for name, rows in found.items():
        print(name, np.mean(rows, axis=0).round(3).tolist())


if __name__ == "__main__":
    main()
