"""Fleet: what nodes do to a figure, and what their guest metrics show of it.

| symbol | shape | meaning |
|---|---|---|
| nu | (nodes,) | lasting effect of a node, log scale |
| w_t | (nodes, steps) | weather: an autoregressive effect of time, log scale (TUNA §3.1) |
| i_t | (nodes, steps) | incidents: a span of time in which a node is slow |
| r | | residual of one sample, heavy on the slow side |
| e | | nu + w_t + i_t: what the platform did; the guest metrics carry a part of it |

Everything is drawn from the seed at the start or from the sample's own identity, so a sample comes out the same in
whatever order samples are taken.
"""

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP_S = 300.0
"""Time between two values of weather and incidents."""
NAMES = ("cpu_times.steal", "pressure.cpu.some", "disk_io_counters.read_time", "cpu_stats.ctx_switches")
"""Roots of the guest metrics that carry something; the others are called `guest.<n>`."""


class Carry(enum.StrEnum):
    """Name how guest metrics follow from what the platform does."""

    LOG_LINEAR = "log_linear"
    THRESHOLDED = "thresholded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """What a fleet is drawn from; deviations are of the log of a figure.

    Attributes:
        nodes: How many nodes there are.
        hours: How long the weather goes on; after that it repeats.
        node_sd: Deviation of the lasting effects of nodes.
        drift_sd, memory_s: Deviation of the weather, and the time over which it is forgotten.
        residual_sd: Deviation of what is left.
        tail_share, tail_loss: Share of the samples that something else slows down, and by how much on average.
        incidents_per_day: How often a node has an incident; it lasts one to six hours and costs 20 to 60 %.
        metrics, informative: Guest metrics, and how many of them carry the platform's part.
        strength: 1: an informative metric shows the platform's part as large as its own noise; 0: nothing.
        residuals: Recorded residuals to draw from instead of a normal deviate; log scale, centred.
    """

    nodes: int = 10
    hours: float = 400.0
    node_sd: float = 0.025
    drift_sd: float = 0.04
    memory_s: float = 3600.0
    residual_sd: float = 0.015
    tail_share: float = 0.01
    tail_loss: float = 0.3
    incidents_per_day: float = 0.05
    metrics: int = 40
    informative: int = 6
    strength: float = 1.0
    carry: Carry = Carry.LOG_LINEAR
    residuals: tuple[float, ...] = ()


class Fleet:
    """The nodes of one run; a pure function of weather, seed, and the prefix of their names."""

    def __init__(self, weather: Weather, seed: int, *, prefix: str = "n") -> None:
        self.weather = weather
        self.names = tuple(f"{prefix}{i + 1}" for i in range(weather.nodes))
        rng = np.random.default_rng([seed, 3])
        steps = max(1, round(weather.hours * 3600 / STEP_S))
        self._lasting = rng.normal(0.0, weather.node_sd, weather.nodes)
        self._passing = self._drift(rng, steps) + self._incidents(rng, steps)
        self._slope = rng.uniform(0.7, 1.3, weather.metrics) * rng.choice([-1.0, 1.0], weather.metrics)
        self._level = rng.normal(0.0, 1.0, weather.metrics)
        self._own = rng.normal(0.0, 0.3, (weather.nodes, weather.metrics))

    def _drift(self, rng: np.random.Generator, steps: int) -> NDArray[np.float64]:
        w = self.weather
        keep = float(np.exp(-STEP_S / w.memory_s))
        shocks = rng.normal(0.0, w.drift_sd, (steps, w.nodes))
        drift = np.empty((steps, w.nodes))
        drift[0] = shocks[0]
        for t in range(1, steps):
            drift[t] = keep * drift[t - 1] + np.sqrt(1.0 - keep**2) * shocks[t]
        return drift.T

    def _incidents(self, rng: np.random.Generator, steps: int) -> NDArray[np.float64]:
        effect = np.zeros((self.weather.nodes, steps))
        expected = self.weather.incidents_per_day * steps * STEP_S / 86_400
        for node, times in enumerate(rng.poisson(expected, self.weather.nodes)):
            for _ in range(times):
                start, length = rng.integers(steps), round(rng.uniform(1.0, 6.0) * 3600 / STEP_S)
                effect[node, start : start + length] += np.log1p(-rng.uniform(0.2, 0.6))
        return effect

    def platform(self, node: str, at_s: float) -> float:
        """Return e: what node and time do to a figure, as a log factor."""
        i = self.names.index(node)
        return float(self._lasting[i] + self._passing[i, int(at_s // STEP_S) % self._passing.shape[1]])

    def residual(self, rng: np.random.Generator) -> float:
        """Return r of one sample, as a log factor."""
        w = self.weather
        usual = float(rng.choice(w.residuals)) if w.residuals else float(rng.normal(0.0, w.residual_sd))
        if rng.random() >= w.tail_share:
            return usual
        return usual + float(np.log1p(-min(0.9, rng.exponential(w.tail_loss))))

    def telemetry(self, node: str, effect: float, rng: np.random.Generator) -> dict[str, float]:
        """Return the guest metrics of one sample that the platform's part `effect` was at work in."""
        w = self.weather
        size = float(np.hypot(w.node_sd, w.drift_sd)) or 1.0
        seen = float(effect < -size) if w.carry is Carry.THRESHOLDED else effect / size
        shown = np.where(np.arange(w.metrics) < w.informative, w.strength * seen * self._slope, 0.0)
        noise = rng.normal(0.0, 1.0 if w.carry is Carry.LOG_LINEAR else 2.0, w.metrics)
        values = np.exp(self._level + self._own[self.names.index(node)] + 0.3 * (shown + noise))
        roots = [NAMES[j] if j < min(w.informative, len(NAMES)) else f"guest.{j}" for j in range(w.metrics)]
        return {f"{root}.p50": float(value) for root, value in zip(roots, values, strict=True)}
