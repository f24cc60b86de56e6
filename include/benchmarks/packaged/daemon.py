"""Launch and end one server, and leave nothing of it behind.

Its processes are found by their working directory, the data directory for life: unlike a pid file that survives a
deleted file, a reused pid and a server that never got as far as writing one. Linked like contract.py.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from contract import DISK_FULL, ConfigError, LoadError, Node, NodeError

POLL_S = 0.02
POLITE_S = 4.0
KILL_S = 10.0
PORT_TAKEN = "Address already in use"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def processes(data: Path) -> list[int]:
    """List the pids of every process that works in a directory; zombies do not count."""
    home = os.path.realpath(data)
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.readlink(f"/proc/{name}/cwd").removesuffix(" (deleted)") == home:
                found.append(int(name))
    return found


def usage(data: Path) -> tuple[float, float]:
    """Give the CPU time in ms that the server has used so far, and the bytes of memory that it holds now."""
    ticks, pages = 0, 0
    for pid in processes(data):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return 1000.0 * ticks / TICKS_PER_S, float(pages * PAGE_BYTES)


def launch(node: Node, command: Sequence[str], is_ready: Callable[[], bool], timeout_s: float) -> None:
    """Start the server in the data directory as the node's uid, and wait until it is ready.

    Raises:
        ConfigError: When it ends, or is not ready in time; nothing of it is left then.
        NodeError: When the disk is full or another program has its port.
    """
    with node.log.open("wb") as log:
        server = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=node.data,
            env=node.surroundings(),
            start_new_session=True,
            **node.identity(),
        )
    deadline = time.monotonic() + timeout_s
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if is_ready():
                return
        time.sleep(POLL_S)
    is_alive = server.poll() is None
    why = f"the server was not ready after {timeout_s:g} s" if is_alive else f"the server ended: {server.returncode}"
    end(node.data, patience_s=0, reap=server.poll)
    raise failure(node, why)


def failure(node: Node, why: str) -> ConfigError | NodeError:
    """Make the error for a server that failed, with its last lines; a full disk or a taken port is the node's fault."""
    words = node.keep_log()
    is_nodes = DISK_FULL in words or PORT_TAKEN in words
    return (NodeError if is_nodes else ConfigError)(f"{why}. Its last lines:\n{words}")


def lost(node: Node, why: str) -> ConfigError | NodeError | LoadError:
    """Make the error for a load that lost its server: the config's when the server is gone, else the load's own."""
    deadline = time.monotonic() + 1.0  # a client hears of the end before the process is gone
    while processes(node.data) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    if processes(node.data):
        node.keep_log()
        return LoadError(f"{why}, and the server still runs.")
    return failure(node, f"the server died under load: {why}")


def end(
    data: Path,
    *,
    patience_s: float = POLITE_S,
    polite: int = signal.SIGTERM,
    reap: Callable[[], object] = lambda: None,
) -> None:
    """End everything that works in a data directory, politely, then by force, and wait until it is gone.

    Args:
        data: The data directory.
        patience_s: How long politeness may take; 0: none is tried.
        polite: The signal that asks for an orderly end.
        reap: Called while waiting, so that a child of this very process does not stay a zombie.

    Raises:
        NodeError: When a process survives SIGKILL.
    """
    for number, wait_s in ((polite, patience_s), (signal.SIGKILL, KILL_S)):
        deadline = time.monotonic() + wait_s
        pids = processes(data) if wait_s else []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        while pids and time.monotonic() < deadline:
            time.sleep(POLL_S)
            reap()
            pids = processes(data)
    if left := processes(data):
        raise NodeError(f"{data}: expected no process after SIGKILL, these are left: {left}. Reboot the node.")


def is_listening(port: int) -> bool:
    """Tell whether somebody accepts connections on a local port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
