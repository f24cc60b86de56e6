"""Stop everything that `make up` started, and all that was started by it, and nothing else.

In three steps: the supervisor ends its four processes, gently; the library ends the detached jobs and servers of the
local nodes by their pid files; what still carries this clone's mark is ended, e.g. after the supervisor itself was
killed.
"""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from albacore_ops import process, supervision
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError

# The supervisor stops its processes at the same time and kills those that take longer than supervision.STOP_S.
SUPERVISOR_S = 45.0
GRACE_S = 5.0
NODES_S = 120.0


def run(layout: Layout) -> None:
    """Stop everything; doing it twice is fine."""
    started = time.monotonic()
    if not stop(layout, quiet=False):
        print("albacore: nothing runs", flush=True)
        return
    print(f"albacore: everything is stopped after {time.monotonic() - started:.0f} s", flush=True)


def stop(layout: Layout, *, quiet: bool) -> bool:
    """Return whether there was anything to stop; afterwards there is not.

    Raises:
        RefusalError: A process cannot be ended.
    """
    ours = process.marked(layout.root)
    running = supervision.recall(layout)
    if running is not None:
        _stop_supervisor(running.pid, ours, quiet=quiet)
    had_nodes = stop_nodes(layout)
    left = process.end(process.marked(layout.root), GRACE_S)
    if left:
        pids = ", ".join(f"{each.pid} ({process.command_line(each.pid)[:60]})" for each in left)
        raise RefusalError(f"could not end process {pids}: end it as the user who owns it")
    layout.running.unlink(missing_ok=True)
    _remove_socket_folder(layout.socket)
    return bool(ours) or had_nodes


def _stop_supervisor(pid: int, ours: list[process.Process], *, quiet: bool) -> None:
    """Ask the supervisor to end its processes and itself."""
    told: set[int] = set()

    def tick(left: int) -> None:
        if not quiet and left not in told:
            told.add(left)
            print(f"albacore: stopping, {left} processes left", flush=True)

    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    supervisor = [each for each in ours if each.pid == pid]
    process.wait_gone(supervisor, SUPERVISOR_S, lambda _: tick(len([each for each in ours if process.is_alive(each)])))


def stop_nodes(layout: Layout) -> bool:
    """Let the library end the jobs and servers of the local nodes; return whether it says that it ended any.

    The library prints one line for what it ended and nothing when there was nothing.
    """
    library = layout.root / "include"
    if not layout.python.exists() or not (library / "albacore" / "cli.py").exists():
        return False
    environment = layout.environment(os.environ) | {"PYTHONPATH": str(library)}
    command = [str(layout.python), "-m", "albacore.cli", "nodes", "stop", "--all"]
    try:
        done = subprocess.run(
            command, cwd=layout.state, env=environment, capture_output=True, text=True, timeout=NODES_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RefusalError(f"the local nodes did not stop within {NODES_S:.0f} s: run `make down` again") from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise RefusalError(f"the local nodes could not be stopped: {said}")
    print(done.stdout, end="", flush=True)
    return bool(done.stdout.strip())


def _remove_socket_folder(socket: Path) -> None:
    """Remove the supervisor's socket and its folder, when they are ours."""
    if socket.parent.is_symlink() or not socket.parent.is_dir() or socket.parent.stat().st_uid != os.getuid():
        return
    for entry in socket.parent.glob(socket.name + "*"):
        entry.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        socket.parent.rmdir()
