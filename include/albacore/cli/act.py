"""`albacore stop|extend|exclude|requeue`: what a person does to a campaign run, from a terminal."""

import argparse
import getpass
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

from albacore.errors import UserError

if TYPE_CHECKING:
    from albacore.store import Store


def register(commands: Any) -> None:
    """Add the commands to the subparsers of the command line."""
    stop = _command(commands, "stop", _stop, "let a campaign run ask no more; what it found is validated")
    stop.add_argument("--reason", default="", help="why, for the log")

    extend = _command(commands, "extend", _extend, "give a campaign run new totals; one that has ended goes on")
    extend.add_argument("--samples", type=int, help="new total of samples")
    extend.add_argument("--hours", type=float, help="new total of hours")
    extend.add_argument("--cost", type=float, help="new total of cost, where the campaign has a price")

    exclude = _command(commands, "exclude", _exclude, "let samples of a node count no more, or again")
    exclude.add_argument("--node", help="the node that measured them")
    exclude.add_argument("--since", help="when the first one began: epoch seconds or 2030-12-31T23:59:59+00:00")
    exclude.add_argument("--until", help="when the last one began; now by default")
    exclude.add_argument("--reason", default="", help="why, for the log")
    exclude.add_argument("--undo", metavar="ID", help="take an exclusion back")

    requeue = _command(commands, "requeue", _requeue, "have a config of a campaign run measured again")
    requeue.add_argument("config", help="id of the config")
    requeue.add_argument("--reason", default="", help="why, for the log")


def _command(commands: Any, name: str, function: Any, text: str) -> argparse.ArgumentParser:
    """Return the parser of a command on one run."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text)
    parser.add_argument("run", help="id of a campaign run")
    parser.add_argument("--store", help="SQLAlchemy URL of the store")
    parser.set_defaults(command=function)
    return parser


def _store(arguments: argparse.Namespace) -> "Store":
    from albacore.store import Store, address

    store = Store(address.find(os.environ, arguments.store))
    store.migrate()
    return store


def _stop(arguments: argparse.Namespace) -> int:
    from albacore.runs import action

    action.stop(_store(arguments), arguments.run, by=_me(), reason=arguments.reason)
    print(f"{arguments.run} asks no more: what is in flight is finished, then its best config is validated")
    return 0


def _extend(arguments: argparse.Namespace) -> int:
    from albacore.runs import action

    given = {"samples": arguments.samples, "hours": arguments.hours, "cost": arguments.cost}
    limits = action.extend(_store(arguments), arguments.run, by=_me(), **given)
    print(f"{arguments.run}: limits now " + ", ".join(f"{value:g} {name}" for name, value in limits.items()))
    return 0


def _exclude(arguments: argparse.Namespace) -> int:
    from albacore.runs import exclusion

    store = _store(arguments)
    if arguments.undo:
        exclusion.undo_exclude(store, arguments.run, by=_me(), exclusion=arguments.undo)
        print(f"{arguments.run}: exclusion {arguments.undo} is taken back" + _concluded(store, arguments.run))
        return 0
    if not arguments.node or not arguments.since:
        raise UserError("exclude: expected --node and --since, or --undo ID. Give them.")
    until = _time("until", arguments.until) if arguments.until else store.clock()
    span = exclusion.Span(node=arguments.node, since=_time("since", arguments.since), until=until)
    name = exclusion.exclude(store, arguments.run, span, by=_me(), reason=arguments.reason)
    takes_back = f"'albacore exclude {arguments.run} --undo {name}' takes it back"
    print(f"{arguments.run}: excluded as {name}; {takes_back}" + _concluded(store, arguments.run))
    return 0


def _concluded(store: "Store", run_id: str) -> str:
    """Return what a change of what counts means for the verdict of a run that has one."""
    from albacore.runs import conclusion

    return "; its verdict is another one now" if conclusion.conclude_again(store, run_id) else ""


def _requeue(arguments: argparse.Namespace) -> int:
    from albacore.runs import exclusion

    store = _store(arguments)
    exclusion.requeue(store, arguments.run, by=_me(), config_id=arguments.config, reason=arguments.reason)
    print(f"{arguments.run}: config {arguments.config} is measured again, before anything new")
    return 0


def _time(name: str, text: str) -> float:
    """Return seconds since the epoch.

    Raises:
        UserError: The text is neither a number nor a date with its offset.
    """
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UserError(
            f"{name}: expected seconds since the epoch or a time such as 2030-12-31T23:59:59+00:00, got {text!r:.60}."
        )
    return moment.timestamp()


def _me() -> str:
    """Return who types."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a uid without a name
        return f"uid {os.getuid()}"
