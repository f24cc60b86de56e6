"""Checking: what `albacore check` says of a file or a folder that somebody wrote."""

import json
import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from albacore import campaign
from albacore.benchmark import Benchmark, Workload
from albacore.campaign import Campaign
from albacore.clouds import inventory
from albacore.clouds.azure import prices
from albacore.clouds.static import StaticCloud
from albacore.errors import CampaignError, NodeError, UserError
from albacore.nightly import drift
from albacore.optimizers import Advising
from albacore.space import Space
from albacore.space.catalogue import Catalogue, Facts

USUAL_FACTS: Facts = {"ram_bytes": 8 * 2**30, "cores": 4, "disk_bytes": 100 * 2**30}
"""A node to compute bounds on where none is known: 8 GiB, 4 cores, 100 GiB."""


def check(path: Path) -> Iterator[str]:
    """Yield what is there, one line a thing: of a campaign file, an inventory, a knobs.toml or a benchmark folder.

    Raises:
        UserError: At the first fault, naming file, key and remedy.
    """
    if path.is_dir():
        yield from check_benchmark(path)
    elif path.name == "knobs.toml":
        yield from check_knobs(path)
    elif is_inventory(path):
        yield from check_inventory(path)
    elif path.suffix == ".toml":
        yield from check_campaign(path)
    else:
        raise UserError(
            f"check: expected a campaign file or an inventory (.toml), a knobs.toml or a benchmark folder, got {path}."
        )


def check_campaign(path: Path) -> Iterator[str]:
    """Check a campaign with its benchmark, its parameters and its knobs."""
    found, workload, space = read_campaign(path, benchmarks_beside(path))
    yield f"campaign {found.name}: {found.title or 'no title'}"
    yield f"  benchmark {workload.id}: {workload.metric} in {workload.unit}, {workload.direction}imise"
    yield f"  {len(space)} knobs; {found.optimizer.name}; policy {found.policy.preset}, rungs {found.policy.rungs}"
    optimizer = found.optimizer_of()
    if isinstance(optimizer, Advising) and (warning := optimizer.advice(space)):
        yield f"  warning: {warning}"
    yield f"  {found.nodes.tuning} tuning and {found.nodes.validation} fresh nodes ({found.nodes.cloud})"
    if found.nodes.inventory:
        cloud = StaticCloud(path=path.parent / found.nodes.inventory, secret=key_of_connection)
        yield f"  on {', '.join(cloud.names(found.nodes.tuning + found.nodes.validation))}"
    nodes = prices.quoted(found.nodes, hours=found.limits.hours, folder=path.absolute().parent)
    if nodes.price_per_hour is not None:
        worst = nodes.count * nodes.price_per_hour
        source = f" ({nodes.price_source})" if nodes.price_source else ""
        yield f"  {nodes.price_per_hour:.4f} for an hour of a node{source}; all of them cost {worst:.2f} an hour"
    yield f"  ends after {found.limits.samples} samples or {found.limits.hours:g} hours"
    if found.schedule:
        yield f"  runs at '{found.schedule}' ({found.timezone}) and takes {found.warm_configs} config(s) over"
        if warning := drift.advice(found.nodes.tuning):
            yield f"  warning: {warning}"
    if found.is_taught:
        yield f"  its adjuster may learn from the stable trials of the last {found.warm_start.runs} run(s) too"
    yield "in order"


