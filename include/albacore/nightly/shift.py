"""Shift: how far the level of a figure has moved since earlier nights, robust to bad samples, honest with few nights.

A generalised likelihood-ratio test in a short window (T. L. Lai, "Sequential changepoint detection in quality control
and dynamical systems", JRSS B 57 (1995)): the last w nights against those before them, the clearest w counts.

| symbol | shape, unit | meaning |
|---|---|---|
| x[s][i] | log of a figure, up is better | night s, node i |
| w | nights | window: the last night, or the last two |
| m | nights | baseline: those before the window |
| d[i] | log | node i: mean of its window less its level in the baseline |
| sigma | log | residual sd of one sample on one node, node effects taken off |
| tau | log | sd of a whole night that all nodes share |

Node effects are large and persistent (2 % sd, 21 to 68 % of the variance on the TUNA samples), so each node is compared
with itself. The slow side has heavy tails (3 MADs are exceeded by 4 to 9 % of the samples), so levels are medians and
Huber's location, scales come from the median absolute deviation, and both are shrunk to what was seen on published data
until there are nights enough.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Stream = Sequence[Mapping[str, float]]
"""Nights, oldest first: node -> log of a figure."""
WINDOWS = (1, 2)
HUBER_K = 1.345
"""In scales: 95 % efficiency on normal data (Huber, "Robust Statistics", 1981)."""
STEPS, CLOSE = 50, 1e-4
"""Steps towards the location at most; one that is shorter than so many scales is the last."""
MAD = 1.4826
MEDIAN_COST = math.pi / 2
"""Variance of a median over that of a mean, of normal data."""
PRIOR_SIGMA_NIGHTS = 8.0
PRIOR_TAU_NIGHTS = 4.0
"""How many degrees of freedom the priors are worth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What is believed of the noise before any night was seen; both as sd of logarithms."""

    sigma: float
    tau: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How far a level has moved.

    Attributes:
        size: Logarithm of the ratio now to before; below 0 is worse.
        error: Standard error of `size`.
        window: How many of the last nights are "now"; `nights` are "before".
        by_node: Node -> its own shift.
        sigma: Scale of one node's shift.
    """

    size: float
    error: float
    window: int
    nights: int
    by_node: Mapping[str, float]
    sigma: float

    @property
    def z(self) -> float:
        """Size in standard errors."""
        return self.size / self.error


def clearest(stream: Stream, prior: Noise) -> Shift | None:
    """Return the shift of the window that shows it most clearly; None while there is nothing to compare with."""
    found = [one for window in WINDOWS if (one := shift(stream, prior, window=window)) is not None]
    return max(found, key=lambda one: abs(one.z), default=None)


def shift(stream: Stream, prior: Noise, *, window: int = 1) -> Shift | None:
    """Return how far the last nights lie from those before; None without a node that both have."""
    before, now = stream[:-window], stream[-window:]
    levels = {node: statistics.median(values) for node, values in _by_node(before).items()}
    means = {node: statistics.fmean(values) for node, values in _by_node(now).items() if len(values) == window}
    by_node = {node: mean - levels[node] for node, mean in means.items() if node in levels}
    if not before or not by_node:
        return None
    sigma, tau = _noise(before, levels, prior)
    nights = len(before)
    spread = 1 / window + (MEDIAN_COST if nights > 2 else 1.0) / nights
    one_node = sigma * math.sqrt(spread)
    error = math.sqrt(one_node**2 / len(by_node) + tau**2 * spread)
    size = location(list(by_node.values()), one_node)
    return Shift(size=size, error=error, window=window, nights=nights, by_node=by_node, sigma=one_node)


def location(values: Sequence[float], scale: float) -> float:
    """Return Huber's location of at least one value: a mean in which no value pulls by more than HUBER_K scales."""
    found, reach = statistics.median(values), HUBER_K * scale
    for _ in range(STEPS):
        step = sum(max(-reach, min(reach, value - found)) for value in values) / len(values)
        found += step
        if abs(step) < CLOSE * scale:
            break
    return found


def _noise(before: Stream, levels: Mapping[str, float], prior: Noise) -> tuple[float, float]:
    """Return sigma and tau of the baseline, shrunk to the prior."""
    nights = [{node: x - levels[node] for node, x in night.items()} for night in before]
    residuals = [abs(r) for night in nights for r in night.values()]
    free = (len(residuals) - len(levels)) * 0.37  # the MAD's efficiency
    repeats = len(before) / max(1, len(before) - 1)
    seen = (MAD * statistics.median(residuals)) ** 2 * repeats
    sigma2 = (PRIOR_SIGMA_NIGHTS * prior.sigma**2 + free * seen) / (PRIOR_SIGMA_NIGHTS + free)
    own = [location(list(night.values()), math.sqrt(sigma2)) for night in nights if night]
    excess = max(0.0, statistics.variance(own) - sigma2 / max(map(len, nights))) if len(own) > 1 else 0.0
    tau2 = (PRIOR_TAU_NIGHTS * prior.tau**2 + (len(own) - 1) * excess) / (PRIOR_TAU_NIGHTS + len(own) - 1)
    return math.sqrt(sigma2), math.sqrt(tau2)


def _by_node(nights: Stream) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for night in nights:
        for node, x in night.items():
            found.setdefault(node, []).append(x)
    return found
