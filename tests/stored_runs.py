"""A campaign run in a store of its own, for tests of what is done to one without Airflow."""

from dataclasses import dataclass, replace
from pathlib import Path

from scenes import SPACE, ask, sample

from albacore import judging, recorded
from albacore.campaign import parse
from albacore.sample import Purpose
from albacore.store import CampaignRun, NodeRecord, Store
from albacore.store.run_log import RunLog

WORKLOAD = {
    "system": "noop",
    "name": "sleep",
    "digest": "d",
    "title": "",
    "metric": "tps",
    "unit": "tps",
    "direction": "max",
    "expected_s": 1.0,
    "timeouts_s": {},
    "params": {},
}


@dataclass(slots=True)
class Clock:
    """A clock that a test moves."""

    now: float

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A run `run` that is open, with five tuning nodes."""

    store: Store
    log: RunLog
    clock: Clock
    opened_at: float


def opened(folder: Path, *, at: float = 1_000_000.0, **tables) -> Made:
    """Open a run in a new store; keywords replace tables of its campaign."""
    clock = Clock(at)
    store = Store(f"sqlite:///{folder / 'a store.db'}", clock=clock)
    store.migrate()
    table = {
        "name": "mine",
        "system": "noop",
        "workload": "sleep",
        "limits": {"samples": 500, "hours": 1.0},
        "policy": {"rungs": [1, 3], "adjuster": "identity"},
        "nodes": {"tuning": 5, "validation": 1},
        "optimizer": {"name": "random"},
        **tables,
    }
    effective = parse(table, where="a test").model_dump(mode="json")
    store.open_run(
        CampaignRun(
            id="run",
            campaign="mine",
            logical_date=None,
            opened_at=clock.now,
            effective=effective,
            benchmark={"workload": WORKLOAD},
            space=SPACE.to_json(),
            benchmark_digest="d",
            policy_digest="p",
            library="0",
        )
    )
    nodes = [NodeRecord(name=f"n{i}", host="h", role="tuning", address={}, facts={}) for i in range(1, 6)]
    store.put_nodes("run", nodes)
    log = RunLog(store, "run")
    default = SPACE.default()
    log.put_config(default.id, dict(default))
    return Made(store=store, log=log, clock=clock, opened_at=clock.now)


def judged_run(folder: Path, *, at: float = 1_000_000.0) -> Made:
    """Open a run: the default on five nodes, three configs judged on one node each, one of them on three."""
    made = opened(folder, at=at)
    for slot, node in enumerate(("n1", "n2", "n3", "n4", "n5")):
        put(made, default_of(made), node, 100.0 + slot, slot=slot, purpose=Purpose.DEFAULT)
    judged(made, default_of(made), 1)
    for index, node in enumerate(("n1", "n2", "n3")):
        config_id = asked(made, index)
        put(made, config_id, node, 150.0 + index)
        judged(made, config_id, 0)
    best = asked(made, 3, config=2, rung=1)
    put(made, best, "n4", 151.0, slot=1)
    put(made, best, "n5", 152.0, slot=2)
    judged(made, best, 1)
    return made


def default_of(made):
    return recorded.space(made.store.run("run")).default().id


def asked(made, index, *, config=None, rung=0):
    space = recorded.space(made.store.run("run"))
    chosen = space.config({"k0": 0.1 * (index if config is None else config), "k1": 0.1, "k2": 0.1})
    made.log.append_ask(ask(index, chosen.id, rung=rung, read_n=made.log.read().last_n), dict(chosen))
    return chosen.id


def put(made, config_id, node, value, *, slot=0, purpose=Purpose.TUNE):
    made.clock.now += 10
    found = sample(config_id, node, value, slot=slot, purpose=purpose)
    made.log.append_sample(replace(found, started_at=made.clock.now))


def judged(made, config_id, rung):
    scene = recorded.scene(made.store, made.store.run("run"))
    return made.log.append_judgement(judging.judge(scene, config_id, rung))


def counting(made):
    return recorded.scene(made.store, made.store.run("run")).log
