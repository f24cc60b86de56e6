"""Opening: what is fixed before the first sample, and nodes made ready for it (law of opening)."""

import dataclasses
import hashlib
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import albacore
from albacore import recorded, stopping
from albacore.benchmark import Benchmark, unpack
from albacore.campaign import Campaign, read
from albacore.checking import space_of
from albacore.errors import UserError
from albacore.nightly import admission, teaching, warm_start
from albacore.nightly.admission import Caller
from albacore.nightly.nights import PREPARED
from albacore.nodes.preparation import canary, prepare, probe_s
from albacore.runs import action
from albacore.space import Space
from albacore.store import CampaignRun, NodeRecord
from albacore.store.leases import Leases
from albacore.trial import Note
from albacore_airflow import retuning, settings
from albacore_airflow.measuring import LOOK_S

AT_ONCE = 16
"""Nodes that are asked for their facts at a time."""
FORM = ("samples", "hours", "seed", "preset", "optimizer")


def open_run(name: str, run_id: str, form: Mapping[str, Any], logical_date: str | None, caller: Caller) -> str:
    """Write down everything that is fixed before the first sample (law of opening); return the campaign run's id.

    Raises:
        CampaignError: When file and form do not make a campaign.
        BenchmarkError: When the benchmark folder does not keep the contract.
        NotTonightError: When a scheduled run may not begin.
        UserError: When another run of the campaign goes on.
    """
    with _chosen(name, form) as (chosen, benchmark):
        space_of(chosen, benchmark)
        settings.cloud(chosen.nodes).names(chosen.nodes.count)
        chosen = chosen.model_copy(update={"nodes": settings.quoted(chosen)})
        settings.check_lease(chosen.nodes.lease_s)
        store = settings.store()
        store.migrate()
        admission.admit(store, chosen, run_id, caller)
        store.put_archive(benchmark.digest, benchmark.archive())
        store.open_run(
            CampaignRun(
                id=run_id,
                campaign=name,
                logical_date=logical_date,
                opened_at=store.clock(),
                effective=chosen.model_dump(mode="json"),
                benchmark=_benchmark_facts(benchmark, chosen.workload) | retuning.facts(form),
                benchmark_digest=benchmark.digest,
                policy_digest=hashlib.sha256(repr(chosen.policy_of()).encode()).hexdigest()[:16],
                library=albacore.__version__,
            )
        )
    return run_id


@contextmanager
def _chosen(name: str, form: Mapping[str, Any]) -> Iterator[tuple[Campaign, Benchmark]]:
    """Give campaign and benchmark of a new run: those of the files, or of the past run that it measures again."""
    if past := form.get(retuning.KEY):
        with retuning.past(name, str(past)) as found:
            yield found
        return
    chosen = read(settings.campaigns_dir() / f"{name}.toml").with_form({key: form.get(key) for key in FORM})
    yield chosen, Benchmark.read(settings.benchmarks_dir(), chosen.system)


def reopen_run(name: str, run_id: str, conf: Mapping[str, Any], caller: Caller, *, by: str) -> str:
    """Let a run of this campaign that has ended go on with larger limits (B08); return its id.

    Args:
        name: The campaign.
        run_id: The campaign run.
        conf: `samples`, `hours`, `cost`: the new totals; without one, or with a lower one, the run's own stays.
        caller: The DAG run that re-opens it.
        by: Who asks for it.

    Raises:
        UserError: The run is not of this campaign, one of its runs goes on, or nothing is left under these limits.
    """
    store = settings.store()
    store.migrate()
    run = store.run(run_id)
    if run.campaign != name:
        raise UserError(
            f"extends: expected a run of campaign {name!r}, {run_id!r} is one of {run.campaign!r}. Trigger that one."
        )
    limits = {limit: conf[limit] for limit in stopping.BOUNDED if conf.get(limit) is not None}
    admission.admit(store, recorded.campaign(run), run_id, caller)
    action.reopen(store, run_id, by=by, key=caller.dag_run_id, limits=limits)
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


def provision(run_id: str, dag_run: str) -> list[str]:
    """Provision the fleet, fix the space by its facts and what is taken over; return the names of the nodes."""
    run = settings.store().run(run_id)
    chosen = recorded.campaign(run)
    cloud = settings.cloud(chosen.nodes, run_id, dag_run=dag_run, opened_at=run.opened_at)
    tuning = chosen.nodes.tuning
    names = cloud.names(chosen.nodes.count)
    nodes = cloud.provision(names)
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        facts = list(pool.map(lambda node: dict(node.facts()), nodes))
    records = [
        NodeRecord(
            name=node.name,
            host=node.host,
            role="tuning" if i < tuning else "validation",
            address=(address := cloud.address(node)),
            facts={**facts[i], **address.get("facts", {})},
        )
        for i, node in enumerate(nodes)
    ]
    _check_load(run, records)
    settings.store().put_nodes(run_id, records)
    _fix_space(run, chosen, records)
    warm_start.fix(settings.store(), run_id)
    teaching.fix(settings.store(), run_id)
    return names


def _check_load(run: CampaignRun, records: list[NodeRecord]) -> None:
    """Refuse a load from another node where the workload cannot have one.

    Raises:
        UserError: Names the nodes.
    """
    apart = [record.name for record in records if record.address.get("load")]
    if apart and not (workload := recorded.workload(run)).may_load_from_elsewhere:
        raise UserError(
            f"{workload.id}: expected its load beside the system, {', '.join(apart)} have a 'load' host. "
            'Remove it there, or make the workload honour ALBACORE_HOST and say load = "anywhere" in workload.toml.'
        )


def _fix_space(run: CampaignRun, chosen: Campaign, records: list[NodeRecord]) -> None:
    """Compute the bounds from the smallest node and record the space with its default config."""
    facts = {
        name: min(float(record.facts[name]) for record in records) for name in ("ram_bytes", "cores", "disk_bytes")
    }
    with tempfile.TemporaryDirectory() as folder:
        space = space_of(chosen, _archived(run, Path(folder)), facts)
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
    admission.renew(settings.store(), run_id)
    run = settings.store().run(run_id)
    record = next(r for r in settings.store().nodes(run_id) if r.name == name)
    owner, slots = f"{run_id}/prepare/{name}", settings.host_slots(run)[record.host]
    leases = Leases(settings.store(), lease_s=max(900.0, sum(recorded.workload(run).timeouts_s.values())))
    while (grant := leases.take_node(name, record.host, slots, owner)) is None:
        time.sleep(LOOK_S)
    try:
        with tempfile.TemporaryDirectory() as folder:
            benchmark = _archived(run, Path(folder))
            workload, params = benchmark.workload(recorded.workload(run).name), recorded.campaign(run).params
            todo = {"params": params, "epoch": grant.epoch, "progress": print}
            ready = prepare(settings.node(run, record), benchmark, workload, **todo)
            if (other := settings.load_node(run, record)) is not None:
                prepare(other, benchmark, workload, **todo)
        wall_s = probe_s(settings.node(run, record))
        song = canary(settings.node(run, record)) if settings.has_canary(run, record) else {}
        body = {"node": name, "versions": dict(ready.versions), "probe_s": wall_s, "canary": song}
        settings.run_log(run_id).append_note(Note(kind=PREPARED, body=body), key=name)
    finally:
        leases.release(owner)
    return {"node": name, "versions": dict(ready.versions), "wall_s": round(ready.wall_s, 2)}
