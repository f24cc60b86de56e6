"""A campaign run in a store of its own, for tests of what is done to one without Airflow."""

from dataclasses import dataclass
from pathlib import Path

from scenes import SPACE

from albacore.campaign import parse
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

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A run `run` that is open, with five tuning nodes."""

    store: Store
    log: RunLog
    clock: Clock
    opened_at: float


def opened(folder: Path, **tables) -> Made:
    """Open a run in a new store; keywords replace tables of its campaign."""
    clock = Clock()
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
