"""`albacore …`: check what a person wrote, show what a campaign run did.

Exit codes: 0 done, 1 something is wrong with what was looked at, 2 something is wrong with what was asked.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from albacore import __version__
from albacore.errors import AlbacoreError, UserError

if TYPE_CHECKING:
    from albacore.store import Store


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error of the user's is one line on standard error."""
    arguments = _parser().parse_args(argv)
    try:
        command: Callable[[argparse.Namespace], int] = arguments.command
        return command(arguments)
    except UserError as error:
        print(f"albacore: {error}", file=sys.stderr)
        return 2
    except AlbacoreError as error:
        print(f"albacore: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="albacore", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"albacore {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="check a campaign file, a knobs.toml, or a benchmark folder")
    check.add_argument("path", type=Path)
    check.set_defaults(command=_check)

    show = commands.add_parser("show", help="show every trial of a campaign run, and why its score is what it is")
    show.add_argument("run", nargs="?", help="id of a campaign run; without it, the runs are listed")
    show.add_argument("--store", help="SQLAlchemy URL of the store")
    show.add_argument("--verify", action="store_true", help="only say whether the run's log gives its decisions again")
    show.set_defaults(command=_show)

    nodes = commands.add_parser("nodes", help="end what local nodes still run")
    nodes.add_argument("action", choices=["stop"])
    nodes.add_argument(
        "--all", action="store_true", required=True, help="of this AIRFLOW_HOME: there is no other choice"
    )
    nodes.set_defaults(command=_stop_nodes)
    return parser


def _check(arguments: argparse.Namespace) -> int:
    from albacore.checking import check

    for line in check(arguments.path):
        print(line)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from albacore.showing import list_runs, show_run
    from albacore.store import Store, address

    store = Store(address.find(os.environ, arguments.store))
    store.migrate()
    if arguments.verify:
        return _verify(store, arguments.run)
    for line in show_run(store, arguments.run) if arguments.run else list_runs(store):
        print(line)
    return 0


def _verify(store: "Store", run: str | None) -> int:
    """Replay every decision of a run; 1 when one comes out otherwise."""
    from albacore.audit import audit, faults

    if run is None:
        raise UserError("show --verify: expected the id of a campaign run. 'albacore show' lists them.")
    wrong = list(faults(store, run))
    for line in [*audit(store, run), *(wrong or ["every one of them replays"])]:
        print(line)
    return 1 if wrong else 0


def _stop_nodes(arguments: argparse.Namespace) -> int:
    from albacore.nodes.local import state_root, stop_all

    home = os.environ.get("AIRFLOW_HOME")
    if not home:
        raise UserError("nodes stop: expected AIRFLOW_HOME in the environment: it says whose nodes. Run 'make down'.")
    for line in stop_all(state_root(Path(home).absolute())):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
