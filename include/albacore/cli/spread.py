"""`albacore spread`: how much every metric of a campaign run varies, between nodes and from repeat to repeat.

Made for the `survey` workload, whose configs are repeats of the same measurement; of any other run it shows the spread
over configs too, so it then wants one config (`--config`).
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from typing import Any

from albacore.errors import UserError
from albacore.sample import Sample
from albacore.spread import Spread, spreads


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


def lines(found: Sequence[Spread]) -> Iterator[str]:
    """Yield the table for a terminal."""
    yield f"{'metric':<20} {'mean':>14} {'unit':<6} {'samples':>7} {'nodes':>5} {'CoV':>8} {'between':>8} {'within':>8}"
    for each in found:
        shares = " ".join(f"{'-' if cov is None else f'{cov:.2%}':>8}" for cov in (each.cov, each.between, each.within))
        yield f"{each.metric:<20} {each.mean:>14.4g} {each.unit:<6} {each.samples:>7} {each.nodes:>5} {shares}"
