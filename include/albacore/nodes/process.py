"""Find and end processes on a node, by what cannot be mistaken for another process.

A pid alone is reused; with its start time it is not, and with the boot id not after a reboot either. Linux only,
standard library only: this file is copied to every node beside the agent.
"""

# Loading pathlib takes longer than most commands:

import contextlib
import os
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
END_WITHIN_S = 5.0


def boot_id() -> str:
    """Return what changes when the machine reboots."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat from the third on, or None when there is no such process."""
    with (
        contextlib.suppress(OSError),
        open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file,
    ):
        return file.read().rsplit(")", 1)[1].split()
    return None


def born(pid: int) -> str | None:
    """Return a live process's start time in clock ticks since boot (proc(5), field 22); None for a zombie or none."""
    fields = _stat(pid)
    return fields[19] if fields and fields[0] not in "ZX" else None


def identity(pid: int) -> dict:
    """Return what names a process for good."""
    return {"pid": pid, "born": born(pid), "boot": boot_id()}


def is_alive(who: dict) -> bool:
    """Say whether exactly that process lives."""
    return who["boot"] == boot_id() and who["born"] is not None and born(who["pid"]) == who["born"]


def send(who: dict | None, how: int) -> None:
    """Send a signal to a process, if it is still the one on record."""
    if who and is_alive(who):
        with contextlib.suppress(ProcessLookupError):
            os.kill(who["pid"], how)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent dies, so that none of them gets out of sight (prctl(2))."""
    import ctypes  # here, because only a supervisor needs it

    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _table() -> dict[int, list[str]]:
    """Return pid -> fields of stat for every process that is not a zombie."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return {pid: fields for pid in pids if (fields := _stat(pid)) and fields[0] not in "ZX"}


def _has_environment(pid: int, entry: bytes) -> bool:
    """Say whether a process was started with `NAME=value`; False when it may not be looked at."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return entry in file.read().split(b"\0")
    return False


def belonging(entry: str, leaders: list[dict], parent: int | None = None) -> set[int]:
    """Return the pids of everything that was started for a job, however it was detached.

    Args:
        entry: `NAME=value` that only the job's processes have in their environment.
        leaders: Identities of the verbs' processes, each the leader of its group; those of another boot are passed
            over.
        parent: A supervisor that adopts orphans: all its descendants belong to the job.
    """
    table, wanted, boot = _table(), entry.encode(), boot_id()
    groups = {str(who["pid"]) for who in leaders if who["boot"] == boot and born(who["pid"]) in (None, who["born"])}
    found = {pid for pid, fields in table.items() if fields[2] in groups or _has_environment(pid, wanted)}
    parents = found | ({parent} if parent else set())
    while more := {pid for pid, fields in table.items() if int(fields[1]) in parents} - found:
        found |= more
        parents |= more
    return found - {os.getpid(), os.getppid()}


def describe(pid: int) -> str:
    """Return a process's pid and command line for a log."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return f"{pid} {file.read(300).replace(bytes(1), b' ').decode(errors='replace').strip()}"
    return str(pid)


def kill_belonging(entry: str, leaders: list[dict], parent: int | None = None) -> list[str]:
    """Kill everything that belongs to a job, forks made meanwhile included, and return what that was."""
    killed: dict[int, str] = {}
    ends_at = time.monotonic() + END_WITHIN_S
    while (found := belonging(entry, leaders, parent)) and time.monotonic() < ends_at:
        for pid in found:
            killed.setdefault(pid, describe(pid))
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return list(killed.values())
