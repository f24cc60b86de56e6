"""The commands behind the Makefile that concern a running Airflow; `bootstrap.py` has prepared `.venv` by then."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from albacore_ops import doctor, down, extend, history, launch, status, supervision, up
from albacore_ops.layout import Layout, read_port
from albacore_ops.refusal import RefusalError

ROOT = Path(__file__).resolve().parents[2]
INTERRUPTED = 130


def main(arguments: list[str]) -> int:
    """Run one command; return the exit code."""
    command, *rest = arguments or ["up"]
    try:
        return run(command, rest)
    except RefusalError as refusal:
        print(f"albacore: {refusal}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"albacore: the system refused: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nalbacore: interrupted", file=sys.stderr)
        return INTERRUPTED


def run(command: str, arguments: list[str]) -> int:
    """Do what the command says; return the exit code."""
    if command == "launch":
        return launch.main(arguments)
    # The others learn the port from the supervisor that runs: a mistyped wish must not keep `make down` from working.
    layout = Layout(root=ROOT, port=read_port(os.environ)) if command in ("up", "tune") else Layout(root=ROOT)
    if command == "doctor":
        return doctor.run(layout)
    if command == "status":
        return status.run(layout)
    if command in ("up", "down"):
        with one_at_a_time(layout):
            up.run(layout) if command == "up" else down.run(layout)
        return 0
    if command == "clean-history":
        return history.clean(layout)
    if command in ("tune", "follow"):
        return tune(layout, arguments[0] if arguments else "demo", is_start=command == "tune")
    if command == "extend":
        return extend.run(layout, arguments)
    raise RefusalError(f"unknown command {command!r}: see `make help`")


def tune(layout: Layout, campaign: str, *, is_start: bool) -> int:
    """Follow a campaign in the terminal, starting Airflow and a run of it when asked to."""
    # Imported here: it draws with a package, and the other commands need none.
    from albacore_ops import follow

    if is_start:
        with one_at_a_time(layout):
            layout = up.run(layout)
    else:
        running = supervision.recall(layout)
        if running is None:
            raise RefusalError("nothing runs: start it with `make tune`")
        layout = replace(layout, port=running.port)
    return follow.run(layout, campaign, is_start=is_start)


@contextmanager
def one_at_a_time(layout: Layout) -> Iterator[None]:
    """Hold the clone's lock while processes are started or stopped; a second command waits for the first."""
    layout.state.mkdir(mode=0o700, exist_ok=True)
    with (layout.state / "command.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("albacore: another command starts or stops this clone: waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
