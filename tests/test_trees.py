"""The trees are scikit-learn's, without what it spends around them."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from albacore import trees

RNG = np.random.default_rng(0)
X, Z = RNG.random((120, 7)), RNG.random((50, 7))


@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 2, "max_features": 0.83}])
def test_a_regression_forest_is_the_same_to_the_last_bit(settings):
    """Tree by tree: seeds, bootstrap and splits."""
    y = X[:, 0] + RNG.random(120)
    theirs = RandomForestRegressor(12, random_state=5, **settings).fit(X, y)
    ours = trees.grown(DecisionTreeRegressor, X, y, trees=12, seed=5, **settings)

    rows = Z.astype(np.float32)
    assert np.array_equal(trees.votes(ours, Z), [tree.predict(rows) for tree in theirs.estimators_])
    assert trees.votes(ours, Z).mean(axis=0) == pytest.approx(theirs.predict(Z))


def test_a_classification_forest_gives_the_same_chances():
    """Of the second class."""
    y = X[:, 1] > 0.5
    theirs = RandomForestClassifier(9, min_samples_leaf=2, random_state=3).fit(X, y)
    ours = trees.grown(DecisionTreeClassifier, X, y, trees=9, seed=3, min_samples_leaf=2, max_features="sqrt")

    assert trees.shares(ours, Z) == pytest.approx(theirs.predict_proba(Z)[:, 1])
