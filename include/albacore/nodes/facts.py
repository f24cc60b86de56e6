"""Tell what a machine is: the facts that bounds in knobs.toml are computed from, and those that explain a figure later.

Linux, standard library only and no import of Albacore: this file is copied to every node beside the agent.
"""

# Loading pathlib takes longer than most commands:

import contextlib
import os
import platform
import shutil
import socket

MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def _read(path: str) -> str:
    """Return a file's text, or nothing when it cannot be read."""
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def _value(text: str, key: str, separator: str) -> str:
    """Return the value of the first line that starts with a key."""
    lines = (line for line in text.splitlines() if line.startswith(key))
    return next(lines, separator).split(separator, 1)[1].strip().strip('"')


def ram_bytes() -> int:
    """Return the memory that may be used: the machine's, or less where a control group limits it."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [int(text) for path in MEMORY_LIMITS if (text := _read(path).strip()).isdigit()]
    return min([machine, *limits])


def facts(directory: str) -> dict:
    """Return the facts of the machine that a directory is on."""
    return {
        "ram_bytes": ram_bytes(),
        "disk_bytes": shutil.disk_usage(directory).total,
        "disk_free_bytes": shutil.disk_usage(directory).free,
        "cores": len(os.sched_getaffinity(0)),
        "cpu_model": _value(_read("/proc/cpuinfo"), "model name", ":") or platform.machine(),
        "kernel": platform.release(),
        "os": _value(_read("/etc/os-release"), "PRETTY_NAME=", "=") or platform.system(),
        "python": platform.python_version(),
        "boot_id": _read("/proc/sys/kernel/random/boot_id").strip(),
    }


def busy_ports(first: int, count: int) -> list[int]:
    """Return the ports of a range that somebody listens on; a connection's last minutes do not count."""
    busy = []
    for port in range(first, first + count):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                busy.append(port)
    return busy
