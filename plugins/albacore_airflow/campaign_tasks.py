"""What the tasks of a campaign DAG call, in their order."""

import dataclasses
import hashlib
from collections import Counter
from typing import Any

from albacore import health, judging, recorded, sentinel
from albacore.errors import ConfigError, NodeError, PlatformError
from albacore.nightly import incumbent, nights
from albacore.nodes import job
from albacore.replay import Scene
from albacore.runs import conclusion, exclusion
from albacore.sample import Failure, Purpose
from albacore.trial import Stability
from albacore.verdict import validation
from albacore_airflow import settings


def run_id_of(campaign: str, dag_run_id: str, started: str) -> str:
    """Return the id of the campaign run that a DAG run is: the same for every retry, short, legal in a job's id.

    Args:
        started: The DAG run's `run_after` as `%Y%m%dt%H%M%S`.
    """
    digest = hashlib.sha256(dag_run_id.encode()).hexdigest()[:4]
    return f"{campaign}-{started}-{digest}".lower()


def plan_default(run_id: str) -> list[dict[str, Any]]:
    """Return one slot per tuning node for each sentinel, the default config above all: they run first, and everywhere.

    On a node they run one after the other, and on every second node the other one is first. A run that was re-opened
    has their samples already.
    """
    scene = settings.scene(run_id)
    tuning = [r.name for r in settings.store().nodes(run_id) if r.role == "tuning"]
    first = sentinel.sentinels(scene.log, scene.default_id)
    known = {config_id: scene.log.trial(config_id).filled for config_id in first}
    purposes = dict.fromkeys(first, Purpose.TUNE) | {scene.default_id: Purpose.DEFAULT}
    failures = scene.log.recorded(Failure)
    failed = Counter(
        (f.config_id, f.slot) for f in failures if f.purpose.is_tuning and f.repeat == scene.log.renewals(f.config_id)
    )
    return [
        slot(run_id, config_id, purposes[config_id], i, [node], scene.log.renewals(config_id))
        | {"failed": failed[config_id, i]}
        for i, node in enumerate(tuning)
        for config_id in (first if i % 2 == 0 else reversed(first))
        if i not in known[config_id]
    ]


def slot(
    run_id: str, config_id: str, purpose: Purpose, index: int, nodes: list[str], repeat: int = 0
) -> dict[str, Any]:
    """Return what a benchmark task is given: which sample, and where it may be taken."""
    return {
        "run": run_id,
        "config": config_id,
        "purpose": purpose.value,
        "slot": index,
        "repeat": repeat,
        "nodes": nodes,
    }


def judge_default(run_id: str) -> dict[str, Any]:
    """Judge the sentinels on all nodes: the default config, and the incumbent of earlier runs.

    Raises:
        ConfigError: When the system does not even run with its own defaults: nothing can be compared then.
    """
    scene = settings.scene(run_id, telemetry=True)
    if not scene.log.trial(scene.default_id).filled:
        raise PlatformError(
            f"run {run_id}: no node measured the default config. See the failed tasks 'prepare' and 'default'."
        )
    judgement = scene.log.trial(scene.default_id).judged(scene.top_rung)
    if judgement is None or judgement.is_capped:
        judgement = judging.judge(scene, scene.default_id, scene.top_rung)
        if judgement.stability is Stability.FAILED:
            raise ConfigError(
                f"default config: {judgement.reasons[0]}. Repair the benchmark or the node; nothing was tuned."
            )
        settings.run_log(run_id).append_judgement(judgement)
    _judge_incumbent(run_id)
    nights.note_drift(settings.store(), run_id)
    log = settings.run_log(run_id).read()
    for said in filter(None, [*(finding.sentence for finding in nights.findings(log)), nights.advice(log)]):
        print(said)
    return {"score": judgement.score, "relative_range": judgement.relative_range}


def _judge_incumbent(run_id: str) -> None:
    """Judge the incumbent that the run took over, as far as it was measured."""
    scene = settings.scene(run_id, telemetry=True)
    kept = sentinel.incumbent_id(scene.log)
    if kept is None or not scene.log.trial(kept).filled:
        return
    known = scene.log.trial(kept).judged(scene.top_rung)
    if known is None or known.is_capped:
        settings.run_log(run_id).append_judgement(judging.judge(scene, kept, scene.top_rung))


