"""`albacore cluster-size`: how many nodes find the unstable configs of a run."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from albacore.errors import UserError
from albacore.trial import Direction

if TYPE_CHECKING:
    from albacore.lab.detection import Detection

THRESHOLDS = (0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.50)


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    size = commands.add_parser("cluster-size", help="say how many nodes find the unstable configs of a tuning run")
    size.add_argument(
        "file", nargs="*", type=Path, help="recorded samples; without any, --share and --configs are taken"
    )
    size.add_argument("--threshold", type=float, default=0.30, help="relative range of an unstable config (0.30)")
    size.add_argument("--chance", type=float, default=0.95, help="of finding all of a run (default: 0.95)")
    size.add_argument("--share", type=float, help="of the nodes that an unstable config is slow on, without files")
    size.add_argument("--configs", type=int, default=1, help="unstable configs of a run, without files (default: 1)")
    size.add_argument("--fleet", type=int, help="nodes that the share is of (default: a fleet without an end)")
    size.add_argument("--label", help="the workload of all files, instead of what their names say")
    size.add_argument("--direction", choices=list(Direction), help="which way the figures of all files improve")
    size.add_argument("--json", action="store_true", help="print the figures as JSON")
    size.set_defaults(command=_cluster_size)


def _cluster_size(arguments: argparse.Namespace) -> int:
    _check(arguments)
    if not arguments.file:
        return _of_share(arguments)
    from albacore.history import read
    from albacore.lab.detection import detection
    from albacore.lab.protocol import matrices

    direction = Direction(arguments.direction) if arguments.direction else None
    runs = [run for path in arguments.file for run in read(path, label=arguments.label, direction=direction)]
    found = detection(matrices(runs), arguments.threshold)
    if arguments.json:
        print(json.dumps(as_json(found, arguments.chance), indent=1))
    else:
        print("\n".join(lines(found, arguments.chance)))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse numbers that make no sense.

    Raises:
        UserError: When one is out of its range, or when there are neither files nor a share, or both.
    """
    if bool(arguments.file) == (arguments.share is not None):
        raise UserError("cluster-size: expected files of recorded samples, or --share of the nodes; give one of them.")
    for name, most in (("threshold", 10.0), ("chance", 1.0), ("share", 1.0)):
        value = getattr(arguments, name)
        if value is not None and not 0 < value < most:
            raise UserError(f"cluster-size --{name}: expected more than 0 and less than {most:g}, got {value:g}.")
    if arguments.configs < 1:
        raise UserError(f"cluster-size --configs: expected at least 1, got {arguments.configs}.")
    if arguments.fleet is not None and arguments.fleet < 2:
        raise UserError(f"cluster-size --fleet: expected at least 2 nodes, got {arguments.fleet}.")


def _of_share(arguments: argparse.Namespace) -> int:
    from albacore.lab.detection import modelled, needed

    chances = modelled(arguments.share, arguments.configs, arguments.fleet)
    nodes = needed(chances, arguments.chance)
    if arguments.json:
        print(json.dumps({"chances": chances, "needed": nodes}, indent=1))
        return 0
    print(f"{arguments.configs} config(s), each slow on {arguments.share:.0%} of the nodes:")
    print("\n".join(_chances(chances, upto=max(10, (nodes or 0) + 2))))
    print(_answer(nodes, arguments.chance))
    return 0


def _chances(chances: Mapping[int, float], upto: int) -> Iterator[str]:
    for n, chance in chances.items():
        if n <= upto:
            yield f"  {n:>2} nodes find all of them with {chance:.1%}"


def _answer(nodes: int | None, chance: float) -> str:
    return f"Nodes for {chance:.0%}: " + ("more than were looked at" if nodes is None else f"{nodes}")


def lines(found: "Detection", chance: float) -> Iterator[str]:
    """Yield what recorded runs say, for people."""
    from albacore.lab.detection import BIN, needed

    yield (
        f"{len(found.ranges)} configs on all nodes, {found.unstable} unstable (relative range over "
        f"{found.threshold:.2f}) in {found.runs} runs"
    )
    yield "unstable by threshold: " + ", ".join(f"{t:.2f} {(found.ranges > t).mean():.1%}" for t in THRESHOLDS)
    yield "relative ranges: " + ", ".join(f"{BIN * i:.2f} {n}" for i, n in enumerate(found.histogram()) if n)
    yield "nodes   one found   all of a run   one, any fleet   all, any fleet"
    for n in found.one_unlimited:
        if n <= found.nodes or n % 5 == 0:
            here = [f"{found.one[n]:.1%}", f"{found.all_of_run[n]:.1%}"] if n in found.one else ["", ""]
            any_fleet = [f"{found.one_unlimited[n]:.1%}", f"{found.all_unlimited[n]:.1%}"]
            yield f"{n:>5}   {here[0]:>9}   {here[1]:>12}   {any_fleet[0]:>14}   {any_fleet[1]:>14}"
    yield f"Any fleet, one config: {_answer(needed(found.one_unlimited, chance), chance)}"
    yield f"samples after their config was proven unstable: {found.freed} of {found.samples}"
    yield f"Any fleet, all of a run: {_answer(needed(found.all_unlimited, chance), chance)}"


def as_json(found: "Detection", chance: float) -> dict[str, Any]:
    """Return the same as plain data."""
    from albacore.lab.detection import BIN, needed

    return {
        "configs": len(found.ranges),
        "unstable": found.unstable,
        "runs": found.runs,
        "threshold": found.threshold,
        "unstable_by_threshold": {f"{t:.2f}": float((found.ranges > t).mean()) for t in THRESHOLDS},
        "samples": found.samples,
        "freed": found.freed,
        "histogram": {"width": BIN, "counts": found.histogram()},
        "one": found.one,
        "all_of_run": found.all_of_run,
        "one_unlimited": found.one_unlimited,
        "all_unlimited": found.all_unlimited,
        "needed": {
            "one": needed(found.one_unlimited, chance),
            "all_of_run": needed(found.all_unlimited, chance),
        },
    }
