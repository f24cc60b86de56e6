"""Configs that contend for validation, what was said of them, and a run whose tuning has ended."""

from dataclasses import replace

from scenes import SPACE, sample
from stored_runs import WORKLOAD

from albacore import judging
from albacore.campaign import parse
from albacore.sample import Purpose
from albacore.store import CampaignRun, NodeRecord, Store
from albacore.store.run_log import RunLog
from albacore.trial import Judgement, Stability
from albacore_airflow import settings

CONFIGS = [SPACE.config({"k0": i / 20, "k1": 0.5, "k2": 0.5}) for i in range(1, 9)]
A, B = CONFIGS[0], CONFIGS[1]
FIGURES = {SPACE.default().id: 100.0, A.id: 150.0, B.id: 120.0}


def judged(config, values, *, rung=0, stability=Stability.STABLE, nodes=None):
    raw = dict(zip(nodes or [f"n{i}" for i in range(len(values))], values, strict=True))
    return Judgement(
        config_id=config.id,
        rung=rung,
        stability=stability,
        relative_range=0.0,
        raw=raw,
        adjusted=raw,
        score=min(values),
        reasons=(),
        read_n=0,
    )


def tuned(store: Store, run_id: str = "r1", *, tried=(A, B), fresh=3, **tables) -> RunLog:
    """Open a run whose tuning has ended."""
    table = {
        "name": "mine",
        "system": "noop",
        "workload": "sleep",
        "limits": {"samples": 1, "hours": 1.0},
        "policy": {"rungs": [1, 3], "adjuster": "identity"},
        "nodes": {"tuning": 3, "validation": fresh},
        **tables,
    }
    store.open_run(
        CampaignRun(
            id=run_id,
            campaign="mine",
            logical_date=None,
            opened_at=store.clock(),
            effective=parse(table, where="a test").model_dump(mode="json"),
            benchmark={"workload": WORKLOAD, "fragment": {"file": "noop.conf", "line": "{name} = {value}"}},
            space=SPACE.to_json(),
            benchmark_digest="d",
            policy_digest="p",
            library="0",
        )
    )
    nodes = [("tuning", f"n{i}") for i in range(3)] + [("validation", f"f{i}") for i in range(fresh)]
    store.put_nodes(run_id, [NodeRecord(name=n, host="h", role=role, address={}, facts={}) for role, n in nodes])
    log = RunLog(store, run_id)
    for config in (SPACE.default(), A, B):
        log.put_config(config.id, dict(config))
    for config in tried:
        log.append_sample(sample(config.id, "n0", FIGURES[config.id]))
        log.append_judgement(judging.judge(settings.scene(run_id), config.id, 0))
    return log


def measure(log: RunLog, slots, figures=None) -> None:
    """Take every planned sample; figures differ by a percent from node to node."""
    for slot in slots:
        value = (figures or FIGURES)[slot["config"]] * (1 + int(slot["nodes"][0][1:]) / 100)
        taken = sample(slot["config"], slot["nodes"][0], value, slot=slot["slot"], repeat=slot["repeat"])
        log.append_sample(replace(taken, purpose=Purpose.VALIDATE))
