"""PostgreSQL 13, 14, 15, 17 and 18: each is measured, takes the whole catalogue, and says which knobs it lacks."""

from collections.abc import Iterator
from pathlib import Path

import postgres_versions
import pytest
from nodes import places

from albacore.benchmark import Benchmark
from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.local import LocalNode
from albacore.nodes.preparation import prepare
from albacore.sample import Sample
from albacore.space.catalogue import Catalogue

pytestmark = [pytest.mark.node, pytest.mark.e2e]
BENCHMARK = Benchmark.read(places.BENCHMARKS, "postgres")
SMALL = {**postgres_versions.SMALL, "reporting": {"scale": 0.05, "warmup_s": 0.0, "measure_s": 0.0}}
NEW_IN_16 = {"enable_presorted_aggregate", "vacuum_buffer_usage_limit"}
NEW_IN_15 = {"recursive_worktable_factor", "wal_compression"}
NEW_IN_14 = {"enable_memoize", "compute_query_id", "client_connection_check_interval", "min_dynamic_shared_memory"}
LACKING = {
    "13": NEW_IN_16 | NEW_IN_15 | NEW_IN_14,
    "14": NEW_IN_16 | NEW_IN_15,
    "15": NEW_IN_16,
    "17": set(),
    "18": set(),
}
"""Version -> knobs of the catalogue that came later, or took on and off only (the release notes of 14, 15 and 16)."""


@pytest.fixture(scope="module")
def node() -> Iterator[LocalNode]:
    """One node, with the wheel's programs on it."""
    with places.root() as place:
        (made,) = places.nodes(place, "n1")
        prepare(made, BENCHMARK, BENCHMARK.workload("pgbench"), params=SMALL["pgbench"])
        yield made


@pytest.fixture(scope="module", params=sorted(postgres_versions.PUBLISHED))
def server(request: pytest.FixtureRequest, node: LocalNode) -> tuple[str, Path]:
    """A major version and the folder of its programs."""
    clients = node.directory / "install/postgres/pgserver/pginstall/bin"
    return request.param, postgres_versions.provide(request.param, clients, node.directory / f"v{request.param}")


@pytest.mark.parametrize("workload", SMALL)
def test_a_version_is_measured_under_the_whole_catalogue(
    node: LocalNode, server: tuple[str, Path], workload: str
) -> None:
    """Every knob is given at its default; what this version lacks is noted as dropped, and nothing else."""
    version, programs = server
    found, params = BENCHMARK.workload(workload), {**SMALL[workload], "server": str(programs)}
    prepare(node, BENCHMARK, found, params=params)
    space = Catalogue.read(BENCHMARK.root / "knobs.toml").space(node.facts())
    spec = JobSpec.sample(found, f"{workload}-{version}", space.text(space.default()), params=params)
    job.start(node, spec)
    assert job.wait(node, spec.job_id, within_s=spec.limit_s).state == "done"
    told = sample_or_failure(job.outcome(node, spec.job_id), found, Placement.on(node, config_id="c", started_at=0.0))

    assert isinstance(told, Sample), told
    assert told.value(found.metric) > 0
    assert told.notes.get("dropped_knobs", {}).keys() == LACKING[version]
    assert (node.directory / "data" / "PG_VERSION").read_text().strip() == version
