"""Measure every workload's default ten times in a row on a fresh local node; print the tables of docs/benchmarks.md.

A workload that is in the target file already is not measured again, so that the measurement can go on after a stop.

    PYTHONPATH=include python experiments/benchmarks/defaults.py experiments/benchmarks/defaults.json [WORKLOAD...]
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from albacore.benchmark import Benchmark
from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.local import LocalNode, local_nodes, stop_all
from albacore.nodes.preparation import prepare
from albacore.sample import Sample
from albacore.stats import coefficient_of_variation

BENCHMARKS = Path(__file__).parents[2] / "include" / "benchmarks"
FIRST_PORT = 25_000
SHORT = {"measure_s": 4.0}
WORKLOADS: Mapping[str, Mapping[str, Any]] = {
    "redis/ycsb_c": {},
    "redis/ycsb_b": {},
    "redis/ycsb_a": {},
    "nginx/pages": {},
    "mariadb/oltp_read_write": {},
    "postgres/tpcc": SHORT,
    "postgres/epinions": SHORT,
    "postgres/pgbench": SHORT,
    "postgres/reporting": {},
    "postgres/tpch": {"scale": 0.05, "measure_s": 0.0},
    "postgres/sql": {},
    "kvcache/lookups": {},
    "survey/components": {},
}
"""Workload -> parameters that differ from its own."""
PROCESSOR = ("cpu_us_per_op", "cpu_us_per_page", "cpu_ms_per_transaction", "cpu_ms")


def measure(node: LocalNode, name: str, count: int) -> dict[str, Any]:
    """Prepare a workload and measure its default; failures are kept as what they said."""
    system, _, title = name.partition("/")
    benchmark = Benchmark.read(BENCHMARKS, system)
    workload = benchmark.workload(title)
    params = {**workload.params, **WORKLOADS[name]}
    prepared = prepare(node, benchmark, workload, params=params)
    samples = []
    for number in range(count):
        load = os.getloadavg()[0]
        spec = JobSpec.sample(workload, f"{system}-{title.replace('_', '-')}-{number}", {}, params=params)
        began, started_at = time.monotonic(), time.time()
        job.start(node, spec)
        job.wait(node, spec.job_id, within_s=spec.limit_s)
        placement = Placement.on(node, config_id="default", started_at=started_at)
        found = sample_or_failure(job.outcome(node, spec.job_id), workload, placement)
        row: dict[str, Any] = {"wall_s": round(time.monotonic() - began, 2), "load": round(load, 2)}
        if isinstance(found, Sample):
            row["metrics"] = {key: (metric.value, metric.unit) for key, metric in found.metrics.items()}
        else:
            row["failure"] = f"{found.blame}: {found.message}"
        samples.append(row)
        print(name, number, row.get("failure") or found.value(workload.metric), flush=True)  # type: ignore[union-attr]
    return {"metric": workload.metric, "versions": dict(prepared.versions), "params": params, "samples": samples}


def table(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the row of each workload, then the components of the survey."""
    yield "| workload | samples | s per sample | load before | figure, median (least - most) | CoV | CoV, CPU time |"
    yield "|---|---|---|---|---|---|---|"
    for name, each in found.items():
        good = [row for row in each["samples"] if "metrics" in row]
        if name.startswith("survey/"):
            continue
        value, unit = _series(good, each["metric"])
        cpu = next((key for key in PROCESSOR if good and key in good[0]["metrics"]), None)
        seconds = statistics.median(row["wall_s"] for row in good)
        span = f"{statistics.median(value):.4g} {unit} ({min(value):.4g} - {max(value):.4g})"
        yield (
            f"| `{name}` | {len(good)} of {len(each['samples'])} | {seconds:.1f} | {_loads(good)} | {span} "
            f"| {_cov(value)} | {_cov(_series(good, cpu)[0]) if cpu else '-'} |"
        )
    yield from _components(found.get("survey/components", {}).get("samples", []))


def _components(samples: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    good = [row for row in samples if "metrics" in row]
    if not good:
        return
    seconds = statistics.median(row["wall_s"] for row in good)
    yield f"\nsurvey: {len(good)} samples of {seconds:.1f} s (median), load before {_loads(good)}\n"
    yield "| figure | mean | unit | CoV |"
    yield "|---|---|---|---|"
    for name in good[0]["metrics"]:
        values, unit = _series(good, name)
        yield f"| `{name}` | {statistics.fmean(values):.5g} | {unit} | {_cov(values)} |"


def _series(samples: Sequence[Mapping[str, Any]], metric: str) -> tuple[list[float], str]:
    """Return a metric's values, and its unit."""
    return [row["metrics"][metric][0] for row in samples], samples[0]["metrics"][metric][1]


def _loads(samples: Sequence[Mapping[str, Any]]) -> str:
    return f"{min(row['load'] for row in samples):.1f} - {max(row['load'] for row in samples):.1f}"


def _cov(values: Sequence[float]) -> str:
    found = coefficient_of_variation(values)
    return "-" if found is None else f"{found:.1%}"


def main() -> None:
    """Measure what is missing in the target, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS), help="default: all")
    parser.add_argument("--count", type=int, default=10)
    given = parser.parse_args()
    found = json.loads(given.target.read_text()) if given.target.is_file() else {}
    for name in given.workloads:
        if name in found:
            continue
        with tempfile.TemporaryDirectory(prefix="alb-", dir="/var/tmp", ignore_cleanup_errors=True) as place:
            Path(place).chmod(0o711)
            root = Path(place, "own", "root")
            (node,) = local_nodes(root, str(time.time_ns()), ["n1"], FIRST_PORT)
            try:
                found[name] = measure(node, name, given.count)
            finally:
                stop_all(root)
                shutil.rmtree(root, ignore_errors=True)
        given.target.write_text(json.dumps(found, indent=1) + "\n")
    for line in table({name: found[name] for name in WORKLOADS if name in found}):
        print(line)


if __name__ == "__main__":
    main()
