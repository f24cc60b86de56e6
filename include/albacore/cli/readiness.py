"""`albacore readiness`: what the noise of a fleet means for a campaign."""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from albacore.errors import UserError

if TYPE_CHECKING:
    from albacore.pilot import Row
    from albacore.readiness import Bill, Readiness
    from albacore.stats import Interval


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    found = commands.add_parser(
        "readiness", help="say what the noise of a fleet means for a campaign: nodes, threshold, repeats, cost"
    )
    found.add_argument(
        "pilot", help="id of a campaign run whose default was repeated, or a CSV file with node, round, value, seconds"
    )
    found.add_argument("--rungs", default="1,3,10", help="nodes per rung of the ladder (default: 1,3,10)")
    found.add_argument("--threshold", type=float, default=0.30, help="of the detector (default: 0.30)")
    found.add_argument("--share", type=float, default=0.3, help="of the nodes an unstable config is slow on (0.3)")
    found.add_argument("--loss", type=float, default=0.5, help="by which it is slower there (default: 0.5)")
    found.add_argument("--gain", type=float, default=0.05, help="difference that has to be found (default: 0.05)")
    found.add_argument("--samples", type=int, default=500, help="limit of the campaign (default: 500)")
    found.add_argument("--price", type=float, help="of an hour of one node")
    found.add_argument("--store", help="SQLAlchemy URL of the store")
    found.add_argument("--json", action="store_true", help="print the figures as JSON")
    found.set_defaults(command=_readiness)


def _readiness(arguments: argparse.Namespace) -> int:
    from albacore.pilot import of_file
    from albacore.readiness import Unstable, bill, readiness, table

    rungs = _checked(arguments)
    rows = of_file(Path(arguments.pilot)) if arguments.pilot.endswith(".csv") else _of_run(arguments)
    found = readiness(
        table([(node, round_, value) for node, round_, value, _ in rows]),
        rungs=rungs,
        threshold=arguments.threshold,
        gain=arguments.gain,
        unstable=Unstable(share=arguments.share, loss=arguments.loss),
    )
    cost = bill([s for *_, s in rows], samples=arguments.samples, nodes=found.nodes, price=arguments.price)
    if arguments.json:
        print(json.dumps({"readiness": asdict(found), "bill": asdict(cost)}, indent=1))
    else:
        print("\n".join(lines(found, cost)))
    return 0


def _checked(arguments: argparse.Namespace) -> tuple[int, ...]:
    """Return the rungs.

    Raises:
        UserError: When a number is out of its range.
    """
    parts = [part.strip() for part in arguments.rungs.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= 60 for part in parts):
        raise UserError(
            f"readiness --rungs: expected numbers of nodes up to 60 such as 1,3,10, got {arguments.rungs!r}."
        )
    for name, most in (("threshold", 10.0), ("share", 1.0), ("loss", 1.0), ("gain", 10.0)):
        if not 0 < getattr(arguments, name) < most:
            raise UserError(f"readiness --{name}: expected more than 0 and less than {most:g}.")
    if arguments.samples < 1:
        raise UserError(f"readiness --samples: expected at least 1, got {arguments.samples}.")
    return tuple(int(part) for part in parts)


def _of_run(arguments: argparse.Namespace) -> "Sequence[Row]":
    """Return the pilot that a run's validation is."""
    from albacore import pilot, recorded
    from albacore.store import Store, address

    store = Store(address.find(os.environ, arguments.store))
    store.migrate()
    return pilot.of_scene(recorded.scene(store, store.run(arguments.pilot)))


def lines(found: "Readiness", cost: "Bill") -> Iterator[str]:
    """Yield what a pilot says, for people."""
    yield f"Pilot: {found.nodes} nodes, {found.rounds} rounds."
    words = {"node": "from node to node", "time": "from round to round", "residual": "the rest", "total": "one sample"}
    for name, what in words.items():
        yield f"  {what:<20} {_percent(found.intervals[name])}"
    bad = found.unstable
    yield f"A config that is {bad.loss:.0%} slower on {bad.share:.0%} of the nodes, threshold {found.threshold:.2f}:"
    for n, chance in found.found.items():
        yield f"  on {n:>2} nodes it is found with {chance:.0%}; a stable one is called so with {found.alarms[n]:.1%}"
    needed = "more nodes than 60" if found.needed is None else f"{found.needed} nodes"
    yield f"  to find it with 95 %: {needed}"
    yield f"Threshold with at most 1 % false alarms on the highest rung: {found.suggested:.2f}"
    yield f"Samples per node and config to find a difference of {found.gain:.0%} on the highest rung: {found.repeats}"
    yield f"{cost.samples} samples: {_amount(cost.hours)} hours, {_amount(cost.node_hours)} node-hours" + (
        "" if cost.cost is None else f", cost {_amount(cost.cost)}"
    )


def _percent(i: "Interval") -> str:
    return f"{i.estimate:.1%} ({i.low:.1%} to {i.high:.1%})"


def _amount(i: "Interval") -> str:
    return f"{i.estimate:.1f} ({i.low:.1f} to {i.high:.1f})"
