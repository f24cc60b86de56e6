"""`albacore check`: a campaign file, a knobs.toml or a benchmark folder."""

import argparse
from pathlib import Path
from typing import Any


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    check = commands.add_parser("check", help="check a campaign file, a knobs.toml, or a benchmark folder")
    check.add_argument("path", type=Path)
    check.set_defaults(command=_check)


def _check(arguments: argparse.Namespace) -> int:
    from albacore.checking import check

    for line in check(arguments.path):
        print(line)
    return 0