def lane_runs(run_id: str) -> list[dict[str, Any]]:
    """Take the run's lease and return what starts each lane: the id of its next iteration and its conf.

    That is its first one, unless the run was re-opened.
    """
    from albacore_airflow import lanes

    settings.run_leases().take_resource(settings.run_resource(run_id), run_id)
    return [
        {
            "trigger_run_id": iteration_id(run_id, lane.index, lane.n),
            "conf": iteration_conf(run_id, lane.index, lane.n),
        }
        for lane in lanes.read(settings.run_log(run_id).read(), lane_count(run_id))
    ]


def lane_count(run_id: str) -> int:
    """Return how many lanes a run wants: what the campaign says, else one per sample at a time, and one spare."""
    run = settings.store().run(run_id)
    chosen = recorded.campaign(run)
    hosts = Counter(record.host for record in settings.store().nodes(run_id) if record.role == "tuning")
    slots = settings.host_slots(run)
    at_once = sum(min(nodes, slots[host]) for host, nodes in hosts.items())
    return chosen.lanes.count or at_once + 1


def iteration_id(run_id: str, lane: int, n: int) -> str:
    """Return the DAG run id of a lane's n-th iteration: Clear and retries compute the same one (law 2 of lanes)."""
    return f"{run_id}.l{lane}.{n}"


def iteration_conf(run_id: str, lane: int, n: int) -> dict[str, Any]:
    """Return the conf of a lane's n-th iteration."""
    return {"campaign_run": run_id, "lane": lane, "n": n}


def plan_validation(run_id: str) -> list[dict[str, Any]]:
    """Return the slots of default, contenders and incumbent on the fresh nodes, in turn (T16).

    The plan is in the log before its first sample; asked again, it is the same.
    """
    exclusion.settle(settings.store(), run_id)
    scene, log = settings.scene(run_id), settings.run_log(run_id)
    kept = log.append_note(_plan(run_id, scene).note(), key=f"round {validation.round_of(scene.log)}")
    plan = validation.Plan.of(kept.body)
    return [
        slot(run_id, config_id, Purpose.VALIDATE, index, [node], repeat)
        for config_id, index, node, repeat in validation.slots(plan, scene.default_id, seed=scene.seed)
    ]


def _plan(run_id: str, scene: Scene) -> validation.Plan:
    """Return the next round: the best of the tuning, and what earlier runs left in place."""
    store = settings.store()
    run = store.run(run_id)
    asked = recorded.campaign(run).validation
    fresh = [r.name for r in store.nodes(run_id) if r.role == "validation"]
    search = incumbent.of_run(store, run)
    left = None
    if (found := search.incumbent) is not None and found.config.id != scene.default_id:
        settings.run_log(run_id).put_config(found.config.id, dict(found.config))
        left = found.config.id, found.run_id
    plan = validation.plan(
        scene, nodes=fresh, repeats=asked.repeats, count=asked.contenders, has_veto=asked.veto, incumbent=left
    )
    return dataclasses.replace(plan, skipped=search.skipped)


def conclude(run_id: str) -> dict[str, Any]:
    """Return the verdict as plain data; see `albacore.runs.conclusion.conclude`."""
    return conclusion.conclude(settings.store(), run_id)


def stop_reason(run_id: str) -> str | None:
    """Return why a campaign run asks no more, or None."""
    return conclusion.stop_reason(settings.store(), run_id)


def release(run_id: str) -> list[str]:
    """End what may still run on the run's nodes and give back every lease; return what had to be ended.

    A node whose last attempt was lost is swept as well, unless somebody else has it: then its old job has been ended.
    One that cannot be reached ends its job by itself, when its lease does.

    Raises:
        NodeError: When a job on a node that the run holds could not be ended.
    """
    store, leases = settings.store(), settings.leases()
    run, doubtful = store.run(run_id), health.doubtful(settings.run_log(run_id).read())
    ended, lost = [], []
    for record in store.nodes(run_id):
        is_held = (leases.holder(f"node:{record.name}") or "").startswith(f"{run_id}/")
        slots = settings.host_slots(run)[record.host]
        if not is_held and (
            record.name not in doubtful
            or leases.take_node(record.name, record.host, slots, f"{run_id}/release") is None
        ):
            continue
        try:
            for node in filter(None, (settings.load_node(run, record), settings.node(run, record))):
                ended += job.sweep(node)
        except NodeError as error:
            print(error.message)
            lost += [error.message] if is_held else []
        leases.release(f"{run_id}/release")
    leases.release_prefix(f"{run_id}/")
    settings.run_leases().release(run_id)
    if lost:
        raise NodeError(f"release of {run_id}: {'; '.join(lost)}. Run 'make down', or look at the node.")
    return ended
