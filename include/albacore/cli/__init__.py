"""`albacore …`: the command line; one module per command or group of commands.

A module has a function `register(commands)` that adds its parser and sets `command`: a function of the parsed
arguments that returns the exit code. Imports that take long belong inside that function.

Exit codes: 0 done, 1 something is wrong with what was looked at, 2 something is wrong with what was asked.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from albacore import __version__
from albacore.cli import (
    act,
    check,
    cluster_size,
    history,
    importance,
    nodes,
    readiness,
    replay,
    show,
    simulate,
    smoke,
    spread,
    verdict,
)
from albacore.errors import AlbacoreError, UserError

GROUPS = (
    check,
    show,
    act,
    verdict,
    importance,
    spread,
    history,
    replay,
    cluster_size,
    simulate,
    readiness,
    nodes,
    smoke,
)
"""The modules with commands, in the order of the help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error of the user's is one line on standard error."""
    arguments = parser().parse_args(argv)
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


def parser() -> argparse.ArgumentParser:
    """Return the parser with every command."""
    found = argparse.ArgumentParser(
        prog="albacore",
        description="Check what a person wrote, show what a campaign run did, replay what was recorded.\n\n"
        "Exit codes: 0 done, 1 something is wrong with what was looked at, 2 with what was asked.",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    found.add_argument("--version", action="version", version=f"albacore {__version__}")
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    for group in GROUPS:
        group.register(commands)
    return found
