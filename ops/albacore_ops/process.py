"""Which processes are ours, and how they are ended: by pid, start time and mark, never by a name.

A pid is reused by the system, so a pid alone proves nothing. A process is ours when the environment it was started with
holds this clone's mark (`layout.MARK`), which everything started by `make up` inherits. Read from /proc.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from albacore_ops.layout import MARK

PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """Identify one process for good: a pid, and when it was started."""

    pid: int
    start_ticks: int


def read(pid: int) -> Process | None:
    """Return the process with this pid, or None when there is none or it is a zombie."""
    try:
        # The second field is a name in parentheses and may hold anything, spaces and parentheses too.
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else Process(pid=pid, start_ticks=int(fields[19]))


def is_alive(process: Process) -> bool:
    """Return whether this very process still runs."""
    return read(process.pid) == process


def is_marked(pid: int, root: Path) -> bool:
    """Return whether a process was started, directly or not, by `make up` of this clone."""
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={root}".encode() in environment.split(b"\0")


def command_line(pid: int) -> str:
    """Return what a process calls itself, '' when it is gone."""
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def parent(pid: int) -> int:
    """Return the pid of the parent, 0 when the process is gone."""
    try:
        return int((PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def ancestry(pid: int) -> set[int]:
    """Return a process and all its ancestors."""
    line: set[int] = set()
    while pid > 0 and pid not in line:
        line.add(pid)
        pid = parent(pid)
    return line


def marked(root: Path) -> list[Process]:
    """Return every process of this clone, except the caller and its ancestors."""
    if not PROC.is_dir():
        return []
    own = ancestry(os.getpid())
    pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    found = [read(pid) for pid in pids if pid not in own and is_marked(pid, root)]
    return [process for process in found if process is not None]


def wait_gone(
    processes: Collection[Process], timeout_s: float, tick: Callable[[int], None] = lambda left: None
) -> list[Process]:
    """Return those that still run after the timeout, as soon as all are gone at best.

    Args:
        processes: Whom to wait for.
        timeout_s: How long.
        tick: Called with the number left, about ten times a second.
    """
    deadline = time.monotonic() + timeout_s
    left = [process for process in processes if is_alive(process)]
    while left and time.monotonic() < deadline:
        tick(len(left))
        time.sleep(0.1)
        left = [process for process in left if is_alive(process)]
    return left


def end(processes: Collection[Process], grace_s: float) -> list[Process]:
    """Ask processes to end, and kill those that do not within the grace; return the survivors (none, normally)."""
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 5.0)):
        for process in processes:
            if is_alive(process):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, number)
        processes = wait_gone(processes, patience_s)
    return list(processes)
