"""Laws of a simulated run: it is a campaign run in all but time."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from albacore import judging, optimizers, replay, stopping
from albacore.policies import presets
from albacore.sample import Failure, Purpose, Sample
from albacore.simulation import contestants, worlds
from albacore.simulation.playing import Plan, play
from albacore.simulation.world import World
from albacore.trial import Ask, Judgement

PLAN = Plan(samples=100, lanes=12)


def played(seed=0, *, adjuster="identity", plan=PLAN, optimizer="random"):
    world = World(worlds.plain(), seed)
    policy = presets.by_name("tuna", nodes=10, rungs=(1, 3, 10), adjuster=adjuster)
    return play(world, policy, optimizers.by_name(optimizer), plan, seed=seed)


@pytest.fixture(scope="module")
def run():
    """A run of 100 samples with the forest as adjuster."""
    return played(1, adjuster="forest")


def test_every_decision_replays_from_the_log(run):
    """What was asked and judged is what `replay` and `judging` say of the log as it was then."""
    for event in run.scene.log.events:
        then = replace(run.scene, log=run.scene.log.until(event.n - 1))
        if isinstance(event.fact, Ask):
            found = replay.decide(then, optimizers.by_name("random"), lane=event.fact.lane)
            assert (found.config.id, found.rung) == (event.fact.config_id, event.fact.rung)
        elif isinstance(event.fact, Judgement):
            fact = event.fact
            assert judging.judge(then, fact.config_id, fact.rung, is_capped=fact.is_capped) == fact


def test_a_config_is_never_measured_twice_on_a_node(run):
    """TUNA §5.1; the default neither."""
    pairs = [(s.config_id, s.node) for kind in (Sample, Failure) for s in run.scene.log.facts(kind)]

    assert max(Counter(pairs).values()) == 1


def test_a_node_takes_one_sample_at_a_time(run):
    """A node's samples never overlap."""
    answers = [s for kind in (Sample, Failure) for s in run.scene.log.facts(kind)]
    for node in {s.node for s in answers}:
        own = sorted((s.started_at, s.started_at + s.duration_s) for s in answers if s.node == node)
        assert all(end <= start for (_, end), (start, _) in pairwise(own))


def test_nodes_are_busy_while_there_is_work(run):
    """With more lanes than nodes, at least 90 % of the time up to the last ask."""
    answers = [s for kind in (Sample, Failure) for s in run.scene.log.facts(kind)]
    end = max(e.at for e in run.scene.log.events if isinstance(e.fact, Ask))
    busy = sum(max(0.0, min(end, s.started_at + s.duration_s) - s.started_at) for s in answers)

    assert busy / (10 * end) > 0.9


def test_a_run_ends_at_its_limit(run):
    """Every lane may have one iteration on the way when the limit is reached, of ten samples at most."""
    spent = stopping.spent(run.scene.log)

    assert PLAN.samples <= spent < PLAN.samples + PLAN.lanes * 10


def test_the_default_comes_first_and_everywhere(run):
    """Ten samples for that purpose, judged before the first ask."""
    kinds = [type(event.fact) for event in run.scene.log.events]
    default = [s for s in run.scene.log.facts(Sample) if s.purpose is Purpose.DEFAULT]

    assert {s.node for s in default} == {f"n{i}" for i in range(1, 11)}
    assert kinds.index(Judgement) < kinds.index(Ask)


def test_the_same_seed_gives_the_same_run():
    """Event by event."""
    plan = replace(PLAN, samples=60)

    assert played(4, plan=plan).scene.log == played(4, plan=plan).scene.log


def test_a_limit_of_hours_holds():
    """No ask later than that."""
    run = played(2, plan=Plan(samples=10_000, hours=1.0))

    assert max(e.at for e in run.scene.log.events if isinstance(e.fact, Ask)) < 3600.0


def test_a_contestant_brings_its_own_optimizer_or_takes_the_usual_one():
    """`forest` reads one rung, `stable-forest` all of them."""
    assert contestants.by_name("rerun").suggests("gp", 100).name == "random"
    assert contestants.by_name("tuna").suggests("forest", 100).name == "forest"
    assert contestants.by_name("stable-forest").suggests("forest", 100).name == "stable_forest"


@pytest.mark.parametrize("name", contestants.CONTESTANTS)
def test_every_contestant_plays_to_its_end(name):
    """And measures what its name says."""
    contestant = contestants.by_name(name)
    plan = contestant.plan(Plan(samples=130), 10)
    run = play(World(worlds.plain(), 0), contestant.policy(plan, 10), optimizers.by_name("random"), plan, seed=0)
    nodes = Counter(len(run.scene.log.trial(c).nodes) for c in run.scene.configs if c != run.scene.default_id)

    assert stopping.spent(run.scene.log) >= plan.samples
    if name.startswith("traditional"):
        assert set(nodes) == {1}
    elif name == "naive":
        assert nodes[10] > 10
    elif name == "rerun":
        assert 10 <= nodes[10] <= 11
