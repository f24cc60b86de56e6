"""The worlds with a name, fixed before anything was compared in them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from albacore.errors import UserError
from albacore.history import HistoricalRun
from albacore.simulation.fleet import Carry, Weather
from albacore.simulation.surface import Terrain
from albacore.simulation.world import Setting
from albacore.trial import Direction

CALM = Weather(node_sd=0.0, drift_sd=0.0, residual_sd=0.0, tail_share=0.0, incidents_per_day=0.0, strength=0.0)
STEADY = Terrain(unstable_share=0.0, crash_share=0.0)


def plain() -> Setting:
    """Return the usual world: a third of the space unstable, node effects, weather, tails, informative metrics."""
    return Setting()


def faint() -> Setting:
    """Return the same with guest metrics of a third of the strength."""
    return Setting(weather=Weather(strength=0.3))


def murky() -> Setting:
    """Return the same with metrics that only show when something is badly wrong, and twice the residual."""
    return Setting(weather=Weather(carry=Carry.THRESHOLDED, residual_sd=0.03, tail_share=0.03))


def quiet() -> Setting:
    """Return a world without noise, crashes and unstable configs."""
    return Setting(terrain=STEADY, weather=CALM)


def noisy(deviation: float) -> Setting:
    """Return a world in which every sample is off by a normal deviate of this size and nothing else (TUNA Fig. 2)."""
    return Setting(terrain=STEADY, weather=replace(CALM, residual_sd=deviation))


WORLDS: dict[str, Callable[[], Setting]] = {
    "plain": plain,
    "faint": faint,
    "murky": murky,
    "quiet": quiet,
    "noise-5": lambda: noisy(0.05),
    "noise-10": lambda: noisy(0.10),
}


def by_name(name: str) -> Setting:
    """Return a world.

    Raises:
        UserError: When there is none of this name.
    """
    if name not in WORLDS:
        raise UserError(f"world: expected one of {', '.join(WORLDS)}, got {name!r:.60}.")
    return WORLDS[name]()


def with_residuals(setting: Setting, runs: list[HistoricalRun]) -> Setting:
    """Return a setting whose residuals are drawn from recorded samples instead of a normal deviate.

    A residual is the log of a figure less the mean of its config and less what its node adds on average, of configs
    with samples on at least three nodes whose figures are within a factor of two: what is left is neither config nor
    node.

    Raises:
        UserError: When fewer than 100 are left.
    """
    found = np.concatenate([_residuals(run) for run in runs]) if runs else np.empty(0)
    if len(found) < 100:
        raise UserError(f"residuals: expected at least 100 samples that repeat a config, got {len(found)}.")
    drawn = tuple(float(r) for r in found - np.median(found))
    return replace(setting, weather=replace(setting.weather, residuals=drawn, tail_share=0.0))


def _residuals(run: HistoricalRun) -> np.ndarray:
    s = run.samples
    good = ~s.is_failed & np.isfinite(s.value) & (s.value > 0)
    logs, config, node = np.log(s.value[good]), s.config_id[good], s.node[good]
    kept, owners = [], []
    for one in np.unique(config):
        own = config == one
        if own.sum() >= 3 and np.ptp(logs[own]) < np.log(2.0):
            kept.append(logs[own] - logs[own].mean())
            owners.append(node[own])
    if not kept:
        return np.empty(0)
    left, nodes = np.concatenate(kept), np.concatenate(owners)
    for one in np.unique(nodes):
        left[nodes == one] -= left[nodes == one].mean()
    return left if run.direction is Direction.MAX else -left  # simulated figures are better when higher
