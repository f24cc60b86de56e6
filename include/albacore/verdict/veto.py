"""Veto: the best config of a run may be one whose neighbours are unstable; then another is shipped.

Ten nodes miss an unstable config now and then, and the one they miss is likely to look the best. Its neighbours in
the space say more than its own ten samples: unstable configs lie together, as those of one query plan do.

| symbol | meaning |
|---|---|
| finalists | the best stable configs of the highest rung |
| P(x) | share of unstable configs around x by a forest over all configs seen on more than one node, x left out |

Finalists with P < 1/2 come first, those with more after them; when too little was seen nobody is moved. In a campaign
that is the order in which configs are validated, in a simulation the first one is what a run ships.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from albacore.replay import Scene, incumbent
from albacore.trial import Judgement, Stability

if TYPE_CHECKING:
    import numpy as np

FINALISTS = 8
FEWEST = 4
"""Stable and unstable configs each, before neighbours are asked."""
TREES, LEAF = 40, 2


def chosen(scene: Scene) -> str | None:
    """Return the id of the config to ship, None while there is none."""
    best = incumbent(scene)
    if best is None:
        return None
    return next(sound(scene, finalists(scene, best.rung)), best.config_id)


def sound(scene: Scene, config_ids: Iterable[str]) -> Iterator[str]:
    """Yield those of some configs whose neighbours are not mostly unstable, in the order given."""
    return (config_id for config_id in config_ids if chance_of_instability(scene, config_id) < 0.5)


def finalists(scene: Scene, rung: int) -> list[str]:
    """Return the ids of the best stable configs of a rung, best first, the default excepted."""
    judged = [j for j in scene.log.facts(Judgement) if j.rung == rung and _is_tuned(scene, j)]
    own = [j for j in judged if j.stability is Stability.STABLE]
    return [j.config_id for j in sorted(own, key=lambda j: scene.direction.cost(j.score or 0.0))][:FINALISTS]


def _is_tuned(scene: Scene, judgement: Judgement) -> bool:
    return judgement.score is not None and judgement.config_id != scene.default_id


def chance_of_instability(scene: Scene, config_id: str) -> float:
    """Return P of a config; 0 while too few stable or unstable configs were seen."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    from albacore import trees

    shown = [(c, unstable) for c, unstable in _shown(scene).items() if c != config_id]
    labels = np.array([unstable for _, unstable in shown], dtype=bool)
    if min(labels.sum(), (~labels).sum()) < FEWEST:
        return 0.0
    x = _features(scene, [c for c, _ in shown])
    settings = {"min_samples_leaf": LEAF, "max_features": "sqrt"}
    forest = trees.grown(DecisionTreeClassifier, x, labels, trees=TREES, seed=scene.seed % 2**32, **settings)
    return float(trees.shares(forest, _features(scene, [config_id]))[0])


def _features(scene: Scene, config_ids: Sequence[str]) -> "np.ndarray":
    from albacore.optimizers import cube

    return cube.features(scene.space, cube.points_of(scene.space, [scene.configs[c] for c in config_ids]))


def _shown(scene: Scene) -> dict[str, bool]:
    """Return config id -> whether it is unstable, of those judged by several nodes; the last judgement says."""
    last: dict[str, Judgement] = {}
    for j in scene.log.facts(Judgement):
        if j.stability is not Stability.FAILED and len(j.raw) > 1 and j.config_id in scene.configs:
            last[j.config_id] = j
    return {config_id: j.stability is Stability.UNSTABLE for config_id, j in last.items()}
