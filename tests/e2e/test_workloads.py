"""Every workload of every benchmark goes through Airflow: installed, loaded, measured under three configs, judged."""

import law
import pytest
from contracts.benchmark_cases import all_workloads

from albacore.benchmark import Benchmark
from albacore.sample import Failure, Sample

pytestmark = pytest.mark.e2e
WORKLOADS = [each for each in all_workloads() if not each.startswith("noop/")]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_campaign_of_each_workload_runs_to_its_end(clone, workload):
    """The default and what was suggested are measured in the workload's metric; the log keeps the laws of every run."""
    system, name = workload.split("/")
    followed = clone.start(f"{system}-{name}").wait(300)

    log = law.check(followed)
    samples, failures = log.facts(Sample), log.facts(Failure)
    metric = Benchmark.read(clone.root / "include" / "benchmarks", system).workload(name).metric
    assert len(samples) + len(failures) >= 3
    assert samples, [failure.message for failure in failures]
    assert all(sample.value(metric) > 0 for sample in samples)
