"""Gaussian processes: the door to scikit-learn's, for `gp` and `metis`.

```
X  (n, c)  features of the configs, see `cube.features`
y  (n,)    scaled scores, see `cube.scaled`
K  (n, n)  covariance of y: amplitude x Matern + noise on the diagonal
```

One length scale for all columns. One per column only below 20 knobs: at 100 knobs and 300 scores such a fit took 73 s.
Linear algebra runs on one thread (`threads.py`).
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from albacore.threads import one_thread

PER_DIMENSION_BELOW = 20
"""Knobs below which every feature has its own length scale."""
LEARNED_FROM = 200
"""Most configs that length scale, amplitude and noise are learned from; the surface itself goes through all."""
JITTER = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A fitted Gaussian process.

    Attributes:
        noise: Variance of one score around the surface, in squared quartile distances.
    """

    model: Any
    noise: float

    @property
    def x(self) -> np.ndarray:
        """X."""
        return self.model.X_train_

    @property
    def y(self) -> np.ndarray:
        """Y."""
        return self.model.y_train_

    def predict(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (m,) mean and (m,) standard deviation of the surface itself, without the noise of a score."""
        with one_thread():
            mean, deviation = self.model.predict(x, return_std=True)
        return mean, np.sqrt(np.maximum(deviation**2 - self.noise, 1e-12))

    def covariance(self, x: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Return (m,) posterior covariance of the surface at x with the surface at one point (c,)."""
        kernel = self.model.kernel_.k1
        with one_thread():
            solved = cho_solve((self.model.L_, True), kernel(self.x, point[None]))
            return (kernel(x, point[None]) - kernel(x, self.x) @ solved)[:, 0]

    def left_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (n,) mean and (n,) deviation that all other scores predict for each score, its noise included.

        Closed form (Rasmussen, Williams: GPML, eq. 5.12), with the length scale of the whole: m_i = y_i - [K^-1 y]_i /
        [K^-1]_ii and s_i^2 = 1 / [K^-1]_ii.
        """
        with one_thread():
            inverse = cho_solve((self.model.L_, True), np.eye(len(self.y)))
        diagonal = np.diag(inverse)
        return self.y - inverse @ self.y / diagonal, 1 / np.sqrt(diagonal)


def learn(x: np.ndarray, y: np.ndarray, *, nu: float, is_per_dimension: bool) -> Process:
    """Return the process with the most likely length scale, amplitude and noise.

    Args:
        x: (n, c).
        y: (n,) scaled scores.
        nu: Smoothness of the Matern kernel: 1.5 or 2.5.
        is_per_dimension: Whether every column has its own length scale.
    """
    chosen = _spread_out(y)
    scale: Any = [1.0] * x.shape[1] if is_per_dimension else float(np.sqrt(x.shape[1])) / 2
    matern = Matern(scale, length_scale_bounds=(0.05, 20.0 * float(np.sqrt(x.shape[1]))), nu=nu)
    kernel = ConstantKernel(1.0, (0.05, 50.0)) * matern + WhiteKernel(0.1, (1e-4, 5.0))
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a parameter at its bound is an answer
        model = GaussianProcessRegressor(kernel, alpha=JITTER).fit(x[chosen], y[chosen])
    return given(model.kernel_, x, y)


def given(kernel: Any, x: np.ndarray, y: np.ndarray) -> Process:
    """Return the process through all scores with a kernel that was learned before."""
    with one_thread():
        nothing_to_learn: Any = None
        model: Any = GaussianProcessRegressor(kernel, alpha=JITTER, optimizer=nothing_to_learn).fit(x, y)
    return Process(model=model, noise=float(model.kernel_.k2.noise_level))


def extended(process: Process, x: np.ndarray) -> Process:
    """Return the process as if what it expects had been measured at some points (m, c): its view of pending configs."""
    if len(x) == 0:
        return process
    mean, _ = process.predict(x)
    return given(process.model.kernel_, np.vstack([process.x, x]), np.concatenate([process.y, mean]))


def _spread_out(y: np.ndarray) -> np.ndarray:
    """Return the indices of at most `LEARNED_FROM` scores: the best half of them, and others evenly over time."""
    if len(y) <= LEARNED_FROM:
        return np.arange(len(y))
    best = np.argsort(y, kind="stable")[: LEARNED_FROM // 2]
    others = np.setdiff1d(np.arange(len(y)), best)
    return np.sort(np.concatenate([best, others[:: -(-len(others) // (LEARNED_FROM // 2))]]))
