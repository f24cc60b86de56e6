"""`albacore nodes`: end what local nodes still run."""

import argparse
import os
from pathlib import Path
from typing import Any

from albacore.errors import UserError


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    nodes = commands.add_parser("nodes", help="end what local nodes still run")
    nodes.add_argument("action", choices=["stop"])
    nodes.add_argument(
        "--all", action="store_true", required=True, help="of this AIRFLOW_HOME: there is no other choice"
    )
    nodes.set_defaults(command=_stop_nodes)


def _stop_nodes(arguments: argparse.Namespace) -> int:
    from albacore.nodes.local import state_root, stop_all

    home = os.environ.get("AIRFLOW_HOME")
    if not home:
        raise UserError("nodes stop: expected AIRFLOW_HOME in the environment: it says whose nodes. Run 'make down'.")
    for line in stop_all(state_root(Path(home).absolute())):
        print(line)
    return 0
