"""PostgreSQL's workloads through the node agent: each measures, says its plans, and blames the right one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodes import places
from postgres_versions import SMALL

from albacore.benchmark import Benchmark
from albacore.errors import LoadError
from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.local import LocalNode
from albacore.nodes.preparation import prepare
from albacore.sample import Blame, Failure, Sample

pytestmark = pytest.mark.node
BENCHMARK = Benchmark.read(places.BENCHMARKS, "postgres")


@pytest.fixture(scope="module")
def node() -> Iterator[LocalNode]:
    """One node; each test prepares the workload that it needs."""
    with places.root() as place:
        (made,) = places.nodes(place, "n1")
        yield made


def begin(node: LocalNode, workload: str, config: dict[str, str] | None = None, **params: object) -> JobSpec:
    """Prepare a small workload and start a sample's job."""
    found, given = BENCHMARK.workload(workload), {**SMALL[workload], **params}
    prepare(node, BENCHMARK, found, params=given)
    spec = JobSpec.sample(found, f"s{time.monotonic_ns()}", config or {}, params=given)
    job.start(node, spec)
    return spec


def finish(node: LocalNode, spec: JobSpec) -> Sample | Failure:
    """Wait for a job and judge it."""
    assert job.wait(node, spec.job_id, within_s=spec.limit_s).state == "done"
    workload = BENCHMARK.workload(spec.workload)
    return sample_or_failure(
        job.outcome(node, spec.job_id), workload, Placement.on(node, config_id="c", started_at=0.0)
    )


@pytest.mark.parametrize("workload", SMALL)
def test_a_workload_measures_and_says_its_plans(node: LocalNode, workload: str) -> None:
    """The metric with its unit, percentiles in order, no error, and a shape for every plan."""
    found = finish(node, begin(node, workload, {"work_mem": "8MB", "enable_nestloop": "on"}))

    assert isinstance(found, Sample), found
    assert found.value(BENCHMARK.workload(workload).metric) > 0
    if "p50_ms" in found.metrics:
        assert 0 < found.value("p50_ms") <= found.value("p95_ms") <= found.value("p99_ms")
        assert sum(one["count"] for one in found.notes["scripts"].values()) == found.value("transactions")
    assert set(found.notes["plans"].values()) == set(found.notes["plan_shapes"])


def test_plans_follow_the_config(node: LocalNode) -> None:
    """Another plan has another hash, and its shape says what it is."""
    nested = finish(node, begin(node, "tpcc", {"enable_hashjoin": "off", "enable_mergejoin": "off"}))
    hashed = finish(node, begin(node, "tpcc", {"enable_nestloop": "off"}))

    assert isinstance(nested, Sample), nested
    assert isinstance(hashed, Sample), hashed
    for key, plan in hashed.notes["plans"].items():
        if key.startswith("stock_level"):
            assert plan != nested.notes["plans"][key]
            assert "Nested Loop" not in hashed.notes["plan_shapes"][plan]


def test_a_server_that_dies_under_transactions_is_the_configs_failure(node: LocalNode) -> None:
    """Kill -9 of the postmaster while pgbench runs; the words are those of the server or of pgbench."""
    spec = begin(node, "pgbench", measure_s=20.0)
    deadline = time.monotonic() + 30
    while not list((node.directory / "jobs" / spec.job_id).glob("pgbench/log*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(int((node.directory / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    found = finish(node, spec)

    assert isinstance(found, Failure), found
    assert found.blame is Blame.CONFIG


def test_statements_over_their_limit_are_the_configs_failure(node: LocalNode) -> None:
    """A transaction that the server cancels for its time fails the sample."""
    found = finish(
        node, begin(node, "tpcc", {"commit_delay": "100000", "commit_siblings": "0"}, statement_timeout_s=0.05)
    )

    assert isinstance(found, Failure), found
    assert found.blame is Blame.CONFIG


def test_own_queries_come_from_the_users_folder(node: LocalNode, tmp_path: Path) -> None:
    """A folder in a private home is measured; one that changed since the data was loaded, or has no query, is not."""
    folder = tmp_path / "my queries"
    (folder / "queries").mkdir(parents=True)
    folder.chmod(0o700)
    (folder / "data.csv").write_text("1\n2\n3\n")
    (folder / "schema.sql").write_text("CREATE TABLE t (n int);\n\\copy t FROM data.csv\n")
    (folder / "queries" / "total.sql").write_text("-- all; of it\nSELECT sum(n) FROM t")
    found = finish(node, begin(node, "sql", folder=str(folder)))
    assert isinstance(found, Sample), found
    assert found.notes["plans"].keys() == found.notes["median_ms"].keys() == {"total"}

    (folder / "queries" / "total.sql").write_text("SELECT 1")
    spec = JobSpec.sample(BENCHMARK.workload("sql"), "changed", {}, params={**SMALL["sql"], "folder": str(folder)})
    job.start(node, spec)
    changed = finish(node, spec)
    assert isinstance(changed, Failure)
    assert changed.blame is Blame.LOAD
    assert "changed" in changed.log

    (folder / "queries" / "total.sql").unlink()
    with pytest.raises(LoadError, match="no queries"):
        begin(node, "sql", folder=str(folder))


def test_a_query_that_fails_is_the_load_s_failure(node: LocalNode, tmp_path: Path) -> None:
    """What no config brings about is not told to the optimizer."""
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "wrong.sql").write_text("SELECT nothing FROM nowhere;")
    found = finish(node, begin(node, "sql", folder=str(tmp_path), check_rows=False))

    assert isinstance(found, Failure), found
    assert found.blame is Blame.LOAD


def test_a_version_that_is_not_there_is_the_nodes_fault(node: LocalNode) -> None:
    """The message says where it was looked for and how to install it."""
    with pytest.raises(Exception, match=r"expected PostgreSQL 12 in one of .*package manager"):
        begin(node, "pgbench", server="12")
