"""Measure real configs on a quiet machine and under seeded neighbours, with the guest metrics of each sample.

    PYTHONPATH=include python experiments/neighbours/measure.py [--minutes 25]

Configs of PostgreSQL are drawn at random and measured first with nobody else at work, until thirty of them run and are
not hopelessly slow. Then each of
eight local nodes measures them in its own order while neighbours in control groups use processors, memory bandwidth and
disk (`weather.py`). Nodes measure one after the other, as the guest metrics are those of the whole machine and have to
show the neighbours of one node only. Between them the quiet round is repeated, so that a change of the host in the
meantime is in the truth as it is in the samples.

Samples are appended; a measurement that was ended goes on where it was. Needs root, control groups of version 1 and
stress-ng.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import groups
import numpy as np
import weather
from noisy_samples import METRIC, QUIET, SAMPLES, Row, append, pack, read
from tqdm import tqdm

from albacore.benchmark import Benchmark, Workload
from albacore.errors import UserError
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
FIRST_PORT = 26_000
PARAMS = {"scale": 4.0, "warmup_s": 0.0, "measure_s": 3.0}
FAST_ENOUGH = 0.5
ROUNDS_BEFORE = (0, 0, 2, 5, 8)
"""Before which node each quiet round is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One sample that is due; `strengths` is empty where nobody else is at work."""

    config: int
    node: str
    round: int
    strengths: dict[str, float]

    @property
    def key(self) -> tuple[int, str, int]:
        """What makes it the same sample when the measurement goes on."""
        return self.config, self.node, self.round


def turns(seed: int, configs: list[int]) -> Iterator[Turn]:
    """Yield all turns of configs in the order in which they are measured."""
    nodes = weather.NODES
    for number in range(len(nodes) + 1):
        for one in (r for r, before in enumerate(ROUNDS_BEFORE) if before == number):
            yield from (Turn(config=c, node=QUIET, round=one, strengths={}) for c in _order(seed, -1 - one, configs))
        if number < len(nodes):
            series = weather.strengths(seed, nodes[number], len(configs))
            for config, strengths in zip(_order(seed, number, configs), series, strict=True):
                yield Turn(config=config, node=nodes[number], round=0, strengths=strengths)


def _order(seed: int, number: int, configs: list[int]) -> list[int]:
    return [configs[i] for i in np.random.default_rng([seed, number + 100, 3]).permutation(len(configs))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What is measured where."""

    workload: Workload
    nodes: dict[str, LocalNode]
    space: Space
    groups: groups.Groups
    place: Path
    seed: int

    def config(self, number: int) -> Config:
        """Return a config by its number: 0 is the default, the others are drawn."""
        if number == 0:
            return self.space.default()
        return Random().suggest(self.space, [], [], seed=self.seed, ask_index=number)

    def blow(self, strengths: dict[str, float]) -> None:
        """Set what neighbours do from now on; one that goes on is left alone but for its share."""
        for kind in weather.KINDS:
            strength = strengths.get(kind, 0.0)
            if strength == 0:
                self.groups.end(kind)
                continue
            write = round(strength * weather.WRITE_BYTES_PER_S) if kind == "disk" else 0
            self.groups.grant(kind, cores=strength * weather.CORES[kind], write_bytes_per_s=write)
            if not self.groups.members(kind):
                self.groups.start(kind, weather.COMMANDS[kind], self.place)

    def sample(self, turn: Turn) -> Row:
        """Measure once, through the node's agent."""
        config, node = self.config(turn.config), self.nodes[turn.node]
        moved = self.space.difference(self.space.default(), config)
        texts = {k.name: self.space.text(config)[k.name] for k in moved}
        self.blow(turn.strengths)
        job_id = f"c{turn.config}-{turn.node}-{turn.round}-{time.time_ns()}"
        spec = JobSpec.sample(self.workload, job_id, texts, params=PARAMS)
        started_at = time.time()
        job.start(node, spec)
        job.wait(node, spec.job_id, within_s=spec.limit_s)
        placement = Placement.on(node, config_id=str(turn.config), started_at=started_at)
        found = sample_or_failure(job.outcome(node, spec.job_id), self.workload, placement)
        row: Row = {"config": turn.config, "node": turn.node, "round": turn.round, "at": round(started_at, 1)}
        row["strengths"] = {kind: round(s, 2) for kind, s in turn.strengths.items()}
        if turn.node == QUIET and turn.round == 0:
            row["knobs"] = texts
        job.forget(node, spec.job_id)
        if not isinstance(found, Sample):
            return {**row, "failure": f"{found.blame}: {found.message}"}
        metrics = {name: _short(metric.value) for name, metric in found.metrics.items()}
        telemetry = {name: _short(value) for name, value in found.telemetry.items()}
        return {**row, "took_s": round(found.duration_s, 2), "metrics": metrics, "telemetry": telemetry}


