"""Start, check and end one PostgreSQL server, and leave nothing of it behind.

Its processes are found by their working directory, which PostgreSQL keeps at the data directory for life: unlike
postmaster.pid that survives a deleted file, a reused pid and a server that never got as far as writing one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from contract import DISK_FULL, ConfigError, NodeError
from postgres import Node

POLL_S = 0.02
FAST_STOP_S = 3.0
IMMEDIATE_STOP_S = 3.0
KILL_STOP_S = 10.0
IPC_RMID = 0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SHARED_MEMORY = re.compile(r"/dev/shm/PostgreSQL\.\d+")  # noqa: S108 - read from a process's map, nothing is made
KNOB_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z")


def write_config(path: Path, config: dict[str, str]) -> None:
    """Write every value of a config as a line that PostgreSQL reads back unchanged.

    Raises:
        ConfigError: When a name or a value cannot be written into a configuration file.
    """
    lines = []
    for name, value in config.items():
        if not KNOB_NAME.match(name) or not value.isprintable():
            raise ConfigError(f"knob {name!r}: expected a name and a printable value, given {value!r}.")
        escaped = value.replace("\\", "\\\\").replace("'", "''")
        lines.append(f"{name} = '{escaped}'\n")
    path.write_text("".join(lines))


def processes(data: Path) -> list[int]:
    """List the pids of every process of the server on a data directory; zombies do not count."""
    home = os.path.realpath(data)
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if os.readlink(f"{entry.path}/cwd").removesuffix(" (deleted)") == home:
                found.append(int(entry.name))
    return found


def _stat(pid: int) -> list[str]:
    """Read the fields of /proc/PID/stat from the state on; the name before may hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def postmaster(pids: list[int]) -> int | None:
    """Find the parent among the server's processes."""
    parents = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            parents[pid] = int(_stat(pid)[1])
    return next((pid for pid, parent in parents.items() if parent not in parents), None)


def cpu_ms(data: Path) -> float:
    """Sum the CPU time in ms that the server has used so far, with that of children already gone."""
    pids = processes(data)
    parent = postmaster(pids)
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = _stat(pid)
            ticks += sum(int(field) for field in fields[11 : 15 if pid == parent else 13])
    return 1000.0 * ticks / TICKS_PER_S


def _settings(node: Node, extra: dict[str, str]) -> list[str]:
    """Give the arguments that no config may override; no TCP port is opened, the number only names the socket."""
    fixed = {
        "port": str(node.port),
        "listen_addresses": "",
        "unix_socket_directories": f'"{node.socket_directory()}"',
        "logging_collector": "off",
        "log_destination": "stderr",
        **extra,
    }
    return [part for name, value in fixed.items() for part in ("-c", f"{name}={value}")]


def launch(node: Node, data: Path, timeout_s: float, extra: dict[str, str] | None = None) -> None:
    """Start the server on a data directory and wait until it accepts connections.

    Raises:
        ConfigError: When it ends, or is not ready in time; nothing of it is left then.
        NodeError: When the disk is full.
    """
    command = [node.program("postgres"), "-D", str(data), *_settings(node, extra or {})]
    with node.log.open("wb") as log:
        server = subprocess.Popen(  # pyright: ignore[reportCallIssue]
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data,
            env=node.surroundings(),
            start_new_session=True,
            **node.identity(),  # pyright: ignore[reportArgumentType]
        )
    deadline = time.monotonic() + timeout_s
    while server.poll() is None and time.monotonic() < deadline:
        if _is_ready(data):
            return
        time.sleep(POLL_S)
    why = f"the server was not ready after {timeout_s:g} s" if server.poll() is None else "the server refused to start"
    end(data, patience_s=0, reap=server.poll)
    raise failure(node, why)


def _is_ready(data: Path) -> bool:
    """Tell whether the server has declared itself ready in the eighth line of its pid file."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return False
    return len(lines) >= 8 and lines[7].strip() == "ready"


def failure(node: Node, why: str) -> ConfigError | NodeError:
    """Make the error for a server that failed, with its last lines; a full disk is the node's fault."""
    end_of_log = node.keep_log()
    # A full /dev/shm says the same words, but there it is the config that asked for too much.
    full = any(DISK_FULL in line and "shared memory" not in line for line in end_of_log.splitlines())
    return (NodeError if full else ConfigError)(f"{why}. Its last lines:\n{end_of_log}")


def end(data: Path, *, patience_s: float = FAST_STOP_S, reap: Callable[[], object] = lambda: None) -> bool:
    """End the server on a data directory, politely, then by force, and wait until it is gone.

    Args:
        data: The data directory.
        patience_s: How long a fast shutdown may take, which leaves a consistent data directory; 0: none is tried.
        reap: Called while waiting, so that a child of this very process does not stay a zombie.

    Returns:
        Whether politeness was enough, or nothing was there to end.

    Raises:
        NodeError: When a process survives SIGKILL.
    """
    if patience_s and _signalled(data, signal.SIGINT, patience_s, reap):
        return True
    if _signalled(data, signal.SIGQUIT, IMMEDIATE_STOP_S, reap):
        return False
    leftovers = _shared_memory(data, processes(data))
    gone = _signalled(data, signal.SIGKILL, KILL_STOP_S, reap)
    for clean in leftovers:
        clean()
    if not gone:
        raise NodeError(
            f"{data}: expected no process after SIGKILL, these are left: {processes(data)}. Reboot the node."
        )
    return False


def _signalled(data: Path, number: int, wait_s: float, reap: Callable[[], object]) -> bool:
    """Signal all processes of the server (SIGINT: only their parent) and tell whether all of them went in time."""
    deadline = time.monotonic() + wait_s
    pids = processes(data)
    parent = postmaster(pids)
    targets = [pid for pid in pids if pid == parent] if number == signal.SIGINT else pids
    for pid in targets:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    while pids and time.monotonic() < deadline:
        time.sleep(POLL_S)
        reap()
        pids = processes(data)
    return not pids


def _shared_memory(data: Path, pids: list[int]) -> list[Callable[[], None]]:
    """Collect what removes the shared memory that a killed server cannot remove itself."""
    actions: list[Callable[[], None]] = []
    with contextlib.suppress(OSError, IndexError, ValueError):
        segment = int((data / "postmaster.pid").read_text().splitlines()[6].split()[1])
        actions.append(lambda: ctypes.CDLL(None).shmctl(segment, IPC_RMID, None))
    names = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            names.update(SHARED_MEMORY.findall(Path(f"/proc/{pid}/maps").read_text()))
    actions.extend(lambda path=Path(name): path.unlink(missing_ok=True) for name in names)
    return actions
