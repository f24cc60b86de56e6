"""Campaigns on machines that break all the time: nothing is lost, nothing is there twice, nobody is blamed wrongly.

`ALBACORE_FAULT_SEED` chooses the order of the faults: `make faults ALBACORE_FAULT_SEED=2`, or `=1,2,3` for one after
the other. Machines, and what is done to them, are in `machines.py` and `driver.py`; the store is on PostgreSQL, out of
the wheel.
"""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import law
import pytest
from clone import Clone, Followed, running, wait_until
from faults import driver, machines
from small_campaigns import noop
from sqlalchemy import select
from store import server

from albacore import recorded, replay
from albacore.sample import Blame, Failure, Sample
from albacore.store import schema
from albacore.store.run_log import RunLog
from albacore.trial import Ask, Judgement, Log

SEEDS = [int(seed) for seed in os.environ.get("ALBACORE_FAULT_SEED", "1").split(",")]
# Airflow's default, 300 s, is the time after which a task whose supervisor was killed is found; the lease has to be
# longer than that, a retry's delay and a restart together.
OPTIONS = {"scheduler.task_instance_heartbeat_timeout": "30"}
LEASE_S = 100
RUNGS = [1, 3]
END_S = 1800.0


def campaign(samples: int, lanes: int, tuning: int, *, seconds: float, more: str = "", adjuster: str = "forest") -> str:
    """Return a campaign on the machines; a config gives the same figure on each of them.

    The forest reads telemetry, which is another one in each run: two runs are compared without it.
    """
    nodes = f'cloud = "static", inventory = "../inventories/lab.toml", tuning = {tuning}, validation = 0'
    return noop(
        limits=f"{{ samples = {samples}, hours = 2.0 }}",
        policy=f'{{ rungs = {RUNGS}, adjuster = "{adjuster}" }}',
        nodes=f"{{ {nodes}, lease_s = {LEASE_S}{more} }}",
        lanes=f"{{ count = {lanes} }}",
        params=f"{{ seconds = {seconds}, noise = 0.0 }}",
    )


@contextmanager
def world(folder: Path, count: int, campaigns: dict[str, str]) -> Iterator[driver.World]:
    """Give machines, a store and an Airflow that uses both."""
    with (
        machines.fleet(count) as made,
        server.running() as store,
        running(folder, campaigns, OPTIONS, store_url=store.url) as clone,
    ):
        inventory = clone.root / "include" / "inventories" / "lab.toml"
        inventory.parent.mkdir(exist_ok=True)
        inventory.write_text("".join(machine.inventory() for machine in made))
        yield driver.World(clone=clone, machines=made, server=store, rng=random.Random(SEEDS[0]))


def begin(clone: Clone, *campaigns: str) -> list[Followed]:
    """Start campaigns and return them when their lanes have asked for something."""
    started = [clone.start(name) for name in campaigns]
    for each in started:
        log = RunLog(clone.store(), each.id)
        wait_until(lambda log=log: log.read().facts(Ask), 300, f"{each.campaign} asks")
    return started


def check(followed: Followed, made: list[machines.Machine]) -> Log:
    """Expect by query what the faults must not have harmed."""
    log = law.check(followed)
    answered = {(s.config_id, s.slot) for s in log.facts(Sample)}
    failed = {(f.config_id, f.slot) for f in log.facts(Failure)}
    for ask in log.facts(Ask):
        wanted = {(ask.config_id, slot) for slot in range(RUNGS[ask.rung])}
        assert wanted <= answered | failed, f"{ask}: neither sample nor failure for {wanted - answered - failed}"
    blamed = [f.message for f in log.facts(Failure) if f.blame in (Blame.CONFIG, Blame.LOAD)]
    assert blamed == [], "an infrastructure fault was blamed on a config"
    # A machine that could not be reached when the run ended ends its load by itself, when its lease does.
    wait_until(lambda: not any(m.processes() for m in made), LEASE_S + 30, "no load is left on any machine")
    table, store = schema.lease, followed.clone.store()
    with store.read() as connection:
        rows = connection.execute(select(table.c.resource, table.c.owner).where(table.c.owner.is_not(None))).all()
    assert [row for row in rows if row[1].startswith(followed.id)] == []
    return log


