"""Measure the query-plan flip of TUNA §3.2.1 on fresh PostgreSQL clusters of this machine, and record every sample.

Each node loads its own data and lets ANALYZE draw its own sample. One config is made to sit where the planner's two
best plans for a join cost the same: its random_page_cost lies between those at which the plan tips on the third and on
the fourth node. It and the default are measured on every node, some random configs of the whole space on one node each,
as the lowest rung of a ladder would.

    PYTHONPATH=include python experiments/plan_flip/measure.py experiments/plan_flip/samples.json
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from albacore.benchmark import Benchmark, Workload
from albacore.nodes import job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.local import LocalNode, local_nodes, stop_all
from albacore.nodes.preparation import prepare
from albacore.optimizers.random import Random
from albacore.sample import Sample
from albacore.space import Config, Space
from albacore.space.catalogue import Catalogue

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "include" / "benchmarks"
FIRST_PORT = 24_000
# All but the first stay fixed; all of them lie inside the ranges of knobs.toml. The last three save a little work.
FIXED = {
    "random_page_cost": "to be bisected",
    "seq_page_cost": 0.3,
    "cpu_tuple_cost": 0.003,
    "cpu_operator_cost": 0.0005,
    "parallel_setup_cost": 100.0,
    "max_parallel_workers_per_gather": 2,
    "shared_buffers": 512,
    "compute_query_id": "off",
    "update_process_title": False,
}
BAD_NODES = 0.3
"""Share of the nodes on which the config is to have the bad plan: unstable, and fast more often than not."""
# No transaction adds orders: with NewOrder in the mix the newest orders leave the histogram and the flip does not show.
MIX = {"new_order": 0, "payment": 43, "order_status": 37, "delivery": 0, "stock_level": 20, "mode": "extended"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What is measured on which nodes; `params` are all parameters of the workload."""

    workload: Workload
    nodes: tuple[LocalNode, ...]
    space: Space
    params: dict[str, Any]

    def crossover(self, node: LocalNode) -> float:
        """Return the random_page_cost at which the plan of half of the draws tips on a node."""
        fixed = self.space.config({**self.space.default(), **{**FIXED, "random_page_cost": 4.0}})
        config = {name: text for name, text in self.space.text(fixed).items() if name != "random_page_cost"}
        folder = node.directory / "benchmarks" / "postgres"
        with tempfile.TemporaryDirectory(dir=node.directory) as place:
            for name, content in (("config", config), ("params", self.params)):
                Path(place, name).write_text(json.dumps(content))
            environment = {
                **os.environ,
                "ALBACORE_NODE_DIR": str(node.directory),
                "ALBACORE_SYSTEM_DIR": str(folder),
                "ALBACORE_WORKLOAD_DIR": str(folder / "workloads" / self.workload.name),
                "ALBACORE_JOB_DIR": place,
                "ALBACORE_PORT": str(node.port),
                "ALBACORE_UID": str(node.uid or ""),
                "ALBACORE_SEED": str(node.seed),
                "ALBACORE_CONFIG": f"{place}/config",
                "ALBACORE_PARAMS": f"{place}/params",
            }
            command = [sys.executable, str(HERE / "crossover.py")]
            said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return json.loads(said.stdout)["crossover"]

    def sample(self, node: LocalNode, name: str, config: Config) -> dict[str, Any]:
        """Measure a config on a node once, through the node's agent."""
        texts = {k.name: self.space.text(config)[k.name] for k in self.space.difference(self.space.default(), config)}
        spec = JobSpec.sample(self.workload, f"{name}-{node.name}", texts, params=self.params)
        started_at = time.time()
        job.start(node, spec)
        job.wait(node, spec.job_id, within_s=spec.limit_s)
        placement = Placement.on(node, config_id=name, started_at=started_at)
        found = sample_or_failure(job.outcome(node, spec.job_id), self.workload, placement)
        if not isinstance(found, Sample):
            return {"config": name, "node": node.name, "knobs": texts, "failure": f"{found.blame}: {found.message}"}
        return {
            "config": name,
            "node": node.name,
            "knobs": texts,
            "metrics": {key: metric.value for key, metric in found.metrics.items()},
            "notes": dict(found.notes),
            "duration_s": round(found.duration_s, 2),
        }


def schedule(bench: Bench, unstable: Config, others: int) -> Iterator[tuple[LocalNode, str, Config]]:
    """Yield what to measure: default and unstable config side by side on each node, one other config per node."""
    default = bench.space.default()
    for index, node in enumerate(bench.nodes):
        yield node, "default", default
        yield node, "tipping", unstable
        if index < others:
            yield node, f"random-{index}", Random().suggest(bench.space, [], [], seed=1, ask_index=index)


def between(costs: Sequence[float]) -> float:
    """Return a value above the share `BAD_NODES` of ascending costs, in the middle of the gap to the next."""
    below = max(1, round(BAD_NODES * len(costs)))
    return statistics.fmean(costs[below - 1 : below + 1])


def measure(bench: Bench, others: int) -> dict[str, Any]:
    """Prepare the nodes, find the config, and take every sample."""
    for node in bench.nodes:
        benchmark = Benchmark.read(BENCHMARKS, "postgres")
        prepared = prepare(node, benchmark, bench.workload, params=bench.params)
        print(
            f"{node.name}: PostgreSQL {prepared.versions['postgres']}, prepared in {prepared.wall_s:.1f} s", flush=True
        )
    crossovers = {node.name: bench.crossover(node) for node in bench.nodes}
    print(f"the plan tips at random_page_cost {crossovers}", flush=True)
    cost = round(between(sorted(crossovers.values())), 2)
    unstable = bench.space.config({**bench.space.default(), **FIXED, "random_page_cost": cost})
    samples = []
    for node, name, config in schedule(bench, unstable, others):
        samples.append(bench.sample(node, name, config))
        figures = samples[-1].get("metrics", samples[-1].get("failure"))
        print(node.name, name, figures, flush=True)
    return {
        "params": bench.params,
        "crossovers": crossovers,
        "config": next(row["knobs"] for row in samples if row["config"] == "tipping"),
        "versions": dict(prepared.versions),
        "samples": samples,
    }


def main() -> None:
    """Measure on fresh nodes below a directory that is removed afterwards, and write the samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--others", type=int, default=8, help="random configs, one node each")
    parser.add_argument("--seconds", type=int, default=6, help="of each measurement")
    parser.add_argument("--server", default="wheel", help="the workload's parameter `server`")
    given = parser.parse_args()
    workload = Benchmark.read(BENCHMARKS, "postgres").workload("tpcc")
    params = {**workload.params, **MIX, "measure_s": float(given.seconds), "server": given.server}
    with tempfile.TemporaryDirectory(prefix="alb-", dir="/var/tmp", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        root = Path(place, "own", "root")
        nodes = local_nodes(root, str(time.time_ns()), [f"n{i}" for i in range(given.nodes)], FIRST_PORT)
        try:
            space = Catalogue.read(BENCHMARKS / "postgres" / "knobs.toml").space(nodes[0].facts())
            found = measure(Bench(workload=workload, nodes=nodes, space=space, params=params), given.others)
            given.target.write_text(json.dumps(found, indent=1) + "\n")
        finally:
            stop_all(root)
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
