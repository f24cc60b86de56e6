"""Send the recorded samples of the plan flip through the library's own ladder, detector and plan comparison.

PYTHONPATH=include python experiments/plan_flip/judge.py experiments/plan_flip/samples.json
"""

import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from albacore.policies import presets
from albacore.runs import plans
from albacore.sample import Metric, Sample
from albacore.trial import Ask, Direction

TIPPING, DEFAULT = "tipping", "default"
MOSTLY = 0.5
METRICS = ("tps", "txn_per_cpu_s")
UNITS = {"tps": "1/s", "txn_per_cpu_s": "1/s"}
POLICY = presets.by_name("tuna", nodes=10, rungs=(1, 3, 10))
SINGLE = presets.by_name("traditional", nodes=10, rungs=(1,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The samples of one measurement, by config and node.

    Attributes:
        samples: Config -> node -> sample.
        crossovers: Node -> random_page_cost at which the plan tips there.
        config: Knob -> text of the config that sits there.
    """

    samples: Mapping[str, Mapping[str, Sample]]
    crossovers: Mapping[str, float]
    config: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "Recorded":
        """Read what measure.py wrote; a failure is left out."""
        data = json.loads(path.read_text())
        samples: dict[str, dict[str, Sample]] = {}
        for row in data["samples"]:
            if "metrics" in row:
                samples.setdefault(row["config"], {})[row["node"]] = _sample(row)
        return cls(samples=samples, crossovers=data["crossovers"], config=data["config"])

    def values(self, config: str, metric: str) -> dict[str, float]:
        """Return node -> figure."""
        return {node: sample.value(metric) for node, sample in self.samples[config].items()}

    @property
    def others(self) -> list[str]:
        """The configs that were measured on one node only."""
        return sorted(self.samples.keys() - {TIPPING, DEFAULT})


def _sample(row: Mapping[str, Any]) -> Sample:
    metrics = {name: Metric(value=value, unit=UNITS.get(name, "")) for name, value in row["metrics"].items()}
    return Sample(
        config_id=row["config"],
        node=row["node"],
        host="localhost",
        metrics=metrics,
        notes=row["notes"],
        started_at=0.0,
        duration_s=row["duration_s"],
        benchmark_digest="",
    )


def whole_reads(sample: Sample) -> float:
    """Return how often the server read the whole stock table per join; every parallel worker counts."""
    return sample.notes["seq_scans"]["stock"] / max(1, sample.notes["scripts"]["stock_level"]["count"])


def bad_nodes(recorded: Recorded) -> list[str]:
    """Return the nodes where the tipping config mostly has the bad plan: the ground truth, counted by the server."""
    return [node for node, sample in recorded.samples[TIPPING].items() if whole_reads(sample) >= MOSTLY]


def detected(values: Sequence[float], nodes: int) -> tuple[int, int]:
    """Return how many of all sets of so many nodes the detector calls unstable, and how many sets there are."""
    found = [POLICY.detector.detect(part).is_unstable for part in combinations(values, nodes)]
    return sum(found), len(found)


def promotions(recorded: Recorded, metric: str) -> tuple[int, int, int]:
    """Count the nodes whose single sample of the tipping config makes the ladder promote it.

    Its competitors are the default and the other configs, each by its one sample; the default's is the one of the same
    node. The ladder is asked as in a campaign: nine configs at the lowest rung, each with its cost.

    Returns:
        Nodes where it is promoted, nodes where it is the best of all, all nodes.
    """
    rivals = {name: next(iter(recorded.values(name, metric).values())) for name in recorded.others[:7]}
    promoted = best = 0
    mine, defaults = recorded.values(TIPPING, metric), recorded.values(DEFAULT, metric)
    for node, value in mine.items():
        figures = {TIPPING: value, DEFAULT: defaults[node], **rivals}
        order = _climbs(figures)
        promoted += TIPPING in order
        best += order[0] == TIPPING
    return promoted, best, len(mine)


def _climbs(figures: Mapping[str, float]) -> list[str]:
    """Return the configs that the ladder promotes from its lowest rung, in its order."""
    scores = {name: SINGLE.aggregate.score([value], Direction.MAX) for name, value in figures.items()}
    costs = {(name, 0): -score for name, score in scores.items()}
    asks = [_ask(i, name, 0) for i, name in enumerate(figures)]
    promoted = []
    while (step := POLICY.ladder.step(asks, costs)).rung == 1 and step.config_id:
        promoted.append(step.config_id)
        asks.append(_ask(len(asks), step.config_id, 1))
    return promoted


def _ask(index: int, config_id: str, rung: int) -> Ask:
    key = f"{config_id}-{rung}"
    return Ask(index=index, key=key, lane=0, config_id=config_id, rung=rung, bracket=0, read_n=0, inputs_digest="")


def report(recorded: Recorded) -> Iterator[str]:
    """Yield what came out, line by line."""
    yield "config: " + ", ".join(f"{name} = {text}" for name, text in recorded.config.items())
    costs = sorted(recorded.crossovers.values())
    yield f"the plan tips at random_page_cost {costs[0]:g} to {costs[-1]:g}, median {statistics.median(costs):g}"
    bad = bad_nodes(recorded)
    for name in (DEFAULT, TIPPING):
        scans = {node: round(whole_reads(sample), 2) for node, sample in recorded.samples[name].items()}
        yield f"{name}: whole reads of stock per join {scans}"
    for metric in METRICS:
        yield from _of_metric(recorded, metric, bad)
    yield from plans.said(list(recorded.samples[TIPPING].values()))


def _of_metric(recorded: Recorded, metric: str, bad: Sequence[str]) -> Iterator[str]:
    """Yield what one metric says: overlap, ranges, single nodes, detection by the number of nodes."""
    mine = recorded.values(TIPPING, metric)
    good = [value for node, value in mine.items() if node not in bad]
    worst = [mine[node] for node in bad]
    yield f"{metric}: good nodes {_span(good)}, bad nodes {_span(worst)}"
    for name in (DEFAULT, TIPPING):
        values = list(recorded.values(name, metric).values())
        full = POLICY.detector.detect(values)
        told = POLICY.aggregate.score(values, Direction.MAX)
        told = POLICY.penalty.penalise(told, Direction.MAX) if full.is_unstable else told
        yield f"  {name}: {full.reason}; one node tells {_span(values)}, all tell {told:.0f}"
        shares = {k: detected(values, k) for k in range(2, len(values) + 1)}
        yield "  called unstable by k nodes: " + ", ".join(f"{k}: {a}/{n}" for k, (a, n) in shares.items())
    promoted, best, nodes = promotions(recorded, metric)
    defaults = recorded.values(DEFAULT, metric)
    beaten = [node for node, value in mine.items() if value > defaults[node]]
    yield f"  by one sample: better than the default's on the same node on {len(beaten)} of {nodes} nodes {beaten}"
    yield f"  by one sample, among nine configs: promoted on {promoted} of {nodes} nodes, the best on {best}"


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.0f} to {max(values):.0f} ({len(values)})" if values else "none"


def main(source: str) -> None:
    """Print the report of a recorded measurement."""
    for line in report(Recorded.read(Path(source))):
        print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
