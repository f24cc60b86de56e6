"""Feasibility: how likely a config is to keep the limits, learned from those that did and those that did not.

Expected improvement is weighed by it (Gardner et al., "Bayesian Optimization with Inequality Constraints", ICML 2014,
eq. 7). A config fails when it exceeds a limit, or crashes; both are not to be proposed again and again.

```
X   (n, d) places of the configs that were measured; z (n,) whether each of them failed
P   logistic regression of z on X and (X - 1/2)^2, lightly regularised
```

Limits on memory or latency mostly grow with a few knobs, which a line sees after a handful of failures even among a
hundred knobs; the squares let both ends of a knob be bad. What neither can express is left to the crash score.
"""

from collections.abc import Callable, Sequence

import numpy as np

STRENGTH = 30.0
"""Inverse of the regularisation; with scikit-learn's 1 the border of thirty configs was a slope over half the space."""
LEAST = 3
"""Failures, and successes, below which nothing is said."""


def probability(x: np.ndarray, failed: Sequence[bool]) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return what gives (m,) P(kept) of (m, d) points; None while too few have failed, or too few have not.

    Args:
        x: (n, d) in the unit cube.
        failed: For each of them.
    """
    from sklearn.linear_model import LogisticRegression

    from albacore.threads import one_thread

    z = np.asarray(failed, dtype=bool)
    if min(int(z.sum()), int((~z).sum())) < LEAST:
        return None
    with one_thread():
        model = LogisticRegression(C=STRENGTH, max_iter=1000).fit(_squared(x), ~z)

    def kept(at: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-(_squared(at) @ model.coef_[0] + model.intercept_[0])))

    return kept


def _squared(x: np.ndarray) -> np.ndarray:
    """Return (n, 2 d): the places, and the squares of their distances from the middle."""
    return np.hstack([x, 4 * (x - 0.5) ** 2])