def _short(value: float) -> float:
    """Return five digits: no reading is better than that, and a sample is a third as long."""
    return float(f"{value:.5g}")


def find_configs(bench: Bench, rows: list[Row], count: int) -> Iterator[Row]:
    """Yield quiet samples of new configs until `count` of them are worth it, the default among them."""
    seen = [row for row in rows if row["node"] == QUIET and row["round"] == 0]
    while len(worth(seen)) < count:
        number = max((row["config"] for row in seen), default=-1) + 1
        seen.append(bench.sample(Turn(config=number, node=QUIET, round=0, strengths={})))
        yield seen[-1]


def worth(rows: list[Row]) -> list[int]:
    """Return the configs that run and are at least half as fast as the default, by their first quiet sample.

    Slower ones never get to the highest rung of a ladder, and only there are samples adjusted.
    """
    first = [r for r in rows if r["node"] == QUIET and r["round"] == 0 and "failure" not in r]
    default = next((r["metrics"][METRIC] for r in first if r["config"] == 0), 0.0)
    return [r["config"] for r in first if r["metrics"][METRIC] >= FAST_ENOUGH * default]


def measure(bench: Bench, target: Path, count: int, until: float) -> None:
    """Measure what is missing until it is all there or the time is over."""
    rows = read(target)
    total = count * (len(weather.NODES) + len(ROUNDS_BEFORE))
    with tqdm(total=total, initial=len(rows), unit="sample", file=sys.stderr) as bar:

        def keep(row: Row) -> None:
            rows.append(row)
            append(target, row)
            bar.set_postfix_str(f"{row['node']} {row.get('failure', '')[:60]}")
            bar.update()

        for row in find_configs(bench, rows, count):
            keep(row)
            if time.monotonic() > until:
                return
        configs = worth(rows)
        known = {(row["config"], row["node"], row["round"]) for row in rows}
        for turn in turns(bench.seed, configs):
            if turn.key in known:
                continue
            if time.monotonic() > until:
                return
            keep(bench.sample(turn))


def main() -> None:
    """Measure on fresh nodes below a directory that is removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path, nargs="?", default=SAMPLES)
    parser.add_argument("--configs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no sample after so many")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    if not shutil.which("stress-ng"):
        raise UserError("stress-ng: expected it on PATH, it is missing. Run `apt-get install stress-ng`.")
    workload = Benchmark.read(BENCHMARKS, "postgres").workload("pgbench")
    print(f"load average before: {os.getloadavg()}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="alb-", dir="/var/tmp", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        root = Path(place, "own", "root")
        names = [QUIET, *weather.NODES]
        nodes = dict(zip(names, local_nodes(root, str(time.time_ns()), names, FIRST_PORT), strict=True))
        with groups.opened(Path(place)) as made:
            space = Catalogue.read(BENCHMARKS / "postgres" / "knobs.toml").space(nodes[QUIET].facts())
            bench = Bench(workload=workload, nodes=nodes, space=space, groups=made, place=Path(place), seed=given.seed)
            try:
                for node in nodes.values():
                    prepare(node, Benchmark.read(BENCHMARKS, "postgres"), workload, params=PARAMS)
                measure(bench, given.target, given.configs, until)
            finally:
                stop_all(root)
                shutil.rmtree(root, ignore_errors=True)
                if given.target.exists():
                    pack(given.target)
    print(f"load average after: {os.getloadavg()}", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; call it again to go on"))
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
