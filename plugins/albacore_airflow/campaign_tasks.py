"""What the tasks of a campaign DAG call, in their order."""

import dataclasses
import hashlib
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import albacore
from albacore import judging, recorded, stopping, verdict
from albacore.benchmark import Benchmark, unpack
from albacore.campaign import Campaign, read
from albacore.catalogue import Catalogue
from albacore.errors import ConfigError, NodeError, PlatformError
from albacore.nodes import job
from albacore.nodes.preparation import prepare
from albacore.sample import Failure, Purpose, Sample
from albacore.space import Config, Space
from albacore.store import CampaignRun, NodeRecord
from albacore.trial import Note, Stability
from albacore_airflow import measuring, settings

FORM = ("samples", "hours", "seed", "preset", "optimizer")


def run_id_of(campaign: str, dag_run_id: str, started: str) -> str:
    """Return the id of the campaign run that a DAG run is: the same for every retry, short, legal in a job's id.

    Args:
        started: The DAG run's `run_after` as `%Y%m%dt%H%M%S`.
    """
    digest = hashlib.sha256(dag_run_id.encode()).hexdigest()[:4]
    return f"{campaign}-{started}-{digest}".lower()


def open_run(name: str, run_id: str, form: Mapping[str, Any], logical_date: str | None) -> str:
    """Write down everything that is fixed before the first sample (law of opening); return the campaign run's id.

    Raises:
        CampaignError: When file and form do not make a campaign.
        BenchmarkError: When the benchmark folder does not keep the contract.
    """
    chosen = read(settings.campaigns_dir() / f"{name}.toml").with_form({key: form.get(key) for key in FORM})
    benchmark = Benchmark.read(settings.benchmarks_dir(), chosen.system)
    workload = benchmark.workload(chosen.workload)
    workload.params_with(chosen.params)
    store = settings.store()
    store.migrate()
    store.put_archive(benchmark.digest, benchmark.archive())
    store.open_run(
        CampaignRun(
            id=run_id,
            campaign=name,
            logical_date=logical_date,
            opened_at=store.clock(),
            effective=chosen.model_dump(mode="json"),
            benchmark=_benchmark_facts(benchmark, chosen.workload),
            benchmark_digest=benchmark.digest,
            policy_digest=hashlib.sha256(repr(chosen.policy_of()).encode()).hexdigest()[:16],
            library=albacore.__version__,
        )
    )
    return run_id


def _benchmark_facts(benchmark: Benchmark, workload: str) -> dict[str, Any]:
    """Return what later steps need of the benchmark, as plain data."""
    found = benchmark.workload(workload)
    fields = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
    plain = {
        **fields,
        "timeouts_s": dict(found.timeouts_s),
        "params": dict(found.params),
        "direction": str(found.direction),
    }
    return {
        "title": benchmark.title,
        "values": dict(benchmark.values),
        "fragment": dataclasses.asdict(benchmark.fragment),
        "workload": plain,
    }


def provision(run_id: str) -> list[str]:
    """Provision the fleet, fix the space by its facts, and return the names of the nodes."""
    run = settings.store().run(run_id)
    chosen = recorded.campaign(run)
    cloud = settings.cloud(chosen.nodes.cloud)
    tuning = chosen.nodes.tuning
    names = [f"n{i + 1}" for i in range(tuning + chosen.nodes.validation)]
    records = [
        NodeRecord(
            name=node.name,
            host=node.host,
            role="tuning" if i < tuning else "validation",
            address=cloud.address(node),
            facts=dict(node.facts()),
        )
        for i, node in enumerate(cloud.provision(names))
    ]
    settings.store().put_nodes(run_id, records)
    _fix_space(run, chosen, records)
    return names


