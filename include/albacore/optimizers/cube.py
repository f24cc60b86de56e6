"""The unit cube as surrogates and steps see it.

```
d        knobs
U  (n, d)  points of the unit cube, one place per knob
F  (n, c)  features: a number's place; a switch as 0 or 1; a choice as one column per option; one column per special
           value, as a special value has no distance to the range that it shares the interval with
```
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from albacore.optimizers import new_config
from albacore.space import Config, Space
from albacore.space.knob import SPECIAL_SHARE, Knob

SIDE = math.sqrt(0.5)
"""Length of an option's column: two different options are 1 apart, as the two ends of a range are."""
WORST = 3.0
"""Scaled scores above it are set to it: how bad a crash is says nothing of the configs around the best."""
BEST = -10.0
FINALISTS = 64
"""Best points by a surrogate that are looked at as the configs that they become."""


def features(space: Space, points: np.ndarray) -> np.ndarray:
    """Return F for U; knobs with one value have no column."""
    columns: list[np.ndarray] = []
    for knob, place in zip(space.knobs, points.T, strict=True):
        if knob.size > 1:
            columns += _columns(knob, place)
    return np.column_stack(columns) if columns else np.zeros((len(points), 1))


def _columns(knob: Knob, place: np.ndarray) -> list[np.ndarray]:
    """Return the columns of one knob."""
    n = len(knob.options)
    if not knob.kind.is_numeric:
        cell = np.minimum((place * n).astype(int), n - 1)
        return [cell.astype(float)] if n == 2 else [SIDE * (cell == option) for option in range(n)]
    if not n:
        return [place]
    is_special = place < SPECIAL_SHARE
    cell = np.minimum((place / SPECIAL_SHARE * n).astype(int), n - 1)
    inside = np.where(is_special, 0.5, (place - SPECIAL_SHARE) / (1 - SPECIAL_SHARE))
    return [inside, *(SIDE * (is_special & (cell == option)) for option in range(n))]


def scaled(scores: Sequence[float]) -> np.ndarray:
    """Return scores free of unit and offset: the median is 0, the quartiles are 1 apart, crashes end at `WORST`."""
    y = np.asarray(scores, dtype=np.float64)
    y = y / max(float(np.abs(y).max(initial=0.0)), 1e-300)  # so that no difference overflows
    low, middle, high = np.percentile(y, [25, 50, 75])
    spread = high - low if high > low else float(y.std())
    return np.clip((y - middle) / spread, BEST, WORST) if spread > 0 else np.zeros(len(y))


def latin_hypercube(n: int, d: int, seed: Sequence[int]) -> np.ndarray:
    """Return (n, d) points of the unit cube, one in each of the n intervals of each of the d knobs."""
    rng = np.random.default_rng([*seed])
    cells = rng.permuted(np.tile(np.arange(n), (d, 1)), axis=1).T  # scipy.stats.qmc does the same; its import: 0.7 s
    return (cells + rng.random((n, d))) / n


def reflected(points: np.ndarray) -> np.ndarray:
    """Return points with what lies outside the cube mirrored at its border."""
    turned = np.abs(points) % 2.0
    return np.where(turned > 1.0, 2.0 - turned, turned)


def points_of(space: Space, configs: Sequence[Config]) -> np.ndarray:
    """Return (n, d) points of configs, also of none."""
    return space.encode_all(configs)


def unordered(space: Space) -> np.ndarray:
    """Return (d,) whether a knob's values have no order, so that a step between them means nothing."""
    return np.array([not knob.kind.is_numeric for knob in space.knobs])


def stepped(space: Space, point: np.ndarray, moved: np.ndarray, sigma: float, rng: np.random.Generator) -> np.ndarray:
    """Return a point with the knobs of the mask moved: numbers by a normal step, choices and switches anywhere.

    Args:
        point: (d,) in the cube.
        moved: (d,) which knobs move.
        sigma: Standard deviation of a step, in shares of a knob's range.
    """
    steps = reflected(point + sigma * rng.standard_normal(len(space)))
    anywhere = rng.random(len(space))
    return np.where(moved, np.where(unordered(space), anywhere, steps), point)


def candidates(space: Space, centres: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return `n` points for an acquisition to choose from: half uniform, half around the centres.

    A neighbour differs from its centre in one knob, a fifth or half of them, by steps of 0.3 % to 30 % of a range;
    one knob in twenty jumps, so that special values are within reach.

    Args:
        centres: (k, d) points that a surrogate thinks best; with none, all are uniform.
    """
    d = len(space)
    uniform = rng.random((n if len(centres) == 0 else n - n // 2, d))
    if len(centres) == 0:
        return uniform
    n //= 2
    centre = centres[rng.integers(len(centres), size=n)]
    moved = rng.random((n, d)) < rng.choice([1 / d, 0.2, 0.5], size=(n, 1))
    moved[np.arange(n), rng.integers(d, size=n)] = True
    steps = reflected(centre + 10 ** rng.uniform(-2.5, -0.5, (n, 1)) * rng.standard_normal((n, d)))
    jumps = unordered(space) | (rng.random((n, d)) < 0.05)
    near = np.where(moved, np.where(jumps, rng.random((n, d)), steps), centre)
    return np.vstack([near, uniform])


def most_promising(
    space: Space, points: np.ndarray, value: Callable[[np.ndarray], np.ndarray], taken: set[str]
) -> Config | None:
    """Return the config that is not taken and has the largest value; None when all of the best points are taken.

    A point becomes a config by rounding and repair, which may move it far; so the best points are valued again as
    what they have become. Values are compared as 32-bit floats: the last digits of linear algebra differ between
    machines, and ties go to the earlier point.

    Args:
        points: (n, d) in the cube.
        value: What a surrogate promises of (n, d) points, (n,), larger is better.
    """
    first = np.argsort(-value(points).astype(np.float32), kind="stable")[:FINALISTS]
    legal = space.encode_all([space.decode(point) for point in points[first]])
    order = np.argsort(-value(legal).astype(np.float32), kind="stable")
    return new_config(space, legal[order], taken)
