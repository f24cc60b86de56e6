"""Mixtures: where the best scores lie, and where the rest (Metis §4.2.1, after TPE).

```
x, y     (n, c) features and (n,) scaled scores; lower is better
P1, P2   Gaussian mixtures of the best quarter and of the rest
floor    lowest ln P1 of the best scores: farther out both are nothing, and their ratio is the rounding of nothing
```
"""

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

BEST_SHARE = 0.25
"""Share of the scores in the best group; the paper names none, TPE has 0.15 to 0.25."""
COMPONENTS = 2


def fitted(x: np.ndarray, y: np.ndarray) -> "tuple[GaussianMixture, GaussianMixture, float] | None":
    """Return the mixtures of the best scores and of the rest, and the lowest ln P1 of the best scores."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    from albacore.threads import one_thread

    n = max(2, math.ceil(BEST_SHARE * len(y)))
    if len(y) < n + 2:
        return None
    order = np.argsort(y, kind="stable")
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best, rest = (
            GaussianMixture(COMPONENTS, covariance_type="diag", reg_covar=0.02, random_state=0).fit(x[part])
            for part in (order[:n], order[n:])
        )
    return best, rest, float(best.score_samples(x[order[:n]]).min())
