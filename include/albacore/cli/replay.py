"""`albacore replay`: any policy on recorded samples."""

import argparse
import json
from pathlib import Path
from typing import Any

from albacore.errors import UserError
from albacore.trial import Direction


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    replay = commands.add_parser(
        "replay", help="run policies on recorded samples: choose from k nodes, judge on the others"
    )
    replay.add_argument("file", nargs="+", type=Path, help="recorded samples, of one run or of several")
    replay.add_argument(
        "--policy",
        action="append",
        metavar="P",
        help="a policy by name, such as tuna, or with settings: min:threshold=0.15,adjust=range; "
        "may be repeated; without it, all of them",
    )
    replay.add_argument("--k", default="3,5,7", help="how many nodes the policy sees (default: 3,5,7)")
    replay.add_argument("--label", help="the workload of all files, instead of what their names say")
    replay.add_argument("--direction", choices=list(Direction), help="which way the figures of all files improve")
    replay.add_argument("--json", action="store_true", help="print the figures as JSON")
    replay.set_defaults(command=_replay)


def _replay(arguments: argparse.Namespace) -> int:
    from albacore.history import read
    from albacore.lab import comparison, tables
    from albacore.lab.protocol import matrices, replay
    from albacore.policies.named import CHOICES, CURVE, DEFAULT, REFERENCE, choice

    ks = _ks(arguments.k)
    names = list(dict.fromkeys([REFERENCE, *(arguments.policy or CHOICES)]))
    curve = [f"{DEFAULT}:care={care:g}" for care in CURVE]
    choices = {name: choice(name) for name in dict.fromkeys([*names, *curve])}
    direction = Direction(arguments.direction) if arguments.direction else None
    runs = [run for path in arguments.file for run in read(path, label=arguments.label, direction=direction)]
    outcome = replay(matrices(runs), choices, ks, reference=REFERENCE)
    if arguments.json:
        print(json.dumps(comparison.as_json(outcome, names, curve, ks=ks, reference=REFERENCE), indent=1))
    else:
        tables.show(outcome, names, curve, ks=ks, reference=REFERENCE)
    return 0


def _ks(text: str) -> list[int]:
    """Return the numbers of seen nodes, each once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < int(part) < 1000 for part in parts):
        raise UserError(f"replay --k: expected numbers of nodes such as 3,5,7, got {text!r}.")
    return list(dict.fromkeys(int(part) for part in parts))
