"""`albacore show`: what a campaign run did, and whether its log gives it again."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from albacore.errors import UserError

if TYPE_CHECKING:
    from albacore.store import Store


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    show = commands.add_parser("show", help="show every trial of a campaign run, and why its score is what it is")
    show.add_argument("run", nargs="?", help="id of a campaign run; without it, the runs are listed")
    show.add_argument("--store", help="SQLAlchemy URL of the store")
    show.add_argument("--verify", action="store_true", help="only say whether the run's log gives its decisions again")
    show.set_defaults(command=_show)


def _show(arguments: argparse.Namespace) -> int:
    from albacore.runs.showing import list_runs, show_run
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
    from albacore.runs.audit import audit, faults

    if run is None:
        raise UserError("show --verify: expected the id of a campaign run. 'albacore show' lists them.")
    wrong = list(faults(store, run))
    for line in [*audit(store, run), *(wrong or ["every one of them replays"])]:
        print(line)
    return 1 if wrong else 0
