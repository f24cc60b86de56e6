"""Once its programs are there, each system is loaded, measured and stopped by a user without privileges."""

import json

import pytest
from contracts import benchmark_cases

pytestmark = pytest.mark.node
ONE_EACH = {name.split("/")[0]: name for name in benchmark_cases.all_workloads()}


@pytest.mark.parametrize("workload", ONE_EACH.values(), ids=ONE_EACH)
def test_no_verb_needs_root(workload: str):
    """`install` finds that nothing is to do, the data are made anew, a figure comes out, and nothing stays behind."""
    with benchmark_cases.prepared(workload) as bench:
        bench.disown()
        for verb in ("install", "load", "start", "run", "stop"):
            told = bench.verb(verb)
            assert told.blame is None, f"{verb}: {told.words}"
        written = json.loads((bench.node.directory / "jobs" / "by-hand" / "metrics.json").read_text())
        assert written["metrics"][bench.workload.metric]["value"] > 0
        bench.assert_clean()
