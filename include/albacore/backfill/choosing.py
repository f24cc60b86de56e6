"""Choosing: which config of a recorded run a choice would have shipped (`policies/choice.py`).

A choice compares the configs that were measured on every node of the tuning, and reads everything else that was
measured there. The judgements of the log stay as they are. Held out is as in `rescoring.py`: the choice without one
node, looked at on that node; each in turn.

| symbol | meaning |
|---|---|
| A | configs: those on all nodes first, then the others, the default last |
| n | nodes of the tuning, by name |
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from albacore.backfill.rescoring import HeldOut, Outcome, Rescoring, conclude
from albacore.policies.choice import Choice, Seen
from albacore.replay import Scene
from albacore.sample import Blame, Failure, Sample
from albacore.stats import mean_ratio
from albacore.trial import Judgement
from albacore.verdict import Terms


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A run as configs x nodes.

    Attributes:
        ids: A config ids.
        values: (A, n) figures; NaN where there is none, or a failure.
        order: (A, n) number of the event; -1 where there is none.
        is_failed: (A, n) whether the config failed there.
        candidates: How many of the first configs have a figure on every node.
    """

    ids: tuple[str, ...]
    values: NDArray[np.float64]
    order: NDArray[np.int64]
    is_failed: NDArray[np.bool_]
    candidates: int


def measured(scene: Scene) -> Measured:
    """Return what a run has measured on its tuning nodes; of a config and node measured twice the first counts."""
    cells: dict[tuple[str, str], tuple[float, int, bool]] = {}
    for event in scene.log.events:
        fact = event.fact
        if not isinstance(fact, Sample | Failure) or event.n in scene.log.void:
            continue
        if not fact.purpose.is_tuning or (isinstance(fact, Failure) and fact.blame is not Blame.CONFIG):
            continue
        value = fact.value(scene.metric) if isinstance(fact, Sample) else np.nan
        failed = not value > 0
        cells.setdefault((fact.config_id, fact.node), (np.nan if failed else value, event.n, failed))
    nodes = sorted({node for _, node in cells})
    every = [c for c in dict.fromkeys(config_id for config_id, _ in cells) if c != scene.default_id]
    ids = [*every, scene.default_id]
    none = (np.nan, -1, False)
    table = [[cells.get((config_id, node), none) for node in nodes] for config_id in ids]
    values = np.array([[cell[0] for cell in row] for row in table], dtype=np.float64).reshape(len(ids), len(nodes))
    is_candidate = np.append(~np.isnan(values[:-1]).any(axis=1), False)
    first = np.argsort(~is_candidate, kind="stable")
    return Measured(
        ids=tuple(ids[i] for i in first),
        values=values[first],
        order=np.array([[cell[1] for cell in row] for row in table], dtype=np.int64).reshape(values.shape)[first],
        is_failed=np.array([[cell[2] for cell in row] for row in table], dtype=np.bool_).reshape(values.shape)[first],
        candidates=int(is_candidate.sum()),
    )


def rescore(scene: Scene, name: str, choice: Choice, terms: Terms | None = None) -> Rescoring:
    """Return what a choice says of a run."""
    found = measured(scene)
    nodes = found.values.shape[1]
    chosen = None
    held = None
    if found.candidates and nodes:
        chosen = found.ids[int(_picks(scene, found, choice, np.arange(nodes)[None, :])[0])]
        held = _held_out(scene, found, choice)
    digest = hashlib.sha256(repr((name, choice, scene.policy.ladder)).encode()).hexdigest()[:16]
    judgements = tuple(scene.log.facts(Judgement))
    outcome = Outcome(policy=name, policy_digest=digest, judgements=judgements, incumbent=chosen, held_out=held)
    return conclude(scene, outcome, terms)


def _picks(scene: Scene, found: Measured, choice: Choice, nodes: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return the row that is chosen for each of (S, k) sets of seen nodes."""
    seen = Seen(
        values=found.values[:, nodes].transpose(1, 0, 2).copy(),
        order=found.order[:, nodes].transpose(1, 0, 2).copy(),
        is_failed=found.is_failed[:, nodes].transpose(1, 0, 2).copy(),
        candidates=found.candidates,
        direction=scene.direction,
    )
    return choice.scores(seen).argmax(axis=1)


def _held_out(scene: Scene, found: Measured, choice: Choice) -> HeldOut | None:
    """Return how the choices without one node each do on that node, against the default there."""
    nodes = found.values.shape[1]
    if nodes < 3:
        return None
    others = np.array([[j for j in range(nodes) if j != i] for i in range(nodes)])
    picks = _picks(scene, found, choice, others)
    pairs = [(float(found.values[row, i]), float(found.values[-1, i])) for i, row in enumerate(picks.tolist())]
    ratios = [scene.direction.gain(value, reference) for value, reference in pairs if reference > 0]
    if len(ratios) < 3:
        return None
    return HeldOut(nodes=len(ratios), gain=mean_ratio(ratios), worst=min(ratios), picks=len(set(picks.tolist())))
