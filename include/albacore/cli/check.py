"""`albacore check`: a campaign file, an inventory, a knobs.toml or a benchmark folder."""

import argparse
from pathlib import Path
from typing import Any

from albacore.errors import UserError


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    check = commands.add_parser(
        "check", help="check a campaign file, an inventory, a knobs.toml, or a benchmark folder"
    )
    check.add_argument("path", type=Path)
    check.add_argument("--connect", action="store_true", help="of an inventory: log in to every host of role system")
    check.set_defaults(command=_check)


def _check(arguments: argparse.Namespace) -> int:
    from albacore.checking import check, check_inventory, is_inventory, key_of_connection

    if arguments.connect and not is_inventory(arguments.path):
        raise UserError(f"check --connect: expected an inventory, got {arguments.path}. Leave --connect out.")
    lines = check_inventory(arguments.path, key_of_connection) if arguments.connect else check(arguments.path)
    for line in lines:
        print(line)
    return 0
