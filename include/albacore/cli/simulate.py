"""`albacore simulate`: ways to tune, compared in a world whose truth is known."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from albacore.errors import UserError

if TYPE_CHECKING:
    from albacore.simulation.world import Setting


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    simulate = commands.add_parser("simulate", help="compare ways to tune in a made-up world whose truth is known")
    simulate.add_argument("--world", default="plain", help="a world by name (default: plain); docs/simulation.md")
    simulate.add_argument(
        "--contestant",
        action="append",
        metavar="C",
        help="a way to tune by name; may be repeated, the first is what others are compared with",
    )
    simulate.add_argument("--optimizer", default="forest", help="where none is named (default: forest)")
    for name, value, what in (
        ("runs", 20, "runs of each"),
        ("samples", 500, "samples of a run"),
        ("nodes", 10, "nodes of the fleet"),
        ("lanes", 12, "iterations at a time"),
        ("seed", 0, "number of the first run"),
    ):
        simulate.add_argument(f"--{name}", type=int, default=value, help=f"{what} (default: {value})")
    simulate.add_argument("--processes", type=int, help="how many work at a time (default: one per core)")
    simulate.add_argument(
        "--residuals", nargs="+", type=Path, metavar="FILE", help="draw residuals from these recorded samples"
    )
    simulate.add_argument("--json", action="store_true", help="print every run as JSON")
    simulate.set_defaults(command=_simulate)


def _simulate(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from albacore.simulation import tables
    from albacore.simulation.contest import Contest
    from albacore.simulation.contestants import CONTESTANTS, usual_optimizer
    from albacore.simulation.playing import Plan

    _check(arguments)
    usual_optimizer(arguments.optimizer, arguments.samples)
    names = list(dict.fromkeys(arguments.contestant or CONTESTANTS))
    contest = Contest(
        setting=_setting(arguments),
        contestants=names,
        optimizer=arguments.optimizer,
        runs=arguments.runs,
        first=arguments.seed,
        plan=Plan(samples=arguments.samples, lanes=arguments.lanes),
    )
    total = contest.runs * len(names)
    shipped = list(tqdm(contest.play(processes=arguments.processes), total=total, unit="run", file=sys.stderr))
    if arguments.json:
        print(json.dumps(tables.as_json(contest, shipped), indent=1))
    else:
        print("\n".join(tables.lines(contest, shipped)))
    return 0


def _setting(arguments: argparse.Namespace) -> "Setting":
    from dataclasses import replace

    from albacore.history import read
    from albacore.simulation import worlds

    setting = worlds.by_name(arguments.world)
    if arguments.residuals:
        setting = worlds.with_residuals(setting, [run for path in arguments.residuals for run in read(path)])
    return replace(setting, weather=replace(setting.weather, nodes=arguments.nodes))


def _check(arguments: argparse.Namespace) -> None:
    """Refuse numbers that make no run.

    Raises:
        UserError: When one is out of its range.
    """
    least = {"runs": 1, "nodes": 2, "lanes": 1, "seed": 0, "samples": 2 * arguments.nodes}
    for name, low in least.items():
        if getattr(arguments, name) < low:
            raise UserError(f"simulate --{name}: expected at least {low}, got {getattr(arguments, name)}.")
    if arguments.processes is not None and arguments.processes < 1:
        raise UserError(f"simulate --processes: expected at least 1, got {arguments.processes}.")