def _fix_space(run: CampaignRun, chosen: Campaign, records: list[NodeRecord]) -> None:
    """Compute the bounds from the smallest node and record the space with its default config."""
    facts = {
        name: min(float(record.facts[name]) for record in records) for name in ("ram_bytes", "cores", "disk_bytes")
    }
    with tempfile.TemporaryDirectory() as folder:
        benchmark = _archived(run, Path(folder))
        space = Catalogue.read(benchmark.knobs_path).space(
            facts,
            values=(benchmark.values["true"], benchmark.values["false"]),
            knobs=chosen.space.knobs,
            bounds={name: bound.model_dump(exclude_none=True) for name, bound in chosen.space.bounds.items()},
            allow_denied=chosen.space.allow_denied,
        )
    fixed = Space.from_json(settings.store().set_space(run.id, space.to_json()))
    default = fixed.default()
    settings.run_log(run.id).put_config(default.id, dict(default))


def _archived(run: CampaignRun, folder: Path) -> Benchmark:
    """Return the benchmark as it was when the run opened, unpacked below a folder."""
    system = recorded.workload(run).system
    unpack(settings.store().archive(run.benchmark_digest), folder / system)
    return Benchmark.read(folder, system)


def prepare_node(run_id: str, name: str) -> dict[str, Any]:
    """Copy the benchmark to a node, install the software and load the data, while holding a slot of its host."""
    run = settings.store().run(run_id)
    record = next(r for r in settings.store().nodes(run_id) if r.name == name)
    owner, slots = f"{run_id}/prepare/{name}", settings.host_slots(run)
    while (grant := settings.leases().take_node(name, record.host, slots, owner)) is None:
        time.sleep(measuring.LOOK_S)
    try:
        with tempfile.TemporaryDirectory() as folder:
            benchmark = _archived(run, Path(folder))
            ready = prepare(
                settings.node(run, record),
                benchmark,
                benchmark.workload(recorded.workload(run).name),
                params=recorded.campaign(run).params,
                epoch=grant.epoch,
                progress=print,
            )
    finally:
        settings.leases().release(owner)
    return {"node": name, "versions": dict(ready.versions), "wall_s": round(ready.wall_s, 2)}


def plan_default(run_id: str) -> list[dict[str, Any]]:
    """Return one slot per tuning node for the default config: it runs first, and everywhere."""
    scene = settings.scene(run_id)
    tuning = [r.name for r in settings.store().nodes(run_id) if r.role == "tuning"]
    return [slot(run_id, scene.default_id, Purpose.DEFAULT, i, [node]) for i, node in enumerate(tuning)]


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
    """Judge the default config on all nodes.

    Raises:
        ConfigError: When the system does not even run with its own defaults: nothing can be compared then.
    """
    scene = settings.scene(run_id, telemetry=True)
    if not scene.log.trial(scene.default_id).filled:
        raise PlatformError(
            f"run {run_id}: no node measured the default config. See the failed tasks 'prepare' and 'default'."
        )
    judgement = judging.judge(scene, scene.default_id, scene.top_rung)
    if judgement.stability is Stability.FAILED:
        raise ConfigError(
            f"default config: {judgement.reasons[0]}. Repair the benchmark or the node; nothing was tuned."
        )
    settings.run_log(run_id).append_judgement(judgement)
    return {"score": judgement.score, "relative_range": judgement.relative_range}


def lane_runs(run_id: str) -> list[dict[str, Any]]:
    """Take the run's lease and return what starts each lane: the id of its first iteration and its conf."""
    settings.run_leases().take_resource(settings.run_resource(run_id), run_id)
    return [
        {"trigger_run_id": iteration_id(run_id, lane, 0), "conf": iteration_conf(run_id, lane, 0)}
        for lane in range(lane_count(run_id))
    ]


def lane_count(run_id: str) -> int:
    """Return how many lanes a run wants: what the campaign says, else one per sample at a time, and one spare."""
    run = settings.store().run(run_id)
    chosen = recorded.campaign(run)
    hosts = {record.host for record in settings.store().nodes(run_id) if record.role == "tuning"}
    at_once = min(chosen.nodes.tuning, len(hosts) * settings.host_slots(run))
    return chosen.lanes.count or at_once + 1