def is_inventory(path: Path) -> bool:
    """Say whether a file has hosts, so that it is no campaign."""
    try:
        return path.suffix == ".toml" and "hosts" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def check_inventory(path: Path, secret: Callable[[str], str] | None = None) -> Iterator[str]:
    """Check an inventory, and with `secret` also log in to its systems and loads and ask for facts.

    Args:
        path: The file.
        secret: Returns the private key of an Airflow connection.

    Raises:
        UserError: When the file has a fault.
        NodeError: When hosts cannot be reached; told after all have been tried.
    """
    found = inventory.read(path)
    cloud = StaticCloud(path=path, secret=secret or key_of_connection)
    used = [host.name for host in found.hosts if {"system", "load"} & set(host.roles)]
    nodes = {node.name: node for node in cloud.provision(used)}
    lost = []
    for host in found.hosts:
        way = f"{host.user}@{host.address}:{host.port}" + (f" through {host.bastion}" if host.bastion else "")
        yield f"  {host.name}: {way}; {', '.join(host.roles)}"
        if secret and host.name in nodes:
            try:
                facts = nodes[host.name].facts()
                gigabytes = facts["ram_bytes"] / 2**30
                yield f"    {facts['cores']} cores, {gigabytes:.1f} GiB, {facts['os']}, Python {facts['python']}"
                yield f"    {facts['cpu_model']}, {facts['disk'] or 'disk unknown'}, {facts['virtualisation']}"
            except NodeError as error:
                lost.append(host.name)
                yield f"    {error.message}"
    if lost:
        raise NodeError(f"{path}: {', '.join(lost)} cannot be used. See above.")
    yield f"in order: {len(found.hosts)} hosts"


def key_of_connection(connection_id: str) -> str:
    """Return the private key in the variable AIRFLOW_CONN_<ID>: the command line reads no other connections.

    Raises:
        UserError: When there is no such variable, or no key in it.
    """
    variable = f"AIRFLOW_CONN_{connection_id.upper()}"
    try:
        extra = json.loads(os.environ.get(variable, "{}")).get("extra", {})
        return (json.loads(extra) if isinstance(extra, str) else extra)["private_key"]
    except (ValueError, KeyError, AttributeError) as error:
        raise UserError(
            f"connection {connection_id!r}: expected the variable {variable} to hold it as JSON with 'private_key' in "
            "its 'extra'. Airflow's own connections are read by its tasks only."
        ) from error


def read_campaign(path: Path, benchmarks: Path) -> tuple[Campaign, Workload, Space]:
    """Return a file's campaign with its workload, and its space on a usual node.

    Raises:
        CampaignError: Names the file, whatever is wrong: the file itself, its benchmark, a parameter, a knob.
    """
    found = campaign.read(path)
    try:
        benchmark = Benchmark.read(benchmarks, found.system)
        workload, space = benchmark.workload(found.workload), space_of(found, benchmark)
    except UserError as error:
        raise CampaignError(f"{path.parent.name}/{path.name}: {error.message}", **error.facts) from error
    return found, workload, space


def space_of(found: Campaign, benchmark: Benchmark, facts: Facts = USUAL_FACTS) -> Space:
    """Return the space of a campaign on a node with these facts, its workload and parameters checked too.

    Raises:
        UserError: When the workload, a parameter, a knob or a bound is not the benchmark's.
    """
    benchmark.workload(found.workload).params_with(found.params)
    return Catalogue.read(benchmark.knobs_path).space(
        facts,
        knobs=found.space.knobs,
        bounds={name: bound.model_dump(exclude_none=True) for name, bound in found.space.bounds.items()},
        allow_denied=found.space.allow_denied,
        values=(benchmark.values["true"], benchmark.values["false"]),
    )


def check_benchmark(path: Path) -> Iterator[str]:
    """Check a benchmark folder with its knobs and workloads."""
    benchmark = Benchmark.read(path.absolute().parent, path.absolute().name)
    yield f"benchmark {benchmark.system}: {benchmark.title}"
    for workload in benchmark.workloads.values():
        yield f"  {workload.id}: {workload.metric} in {workload.unit}, {workload.direction}imise"
    yield from check_knobs(benchmark.knobs_path)


def check_knobs(path: Path) -> Iterator[str]:
    """Check a knob catalogue on a usual node."""
    catalogue = Catalogue.read(path)
    space = catalogue.space(USUAL_FACTS)
    for knob in space.knobs:
        yield f"  {knob.name}: {knob.bounds}, default {knob.default}"
    yield f"in order: {len(space)} knobs on a node of 8 GiB and 4 cores; {len(catalogue.deny)} more are denied"


def benchmarks_beside(path: Path) -> Path:
    """Return the folder of benchmarks that belongs to a campaign file: ALBACORE_BENCHMARKS, else beside its folder."""
    return Path(os.environ.get("ALBACORE_BENCHMARKS") or path.absolute().parent.parent / "benchmarks")
