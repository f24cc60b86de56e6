"""The running Airflow that all end-to-end tests share; it is started once."""

from collections.abc import Iterator

import pytest
from clone import Clone, running
from contracts import benchmark_cases
from nodes import places
from small_campaigns import LADDER, SMALL, noop, of_workload

from albacore.benchmark import Benchmark

ONE_NODE = {"policy": "{ rungs = [1] }", "nodes": "{ tuning = 1, validation = 0 }", "lanes": "{ count = 1 }"}
CAMPAIGNS = {
    "ladder": LADDER,
    "small": SMALL,
    # Long enough that somebody can do something in its middle.
    "steered": noop(limits="{ samples = 200, hours = 1.0 }", params="{ seconds = 1.0 }"),
    "modelled": noop(optimizer='{ name = "smac", initial = 2 }'),
    # As many suggestions as the longest first design, and one.
    "searched": noop(**ONE_NODE, limits="{ samples = 7, hours = 1.0 }", optimizer='{ name = "random", initial = 2 }'),
    # Longer than a benchmark task waits in its worker.
    "patient": noop(**ONE_NODE, limits="{ samples = 2, hours = 1.0 }", params="{ seconds = 40.0 }"),
    # Four configs: the default, a fast one, one that is bad on some nodes, and one that the server refuses.
    "refused": noop(policy="{ rungs = [1] }", limits="{ samples = 6, hours = 1.0 }", space='{ knobs = ["mode"] }'),
    "lossy": noop(limits="{ samples = 9, hours = 1.0 }"),
    # Two configs: after the second there is nothing left to suggest, which somebody has to correct.
    "narrow": noop(**ONE_NODE, limits="{ samples = 50, hours = 1.0 }", space='{ knobs = ["cache"] }'),
}


def workload_campaigns() -> dict[str, str]:
    """Return a campaign file for every workload of every benchmark but noop, which the others are made of."""
    found = {}
    for each in benchmark_cases.all_workloads():
        system, name = each.split("/")
        if system != "noop":
            benchmark = Benchmark.read(places.BENCHMARKS, system)
            workload = benchmark.workload(name)
            params = benchmark_cases.small(workload, benchmark_cases.read(benchmark, workload))
            found[f"{system}-{name}"] = of_workload(system, name, params)
    return found


@pytest.fixture(scope="session")
def clone(tmp_path_factory) -> Iterator[Clone]:
    with running(tmp_path_factory.mktemp("e2e"), {**CAMPAIGNS, **workload_campaigns()}) as made:
        yield made
