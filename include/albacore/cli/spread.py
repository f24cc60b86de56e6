"""`albacore spread`: how much every metric of a campaign run varies, between nodes and from repeat to repeat.

Made for the `survey` workload, whose configs are repeats of the same measurement; of any other run it shows the spread
over configs too, so it then wants one config (`--config`).
"""

import argparse
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from albacore.errors import UserError
from albacore.sample import Sample
from albacore.stats import coefficient_of_variation


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Say how much one metric varies.

    Attributes:
        samples: How many figures there are, on `nodes` nodes.
        cov: Coefficient of variation over all figures; None where there is none (one figure, or a mean of 0).
        between: That of the nodes' means.
        within: Median over the nodes of that of a node's figures.
    """

    metric: str
    unit: str
    nodes: int
    samples: int
    mean: float
    cov: float | None
    between: float | None
    within: float | None


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    found = commands.add_parser("spread", help="print how much every metric of a campaign run varies")
    found.add_argument("run", help="id of a campaign run")
    found.add_argument(
        "--config", help="only samples of this config; the run of another workload than survey wants one"
    )
    found.add_argument("--store", help="SQLAlchemy URL of the store")
    found.set_defaults(command=_spread)


def _spread(arguments: argparse.Namespace) -> int:
    """Print the table; exit code 1 when there is nothing to print."""
    from albacore import recorded
    from albacore.store import Store, address

    store = Store(address.find(os.environ, arguments.store))
    store.migrate()
    samples = recorded.scene(store, store.run(arguments.run)).log.facts(Sample)
    chosen = [s for s in samples if arguments.config in (None, s.config_id)]
    if not chosen:
        raise UserError(f"spread: run {arguments.run}: expected samples, there are none of that choice. Let it go on.")
    for line in lines(spreads(chosen)):
        print(line)
    return 0


def spreads(samples: Sequence[Sample]) -> list[Spread]:
    """Return the spread of every metric that a sample has, in the order of their names."""
    names = sorted({name for sample in samples for name in sample.metrics})
    return [_of(name, [s for s in samples if name in s.metrics]) for name in names]


def _of(metric: str, samples: Sequence[Sample]) -> Spread:
    """Return the spread of one metric."""
    by_node: dict[str, list[float]] = {}
    for sample in samples:
        by_node.setdefault(sample.node, []).append(sample.value(metric))
    values = [value for each in by_node.values() for value in each]
    inside = [cov for each in by_node.values() if (cov := _cov(each)) is not None]
    return Spread(
        metric=metric,
        unit=samples[0].metrics[metric].unit,
        nodes=len(by_node),
        samples=len(values),
        mean=statistics.fmean(values),
        cov=_cov(values),
        between=_cov([statistics.fmean(each) for each in by_node.values()]),
        within=statistics.median(inside) if inside else None,
    )


def _cov(values: Sequence[float]) -> float | None:
    """Return the coefficient of variation; None for fewer than two figures."""
    return coefficient_of_variation(values) if len(values) > 1 else None


def lines(found: Sequence[Spread]) -> Iterator[str]:
    """Yield the table for a terminal."""
    yield f"{'metric':<20} {'mean':>14} {'unit':<6} {'samples':>7} {'nodes':>5} {'CoV':>8} {'between':>8} {'within':>8}"
    for each in found:
        shares = " ".join(f"{'-' if cov is None else f'{cov:.2%}':>8}" for cov in (each.cov, each.between, each.within))
        yield f"{each.metric:<20} {each.mean:>14.4g} {each.unit:<6} {each.samples:>7} {each.nodes:>5} {shares}"