def best(followed: Followed) -> tuple[str, float | None]:
    """Return the incumbent and its score."""
    store = followed.clone.store()
    found = replay.incumbent(recorded.scene(store, store.run(followed.id)))
    assert found is not None
    return found.config_id, found.score


def course(followed: Followed) -> str:
    """Return every ask, failure and judgement of a run in their order, a line each."""
    store = followed.clone.store()
    lines = []
    for event in recorded.scene(store, store.run(followed.id)).log.events:
        match fact := event.fact:
            case Ask():
                lines.append(f"ask {fact.key} {fact.config_id} rung {fact.rung} again {fact.repeat}")
            case Failure():
                lines.append(f"  {fact.blame.value} {fact.config_id} {fact.slot}, {fact.node}: {fact.message[:76]}")
            case Sample():
                lines.append(f"  sample {fact.config_id} slot {fact.slot} on {fact.node}")
            case Judgement():
                lines.append(f"  judged {fact.config_id} rung {fact.rung}: {fact.stability.value} {fact.score}")
    return "\n".join(lines)


def told(log: Log) -> str:
    """Return what a run went through, in one line."""
    blames = [f.blame.value for f in log.facts(Failure)]
    looks = f"{len(log.notes('readmit'))} times a node came back from quarantine"
    counts = ", ".join(f"{blames.count(name)} {name}" for name in sorted(set(blames))) or "no failure"
    judged = len(log.facts(Judgement))
    return f"{len(log.facts(Sample))} samples, {len(log.facts(Ask))} asks, {judged} judgements, {counts}, {looks}"


@pytest.fixture(scope="module")
def around(tmp_path_factory) -> Iterator[driver.World]:
    """Give six machines and an Airflow that has run a campaign with one lane undisturbed."""
    one = campaign(24, 1, 6, seconds=1.0, adjuster="identity")
    campaigns = {"calm": one, "one": one, "many": campaign(66, 12, 6, seconds=2.0, more=", sentinel_every = 8")}
    with world(tmp_path_factory.mktemp("machines"), 6, campaigns) as made:
        yield made


@pytest.fixture(scope="module")
def calm(around) -> Followed:
    """The run that nothing was done to."""
    return around.clone.start("calm").wait(600)


@pytest.mark.faults
@pytest.mark.parametrize("seed", SEEDS)
def test_a_fleet_that_breaks_all_the_time_costs_time_and_nothing_else(around, calm, seed, capfd):
    """With one lane the incumbent is the undisturbed run's; with twelve lanes every decision replays to the bit."""
    around.rng = random.Random(seed)
    single, many = begin(around.clone, "one", "many")
    faults = driver.Driver(around)
    faults.start()
    try:
        single.wait(END_S)
        many.wait(END_S)
    finally:
        faults.stop()
        with capfd.disabled():
            print(f"\nseed {seed}\n{faults.table()}\n")

    for each in (single, many):
        log = check(each, around.machines)
        with capfd.disabled():
            print(f"{each.campaign}: {told(log)}")
    assert best(single) == best(calm), f"undisturbed:\n{course(calm)}\n\ndisturbed:\n{course(single)}"
    assert len(log.facts(Sample)) >= 60
    missing = [f.name for f in driver.FAULTS if not faults.done[f.name] and can(f, around)]
    assert missing == [], "faults that were never done"


@pytest.mark.e2e
def test_a_small_fleet_survives_what_happens_to_machines_and_tasks(tmp_path_factory):
    """The quick half: what strikes a node, the store or a task; Airflow's own processes are left alone."""
    quick = tuple(fault for fault in driver.FAULTS if fault.is_quick)
    with world(tmp_path_factory.mktemp("small"), 4, {"few": campaign(24, 4, 4, seconds=1.5)}) as around:
        (few,) = begin(around.clone, "few")
        faults = driver.Driver(around, quick)
        faults.start()
        try:
            few.wait(END_S)
        finally:
            faults.stop()

        assert len(check(few, around.machines).facts(Sample)) >= 20
        assert sum(faults.done.values()) >= 3


def can(fault: driver.Fault, around: driver.World) -> bool:
    """Whether this machine can do a fault: a small disk needs root, a wrong clock needs libfaketime."""
    needs = {
        "full disk": bool(around.machines[0].link),
        "clock": around.machines[0].clock is not None,
    }
    return needs.get(fault.name, True)