def iteration_id(run_id: str, lane: int, n: int) -> str:
    """Return the DAG run id of a lane's n-th iteration: Clear and retries compute the same one (law 2 of lanes)."""
    return f"{run_id}.l{lane}.{n}"


def iteration_conf(run_id: str, lane: int, n: int) -> dict[str, Any]:
    """Return the conf of a lane's n-th iteration."""
    return {"campaign_run": run_id, "lane": lane, "n": n}


def plan_validation(run_id: str) -> list[dict[str, Any]]:
    """Return the slots of default and best config on the fresh nodes, in turn (T16)."""
    from albacore.replay import incumbent

    scene = settings.scene(run_id)
    run = settings.store().run(run_id)
    fresh = [r.name for r in settings.store().nodes(run_id) if r.role == "validation"]
    chosen = incumbent(scene)
    configs = [scene.default_id, *([chosen.config_id] if chosen else [])]
    repeats = recorded.campaign(run).validation.repeats
    return [
        slot(run_id, config_id, Purpose.VALIDATE, index, [node], repeat)
        for index, node, repeat in verdict.validation_slots(fresh, repeats)
        for config_id in configs
    ]


def conclude(run_id: str) -> dict[str, Any]:
    """Return the verdict as plain data: sentence, figures, the knobs that differ, and the fragment to copy."""
    run = settings.store().run(run_id)
    scene = settings.scene(run_id)
    if recorded.campaign(run).nodes.validation and not any(
        fact.purpose is Purpose.VALIDATE for kind in (Sample, Failure) for fact in scene.log.facts(kind)
    ):
        raise PlatformError(
            f"run {run_id}: nothing was validated, so there is no verdict. See the failed task before it."
        )
    found = verdict.conclude(scene, recorded.workload(run).unit)
    body = dataclasses.asdict(found) | {"campaign_run": run_id, "stopped": stop_reason(run_id)}
    if found.best is not None:
        body |= changes(run, scene.space, scene.space.default(), scene.configs[found.best.config_id])
    settings.run_log(run_id).append_note(Note(kind="verdict", body=body), key="verdict")
    return body


def changes(run: CampaignRun, space: Space, default: Config, best: Config) -> dict[str, Any]:
    """Return the knobs in which two configs differ, and the fragment of the system's own config file that says so."""
    knobs = space.difference(default, best)
    texts = {c.id: space.text(c) for c in (default, best)}
    fragment = run.benchmark["fragment"]
    lines = [fragment["line"].format(name=k.name, value=texts[best.id][k.name]) for k in knobs]
    return {
        "knobs": [
            {
                "name": k.name,
                "default": texts[default.id][k.name],
                "best": texts[best.id][k.name],
                "unit": k.unit,
                "doc": k.doc,
            }
            for k in knobs
        ],
        "fragment": {"file": fragment["file"], "text": "\n".join(lines) + "\n" if lines else ""},
    }


def stop_reason(run_id: str) -> str | None:
    """Return why a campaign run asks no more, or None."""
    run = settings.store().run(run_id)
    return stopping.stop_reason(settings.scene(run_id), elapsed_s=settings.store().clock() - run.opened_at)


def release(run_id: str) -> list[str]:
    """End what may still run on the run's nodes and give back every lease; return what had to be ended.

    Raises:
        NodeError: When a job could not be ended.
    """
    store = settings.store()
    run = store.run(run_id)
    ended, lost = [], []
    for record in store.nodes(run_id):
        holder = settings.leases().holder(f"node:{record.name}") or ""
        if not holder.startswith(f"{run_id}/"):
            continue
        try:
            for attempt in range(measuring.ATTEMPTS):
                job.kill(settings.node(run, record), measuring.job_id(holder, attempt))
            ended.append(f"{record.name}: {holder}")
        except NodeError as error:
            lost.append(error.message)
    settings.leases().release_prefix(f"{run_id}/")
    settings.run_leases().release(run_id)
    if lost:
        raise NodeError(f"release of {run_id}: {'; '.join(lost)}. Run 'make down', or look at the node.")
    return ended
