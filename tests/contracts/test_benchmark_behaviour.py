"""Every workload of every benchmark behaves as docs/benchmark-contract.md says, on a real node with a real server.

A folder that is added is found by itself. How each case is brought about stands in its `cases.toml`.
"""

import time
from collections.abc import Iterator

import pytest
from contracts import benchmark_cases
from contracts.benchmark_cases import Bench

from albacore.sample import Blame, Failure, Sample

pytestmark = pytest.mark.node


@pytest.fixture(scope="module", params=benchmark_cases.all_workloads())
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Each workload, small, on a node that it is installed and loaded on; what is missing is installed."""
    with benchmark_cases.prepared(request.param) as made:
        yield made


@pytest.fixture(autouse=True)
def clean(bench: Bench) -> Iterator[None]:
    """No test leaves a process or a port in use."""
    yield
    bench.assert_clean()


def blamed(found: Sample | Failure) -> Blame:
    """Return who is to blame for a job that has to fail."""
    assert isinstance(found, Failure), found
    return found.blame


def test_a_sample_goes_through_the_agent(bench: Bench):
    """Start, run and stop give the workload's metric in its unit, and resource figures."""
    found = bench.finish(bench.begin({}))

    assert isinstance(found, Sample), f"{found.message}\n{found.log}"
    metric = found.metrics[bench.workload.metric]
    assert (metric.unit, metric.value > 0) == (bench.workload.unit, True)
    assert any(name.startswith("cpu_times") for name in found.telemetry)


def test_preparing_again_changes_nothing(bench: Bench):
    """Both verbs are idempotent and quick when nothing is to do."""
    begun = time.monotonic()

    assert [bench.verb(name).blame for name in ("install", "load")] == [None, None]
    assert time.monotonic() - begun < 20


def test_a_bad_config_is_its_own_failure(bench: Bench):
    """What the system refuses blames the config, with the system's words."""
    found = bench.finish(bench.begin(bench.case("bad_config")))

    assert blamed(found) is Blame.CONFIG
    assert found.log


def test_a_start_that_hangs_is_ended_in_time(bench: Bench):
    """Whatever hangs, and will not obey, is gone soon after the limit, and the config is to blame."""
    case, begun = bench.case("hang"), time.monotonic()
    if "program" in case:
        with bench.replaced(case["program"], by="program"):
            found = bench.finish(bench.begin(case, {"start": 2.0}))
    elif "pipe" in case:
        with bench.replaced(case["pipe"], by="pipe"):
            found = bench.finish(bench.begin(case, {"start": 2.0}))
    else:
        found = bench.finish(bench.begin(case, {"start": 2.0}))

    assert blamed(found) is Blame.CONFIG
    assert time.monotonic() - begun < 30


def test_a_crash_under_load_is_the_configs_failure(bench: Bench):
    """A server that dies while it is measured blames its config, and gives no figure."""
    case = bench.case("crash")
    job_id = bench.begin(case)
    if "process" in case:
        bench.wait_for_run(job_id)
        bench.kill(case["process"])

    assert blamed(bench.finish(job_id)) is Blame.CONFIG


def test_a_node_without_its_data_is_not_the_configs_failure(bench: Bench):
    """The same start blames the node when the golden copy is gone."""
    with bench.replaced(bench.case("golden").get("path", f"golden/{bench.workload.name}"), by="nothing"):
        assert blamed(bench.finish(bench.begin({}))) is Blame.NODE


def test_an_error_of_the_load_is_not_the_configs_failure(bench: Bench):
    """A load that breaks by itself, against a system in order, blames the load."""
    case = bench.case("load_error")
    if "between" not in case:
        assert blamed(bench.finish(bench.begin(case))) is Blame.LOAD
        return
    try:
        assert bench.verb("start").blame is None
        bench.command(case["between"])
        told = bench.verb("run", **case.get("params", {}))
    finally:
        bench.verb("stop")

    assert told.blame is Blame.LOAD, told.words


def test_a_second_start_replaces_the_first_and_a_second_stop_is_fine(bench: Bench):
    """After two starts one system runs, after two stops none, and its ports are free."""
    told = bench.verb("start")
    assert told.blame is None, told.words
    first = bench.processes()
    again = bench.verb("start")
    second = bench.processes()
    stops = [bench.verb("stop") for _ in range(2)]

    assert again.blame is None, again.words
    assert not set(first) & set(second)
    assert len(second) <= len(first) + 3  # workers come and go, a second server does not
    assert [stop.blame for stop in stops] == [None, None]


def test_every_sample_begins_from_the_same_data(bench: Bench):
    """What one sample changed is as it was in the next."""
    case = bench.case("restore")
    try:
        assert bench.verb("start").blame is None
        before = bench.command(case["look"])
        bench.command(case["change"])
        changed = bench.command(case["look"])
        bench.verb("stop")
        assert bench.verb("start").blame is None
        after = bench.command(case["look"])
    finally:
        bench.verb("stop")

    assert changed != before
    assert after == before
