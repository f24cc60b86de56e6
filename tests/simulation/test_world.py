"""Laws of what one simulated sample comes out as."""

import math
from dataclasses import replace

import numpy as np
import pytest

from albacore.errors import UserError
from albacore.sample import Failure, Purpose, Sample
from albacore.simulation import worlds
from albacore.simulation.fleet import Fleet, Weather
from albacore.simulation.surface import Terrain
from albacore.simulation.world import METRIC, Setting, Slot, World
from albacore.trial import Direction

CALM = Setting(terrain=worlds.STEADY, weather=worlds.CALM)


def slot(world, config=None, index=0):
    return Slot(config=config or world.surface.space.default(), purpose=Purpose.TUNE, index=index)


def configs(world, n):
    rng = np.random.default_rng(7)
    return [world.surface.space.decode(rng.random(len(world.surface.space))) for _ in range(n)]


def is_unstable(world, config):
    return bool(world.surface.is_unstable(world.surface.point(config)[None, :])[0])


def test_a_sample_does_not_depend_on_the_order():
    """The same slot, node and moment give the same sample, in another process' world too."""
    one, other = World(worlds.plain(), 3), World(worlds.plain(), 3)
    config = configs(one, 1)[0]
    first = one.measure(slot(one, config), "n4", 1000.0)
    other.measure(slot(other), "n1", 0.0)

    assert other.measure(slot(other, config), "n4", 1000.0) == first


def test_without_noise_the_figure_is_the_truth():
    """On every node, at every time."""
    world = World(CALM, 0)
    for config in configs(world, 5):
        found = [world.measure(slot(world, config), node, at) for node in ("n1", "n9") for at in (0.0, 1e5)]
        truth = world.surface.truth(world.surface.point(config)[None, :])[0]
        assert [s.value(METRIC) for s in found] == pytest.approx([truth] * 4)


def test_an_unstable_config_is_slow_on_its_share_of_the_nodes():
    """30 % of (config, node); with 1,000 of them the deviation of the share is sqrt(.3 * .7 / 1000) = .0145."""
    terrain = Terrain(crash_share=0.0)
    world = World(Setting(terrain=terrain, weather=replace(worlds.CALM, nodes=10)), 1)
    flipping = [c for c in configs(world, 400) if is_unstable(world, c)][:100]
    hits = [world.is_hit(config, node) for config in flipping for node in world.fleet.names]

    assert np.mean(hits) == pytest.approx(0.3, abs=4 * 0.0145)
    level = world.surface.level(world.surface.point(flipping[0])[None, :])[0]
    shown = world.measure(slot(world, flipping[0]), "n1", 0.0).value(METRIC)
    assert shown == pytest.approx(level * (0.5 if hits[0] else 1.0))


def test_a_config_that_crashes_is_a_failure_of_its_own():
    """On every node: crashes belong to the config."""
    world = World(Setting(terrain=Terrain(crash_share=0.3)), 0)
    crashing = next(c for c in configs(world, 100) if world.surface.is_crashing(world.surface.point(c)[None, :])[0])
    found = [world.measure(slot(world, crashing), node, 0.0) for node in world.fleet.names]

    assert all(isinstance(f, Failure) and f.blame.is_told for f in found)


def test_noise_has_the_size_that_was_asked_for():
    """5 %: of 2,000 samples the deviation of a deviation is 5 % / sqrt(4000) = 0.08 points."""
    world = World(worlds.noisy(0.05), 0)
    found = [world.measure(slot(world, c), "n1", 0.0) for c in configs(world, 2000)]
    truth = world.surface.truth(np.stack([world.surface.point(c) for c in configs(world, 2000)]))
    logs = [math.log(s.value(METRIC) / t) for s, t in zip(found, truth, strict=True) if isinstance(s, Sample)]

    assert np.std(logs) == pytest.approx(0.05, abs=4 * 0.0008)


def correlation(strength):
    """Of an informative metric with what the platform did, over 500 samples of one node."""
    fleet = Fleet(Weather(strength=strength), 5)
    times = [float(t) for t in range(0, 500 * 3600, 3600)]
    effects = [fleet.platform("n2", t) for t in times]
    rng = np.random.default_rng(1)
    shown = [math.log(fleet.telemetry("n2", e, rng)["cpu_times.steal.p50"]) for e in effects]
    return abs(float(np.corrcoef(effects, shown)[0, 1]))


def test_guest_metrics_carry_what_they_are_asked_to():
    """At strength 0 nothing: |r| of 500 independent pairs is below 4 / sqrt(500) = .18; at 1 clearly."""
    assert correlation(0.0) < 0.18
    assert correlation(1.0) > 0.4


def test_residuals_can_be_drawn_from_recorded_samples(recorded):
    """Every residual is one of the recorded ones, with the sign that makes higher better."""
    setting = worlds.with_residuals(CALM, [recorded])
    drawn = set(setting.weather.residuals)
    fleet = Fleet(setting.weather, 0)
    rng = np.random.default_rng(0)

    assert {fleet.residual(rng) for _ in range(50)} <= drawn
    # The recorded run is of latencies: its heavy side is up, here it is down.
    assert recorded.direction is Direction.MIN
    assert abs(min(drawn)) > 1.5 * max(drawn)


def test_too_few_recorded_samples_are_told():
    """The message says how many there are."""
    with pytest.raises(UserError, match="at least 100"):
        worlds.with_residuals(CALM, [])


def test_an_unknown_world_is_told_with_the_known_ones():
    """What was expected, what was given."""
    with pytest.raises(UserError, match=r"plain.*'nowhere'"):
        worlds.by_name("nowhere")
