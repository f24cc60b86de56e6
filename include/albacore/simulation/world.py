"""World: what one sample comes out as, of a config on a node at a moment."""

import hashlib
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from albacore.sample import Blame, Failure, Metric, Purpose, Sample
from albacore.simulation.fleet import Fleet, Weather
from albacore.simulation.surface import Surface, Terrain
from albacore.space import Config

METRIC = "throughput"
"""The figure of every simulated workload; higher is better."""
NEW_NODES = 10
"""Nodes that a shipped config is deployed on, as in the paper (TUNA §6)."""
NEW_FLEET = 1_000_003
"""What the seed of the fleet grows by there."""
CRASH_S = 30.0
"""Time until a config that does not run has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything a world is drawn from.

    Attributes:
        sample_s, jitter: A usual sample's time, and its relative deviation.
    """

    terrain: Terrain = field(default_factory=Terrain)
    weather: Weather = field(default_factory=Weather)
    sample_s: float = 300.0
    jitter: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Which sample is taken: of which config, for what, and which one of how many."""

    config: Config
    purpose: Purpose
    index: int
    repeat: int = 0


class World:
    """A surface and a fleet; samples of the same slot, node and time are the same sample.

    Args:
        setting: What both are drawn from.
        seed: Of the surface, and of what a config does to a node.
        fleet: Other nodes than those that this seed gives.
    """

    def __init__(self, setting: Setting, seed: int, *, fleet: Fleet | None = None) -> None:
        self.setting, self.seed = setting, seed
        self.surface = Surface(setting.terrain, seed)
        self.fleet = fleet or Fleet(setting.weather, seed)

    def deployed(self, config: Config, nodes: int = NEW_NODES) -> list[float]:
        """Return what a config shows on so many nodes that no run has seen, one sample each; 0 where it crashes."""
        fleet = Fleet(replace(self.setting.weather, nodes=nodes), self.seed + NEW_FLEET, prefix="new")
        there = copy(self)
        there.fleet = fleet
        slot = Slot(config=config, purpose=Purpose.VALIDATE, index=0)
        answers = [there.measure(slot, node, 0.0) for node in fleet.names]
        return [a.value(METRIC) if isinstance(a, Sample) else 0.0 for a in answers]

    def is_hit(self, config: Config, node: str) -> bool:
        """Whether an unstable config is slow on a node: decided once for the two, as a plan is."""
        draw = int.from_bytes(hashlib.sha256(f"{self.seed}/{config.id}/{node}".encode()).digest()[:8]) / 2**64
        return draw < self.setting.terrain.hit

    def measure(self, slot: Slot, node: str, at_s: float) -> Sample | Failure:
        """Return what a node answers to a slot at `at_s` seconds after the start."""
        rng = np.random.default_rng([self.seed, *_words(f"{slot.config.id}/{slot.purpose}/{slot.repeat}/{node}")])
        point = self.surface.point(slot.config)[None, :]
        identity = {"config_id": slot.config.id, "node": node, "host": node, "purpose": slot.purpose}
        identity |= {"slot": slot.index, "repeat": slot.repeat, "started_at": at_s}
        if self.surface.is_crashing(point)[0]:
            return Failure(**identity, blame=Blame.CONFIG, message="the system ended", duration_s=CRASH_S)
        took_s = self.setting.sample_s * float(np.exp(rng.normal(0.0, self.setting.jitter)))
        effect = self.fleet.platform(node, at_s + took_s / 2)
        hit = self.surface.is_unstable(point)[0] and self.is_hit(slot.config, node)
        factor = np.exp(effect + self.fleet.residual(rng)) * (1.0 - self.setting.terrain.loss if hit else 1.0)
        return Sample(
            **identity,
            metrics={METRIC: Metric(value=float(self.surface.level(point)[0] * factor), unit="1/s")},
            telemetry=self.fleet.telemetry(node, effect, rng),
            duration_s=took_s,
            benchmark_digest="simulated",
        )


def _words(text: str) -> list[int]:
    digest = hashlib.sha256(text.encode()).digest()
    return [int.from_bytes(digest[i : i + 4]) for i in range(0, 16, 4)]
