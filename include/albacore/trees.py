"""Trees: forests without what scikit-learn spends around each tree.

Of a forest on a few hundred rows scikit-learn spends half of the time, and of its predictions nearly all, on clones,
checks and threads. Here are the same trees, bit for bit (a test compares them), grown and asked one after the other.

| symbol | shape | meaning |
|---|---|---|
| x | (n, c) | features |
| y | (n,) | targets |
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

LARGEST_SEED = np.iinfo(np.int32).max


def grown(kind: Any, x: np.ndarray, y: np.ndarray, *, trees: int, seed: int, **settings: Any) -> list[Any]:
    """Return the fitted trees of a random forest, as scikit-learn's own forest with this `random_state` has them.

    Args:
        kind: `DecisionTreeRegressor` or `DecisionTreeClassifier`.
        x: Features (n, c); y: targets (n,).
        trees: How many.
        seed: Seeds the forest.
        settings: Of every tree.
    """
    from sklearn import config_context

    rows = np.ascontiguousarray(x, dtype=np.float32)
    targets = np.ascontiguousarray(y, dtype=np.float64).reshape(-1, 1)
    seeds = np.random.RandomState(seed)
    found = []
    with config_context(skip_parameter_validation=True):
        for own in [int(seeds.randint(LARGEST_SEED)) for _ in range(trees)]:
            drawn = np.random.RandomState(own).randint(0, len(rows), len(rows), dtype=np.int32)
            weights = np.bincount(drawn, minlength=len(rows)).astype(np.float64)
            tree = kind(random_state=own, **settings)
            found.append(tree.fit(rows, targets, sample_weight=weights, check_input=False).tree_)
    return found


def votes(trees: Sequence[Any], x: np.ndarray) -> np.ndarray:
    """Return (trees, n) what each regression tree says of each row."""
    rows = np.ascontiguousarray(x, dtype=np.float32)
    return np.stack([tree.predict(rows).reshape(len(rows)) for tree in trees])


def shares(trees: Sequence[Any], x: np.ndarray) -> np.ndarray:
    """Return (n,) the mean share of the second class in the leaves that a row falls into; of two classes."""
    rows = np.ascontiguousarray(x, dtype=np.float32)
    counts = np.stack([tree.predict(rows).reshape(len(rows), -1) for tree in trees])
    return (counts[:, :, 1] / counts.sum(axis=2)).mean(axis=0)
