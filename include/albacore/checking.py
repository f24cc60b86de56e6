"""Checking: what `albacore check` says of a file or a folder that somebody wrote."""

import os
from collections.abc import Iterator
from pathlib import Path

from albacore import campaign
from albacore.benchmark import Benchmark
from albacore.catalogue import Catalogue
from albacore.errors import UserError

USUAL_FACTS = {"ram_bytes": 8 * 2**30, "cores": 4, "disk_bytes": 100 * 2**30}
"""A node to compute bounds on where none is known: 8 GiB, 4 cores, 100 GiB."""


def check(path: Path) -> Iterator[str]:
    """Yield what is there, one line a thing; by the path a campaign file, a knobs.toml or a benchmark folder.

    Raises:
        UserError: At the first fault, naming file, key and remedy.
    """
    if path.is_dir():
        yield from check_benchmark(path)
    elif path.name == "knobs.toml":
        yield from check_knobs(path)
    elif path.suffix == ".toml":
        yield from check_campaign(path)
    else:
        raise UserError(f"check: expected a campaign file (.toml), a knobs.toml or a benchmark folder, got {path}.")


def check_campaign(path: Path) -> Iterator[str]:
    """Check a campaign with its benchmark, its parameters and its knobs."""
    found = campaign.read(path)
    benchmark = Benchmark.read(benchmarks_beside(path), found.system)
    workload = benchmark.workload(found.workload)
    workload.params_with(found.params)
    bounds = {name: bound.model_dump(exclude_none=True) for name, bound in found.space.bounds.items()}
    space = Catalogue.read(benchmark.knobs_path).space(
        USUAL_FACTS, knobs=found.space.knobs, bounds=bounds, allow_denied=found.space.allow_denied
    )
    yield f"campaign {found.name}: {found.title or 'no title'}"
    yield f"  benchmark {workload.id}: {workload.metric} in {workload.unit}, {workload.direction}imise"
    yield f"  {len(space)} knobs; {found.optimizer.name}; policy {found.policy.preset}, rungs {found.policy.rungs}"
    yield f"  {found.nodes.tuning} tuning and {found.nodes.validation} fresh nodes ({found.nodes.cloud})"
    yield f"  ends after {found.limits.samples} samples or {found.limits.hours:g} hours"
    yield "in order"


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
