"""Contest: many runs of several contestants in the same worlds, and what each of them ships.

Run `i` of every contestant meets the same world, so differences are paired.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from albacore import stopping
from albacore.simulation.contestants import FOREST, by_name
from albacore.simulation.playing import Plan, Played, play
from albacore.simulation.world import Setting, World
from albacore.space import Config
from albacore.verdict import veto

GOOD = 0.90
"""Share of the optimum that a shipped config has to reach, stable, to count as good."""
REACHED = 0.85
"""Share of the optimum at which a run counts as converged."""
RESAMPLES = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """What one run came to.

    Attributes:
        share: True mean of the shipped config over all nodes there could be, in parts of the optimum; the default's
            when the run found nothing.
        is_unstable: Whether it is slow on some nodes.
        cov: Coefficient of variation of its figure from node to node, by its flips alone.
        samples_to, hours_to: When what would be shipped first was within `REACHED` of the optimum; None: never.
        samples, hours, configs: What the run used up.
        deployed: What it shows on each of ten nodes that the run has not seen, in parts of the optimum.
        trace: Samples, hours, and true share of what would have been shipped then; whenever that changed.
    """

    contestant: str
    run: int
    share: float
    is_unstable: bool
    cov: float
    samples_to: int | None
    hours_to: float | None
    samples: int
    hours: float
    configs: int
    deployed: tuple[float, ...] = ()
    trace: tuple[tuple[int, float, float], ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether a stable config within 10 % of the optimum was shipped."""
        return not self.is_unstable and self.share >= GOOD


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What is compared: contestants in runs `first` up to `first + runs` of one setting."""

    setting: Setting
    contestants: Sequence[str]
    optimizer: str = FOREST
    runs: int = 20
    first: int = 0
    plan: Plan = field(default_factory=Plan)

    def __post_init__(self) -> None:
        for name in self.contestants:
            by_name(name)

    def play(self, *, processes: int | None = None) -> Iterator[Shipped]:
        """Yield what each run came to, as they end."""
        tasks = [(self, name, run) for run in range(self.first, self.first + self.runs) for name in self.contestants]
        workers = processes or len(os.sched_getaffinity(0))
        if workers == 1:
            yield from (shipped_by(*task) for task in tasks)
            return
        with ProcessPoolExecutor(workers) as pool:
            for done in as_completed([pool.submit(shipped_by, *task) for task in tasks]):
                yield done.result()


def shipped_by(contest: Contest, name: str, run: int) -> Shipped:
    """Play one run of one contestant and judge it by the truth."""
    world = World(contest.setting, run)
    return judged(world, played_by(contest, world, name, seed=run), name, run)


def played_by(contest: Contest, world: World, name: str, *, seed: int) -> Played:
    """Play one run of one contestant in a world."""
    contestant, nodes = by_name(name), len(world.fleet.names)
    plan = contestant.plan(contest.plan, nodes)
    policy = contestant.policy(plan, nodes)
    return play(world, policy, contestant.suggests(contest.optimizer, plan.samples), plan, seed=seed)


def judged(world: World, played: Played, name: str, run: int) -> Shipped:
    """Judge a run by the truth; the contestant says whether its choice may be vetoed."""
    scene, terrain = played.scene, world.setting.terrain
    shares = [_share(world, scene.configs[m.incumbent or scene.default_id]) for m in played.marks]
    trace = tuple((m.samples, m.hours, share) for m, share in zip(played.marks, shares, strict=True))
    reached = next((at for at in trace if at[2] >= REACHED), None)
    last = played.marks[-1].incumbent if played.marks else None
    config = scene.configs[(veto.chosen(scene) if by_name(name).has_veto else last) or scene.default_id]
    is_unstable = bool(world.surface.is_unstable(world.surface.point(config)[None, :])[0])
    mean = 1.0 - terrain.hit * terrain.loss
    flips = terrain.loss * np.sqrt(terrain.hit * (1.0 - terrain.hit)) / mean
    return Shipped(
        contestant=name,
        run=run,
        share=_share(world, config),
        is_unstable=is_unstable,
        cov=float(flips) if is_unstable else 0.0,
        samples_to=reached[0] if reached else None,
        hours_to=reached[1] if reached else None,
        samples=stopping.spent(scene.log),
        hours=scene.log.events[-1].at / 3600,
        configs=len(scene.configs) - 1,
        deployed=tuple(float(v / world.surface.optimum) for v in world.deployed(config)),
        trace=trace,
    )


def _share(world: World, config: Config) -> float:
    return float(world.surface.truth(world.surface.point(config)[None, :])[0] / world.surface.optimum)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over runs, and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def mean(values: Sequence[float] | NDArray[np.float64]) -> Estimate:
    """Return the mean of one figure per run; the same resamples for every contestant."""
    array = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(0).integers(len(array), size=(RESAMPLES, len(array)))
    low, high = np.quantile(array[picks].mean(axis=1), [0.025, 0.975])
    return Estimate(float(array.mean()), float(low), float(high))


def of(shipped: Sequence[Shipped], name: str) -> list[Shipped]:
    """Return the runs of one contestant in their order."""
    return sorted((s for s in shipped if s.contestant == name), key=lambda s: s.run)
