"""Surface: what is true of every config, whatever node it runs on.

| symbol | shape | meaning |
|---|---|---|
| d, a | | knobs; those that matter |
| u | (n, d) | configs as points of the unit cube, `Space.encode` |
| g | (n,) | quality: peaks of the active knobs, and how they act on each other |
| level | (n,) | figure on a usual node, higher is better |
| h, c | (n,) | smooth random fields; a config is unstable, or crashes, where they exceed a quantile |

Unstable configs lie together in the space, as those of one query plan do, and are a little faster where nothing goes
wrong: that is what makes them dangerous (TUNA §3.2.1). By how much, and how many there are, is a setting of `Terrain`,
chosen by hand and fixed before anything was compared.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from albacore.space import Config, Kind, Knob, Space

Points = NDArray[np.float64]
PROBE = 20_000
"""Random points that quantiles and the search for the optimum start from."""
WAVES = 24
"""Cosines that a random field is a sum of."""
CLIMBERS, STEPS = 24, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Terrain:
    """What a surface is drawn from.

    Attributes:
        knobs, active: How many knobs there are, and how many of them matter.
        headroom: Figure of the best config as a multiple of the default's.
        unstable_share: Share of the space that is unstable; `gain` is what such a config seems to be faster by.
        hit: Share of the nodes that an unstable config is slow on, by `loss` of its figure.
        crash_share: Share of the space in which the system does not run.
        scale: Length over which the fields change, in units of the cube.
    """

    knobs: int = 16
    active: int = 7
    headroom: float = 2.5
    unstable_share: float = 0.35
    gain: float = 0.10
    hit: float = 0.3
    loss: float = 0.5
    crash_share: float = 0.03
    scale: float = 0.7


def space_of(terrain: Terrain) -> Space:
    """Return the knobs: mostly ranges, every fifth a log scale, every seventh a switch."""
    return Space(knobs=tuple(_knob(i) for i in range(terrain.knobs)))


def _knob(i: int) -> Knob:
    if i % 7 == 6:
        return Knob(name=f"switch_{i}", kind=Kind.BOOL, default=False)
    if i % 5 == 4:
        return Knob(name=f"size_{i}", kind=Kind.INT, low=16, high=65_536, default=1_024, log=True)
    return Knob(name=f"share_{i}", kind=Kind.REAL, low=0.0, high=1.0, default=0.5)


@dataclass(frozen=True, slots=True)
class Waves:
    """A smooth random field over some of the knobs."""

    knobs: NDArray[np.int_]
    frequency: Points
    phase: NDArray[np.float64]

    @classmethod
    def drawn(cls, rng: np.random.Generator, knobs: NDArray[np.int_], scale: float) -> "Waves":
        """Draw a field that changes over about `scale`."""
        frequency = rng.normal(0.0, 1.0 / scale, (WAVES, len(knobs)))
        return cls(knobs, frequency, rng.uniform(0.0, 2.0 * np.pi, WAVES))

    def at(self, u: Points) -> NDArray[np.float64]:
        """Return the field at points (n, d)."""
        return np.cos(u[:, self.knobs] @ self.frequency.T + self.phase).mean(axis=1)


class Surface:
    """The truth about every config of one space; a pure function of terrain and seed."""

    def __init__(self, terrain: Terrain, seed: int) -> None:
        self.terrain, self.seed = terrain, seed
        self.space = space_of(terrain)
        rng = np.random.default_rng([seed, 1])
        self._active = rng.permutation(terrain.knobs)[: terrain.active]
        self._peak = rng.uniform(0.05, 0.95, terrain.active)
        self._weight = rng.uniform(0.5, 1.5, terrain.active)
        self._bumps = Waves.drawn(rng, self._active, terrain.scale)
        few = self._active[: min(3, terrain.active)]
        self._unstable, self._crash = (Waves.drawn(rng, few, terrain.scale) for _ in range(2))
        self._probe = rng.random((PROBE, terrain.knobs))
        self._default = self.point(self.space.default())[None, :]

    def point(self, config: Config) -> NDArray[np.float64]:
        """Return a config as a point (d,) of the unit cube."""
        return np.asarray(self.space.encode(config), dtype=np.float64)

    def _quality(self, u: Points) -> NDArray[np.float64]:
        away = ((u[:, self._active] - self._peak) ** 2) @ self._weight
        return 0.5 * self._bumps.at(u) - away / self._weight.sum()

    @cached_property
    def _stretch(self) -> float:
        """The factor that makes the best quality `headroom` times the default's figure."""
        best = float(self._quality(self._probe).max() - self._quality(self._default)[0])
        return float(np.log(self.terrain.headroom)) / max(best, 1e-9)

    def level(self, u: Points) -> NDArray[np.float64]:
        """Return what configs (n, d) show on a usual node where nothing goes wrong; the default shows 1000."""
        steady = 1000.0 * np.exp(self._stretch * (self._quality(u) - self._quality(self._default)))
        return steady * np.where(self.is_unstable(u), 1.0 + self.terrain.gain, 1.0)

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """Above which the two fields make a config unstable, or crash it; the default does neither."""
        shares = (self.terrain.unstable_share, self.terrain.crash_share)
        fields = (self._unstable, self._crash)
        found = [float(np.quantile(f.at(self._probe), 1.0 - share)) for f, share in zip(fields, shares, strict=True)]
        own = [float(f.at(self._default)[0]) for f in fields]
        return max(found[0], own[0]), max(found[1], own[1])

    def is_unstable(self, u: Points) -> NDArray[np.bool_]:
        """Return which configs (n, d) are slow on some nodes and not on others."""
        return self._unstable.at(u) > self._bounds[0] if self.terrain.unstable_share > 0 else np.zeros(len(u), bool)

    def is_crashing(self, u: Points) -> NDArray[np.bool_]:
        """Return which configs (n, d) the system does not run with."""
        return self._crash.at(u) > self._bounds[1] if self.terrain.crash_share > 0 else np.zeros(len(u), bool)

    def truth(self, u: Points) -> NDArray[np.float64]:
        """Return the mean figure over all nodes that there could be; 0 for a config that crashes."""
        losses = np.where(self.is_unstable(u), 1.0 - self.terrain.hit * self.terrain.loss, 1.0)
        return np.where(self.is_crashing(u), 0.0, self.level(u) * losses)

    @cached_property
    def optimum(self) -> float:
        """The best true figure of a stable config that a long search finds."""
        rng = np.random.default_rng([self.seed, 2])
        points = self._probe[np.argsort(-self._steady(self._probe))[:CLIMBERS]]
        values = self._steady(points)
        for step in range(STEPS):
            width = 0.2 * 0.9**step
            near = np.clip(points[:, None, :] + rng.normal(0.0, width, (CLIMBERS, 64, points.shape[1])), 0.0, 1.0)
            found = self._steady(near.reshape(-1, points.shape[1])).reshape(CLIMBERS, 64)
            best = found.argmax(axis=1)
            better = found.max(axis=1) > values
            points = np.where(better[:, None], near[np.arange(CLIMBERS), best], points)
            values = np.maximum(values, found.max(axis=1))
        return float(values.max())

    def _steady(self, u: Points) -> NDArray[np.float64]:
        """Return the truth of stable configs, and 0 for all others; switches are rounded as the space rounds them."""
        snapped = u.copy()
        switches = [i for i, knob in enumerate(self.space.knobs) if knob.kind is Kind.BOOL]
        snapped[:, switches] = np.where(u[:, switches] < 0.5, 0.25, 0.75)
        return np.where(self.is_unstable(snapped), 0.0, self.truth(snapped))
