"""Groups: control groups of version 1 that keep each kind of neighbour to its share, and nothing left of them after.

Each kind has a group below the caller's own, in the hierarchies cpu, memory and blkio (kernel: Documentation/
admin-guide/cgroup-v1). Processors are shared out by quota, so that a share is one whatever else runs; the disk by a
ceiling on what is written past the page cache.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from weather import KINDS

from albacore.errors import UserError

ROOT = Path("/sys/fs/cgroup")
NAME = "albacore-neighbours"
NEEDED = {"cpu": "cpu.cfs_quota_us", "memory": "memory.limit_in_bytes", "blkio": "blkio.throttle.write_bps_device"}
"""Hierarchy -> the file that it is needed for."""
PERIOD_US = 20_000
SHARES = 8192
"""Eight times the usual weight: a neighbour gets what its quota grants."""
MEMORY_BYTES = 1 << 30
GONE_WITHIN_S = 5.0


class Groups:
    """The groups of this process's neighbours; `opened` makes and removes them.

    Attributes:
        disk: "major:minor" of the device that the disk's neighbour is slowed on.
    """

    def __init__(self, own: dict[str, Path], disk: str) -> None:
        self._own, self._disk = own, disk

    def folders(self, kind: str) -> list[Path]:
        """Return a kind's group in each hierarchy."""
        return [own / f"{NAME}-{kind}" for own in self._own.values()]

    def make(self) -> None:
        """Make the groups; ones that a killed measurement left are ended first."""
        self.remove()
        for kind in KINDS:
            for folder in self.folders(kind):
                folder.mkdir()
            _write(self._file("cpu", kind, "cpu.shares"), SHARES)
            _write(self._file("cpu", kind, "cpu.cfs_period_us"), PERIOD_US)
            _write(self._file("memory", kind, "memory.limit_in_bytes"), MEMORY_BYTES)

    def _file(self, hierarchy: str, kind: str, name: str) -> Path:
        return self._own[hierarchy] / f"{NAME}-{kind}" / name

    def grant(self, kind: str, *, cores: float, write_bytes_per_s: int) -> None:
        """Set what a kind may use; 0 bytes is no ceiling."""
        _write(self._file("cpu", kind, "cpu.cfs_quota_us"), max(1000, round(cores * PERIOD_US)))
        _write(self._file("blkio", kind, NEEDED["blkio"]), f"{self._disk} {write_bytes_per_s}")

    def start(self, kind: str, argv: Sequence[str], place: Path) -> None:
        """Start a command as a member of a kind's groups from its first instruction on."""
        joined = "; ".join(f"echo $$ > {folder}/cgroup.procs" for folder in self.folders(kind))
        subprocess.Popen(
            ["/bin/sh", "-c", f'{joined}; exec "$@"', "sh", *argv],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end(self, kind: str) -> None:
        """Kill every member of a kind, and wait until none is left.

        Raises:
            UserError: When some are left.
        """
        until = time.monotonic() + GONE_WITHIN_S
        while members := self.members(kind):
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if time.monotonic() > until:
                raise UserError(f"{NAME}-{kind}: expected no process to be left, got {members}. End them by hand.")
            time.sleep(0.01)

    def members(self, kind: str) -> set[int]:
        """Return the processes of a kind."""
        found: set[int] = set()
        for folder in self.folders(kind):
            with contextlib.suppress(FileNotFoundError):
                found |= {int(line) for line in (folder / "cgroup.procs").read_text().split()}
        return found

    def remove(self) -> None:
        """End all members and remove the groups; idempotent."""
        for kind in KINDS:
            self.end(kind)
            for folder in self.folders(kind):
                with contextlib.suppress(FileNotFoundError):
                    folder.rmdir()


def _write(path: Path, value: object) -> None:
    path.write_text(f"{value}\n")


@contextlib.contextmanager
def opened(place: Path) -> Iterator[Groups]:
    """Yield groups whose disk is the one that `place` is on; they and their members are gone afterwards.

    Raises:
        UserError: When this machine or user has no control groups of version 1 to write.
    """
    own = {hierarchy: ROOT / hierarchy / _own_path(hierarchy) for hierarchy in NEEDED}
    for hierarchy, name in NEEDED.items():
        if not os.access(own[hierarchy], os.W_OK) or not list((ROOT / hierarchy).glob(f"**/{name}"))[:1]:
            wanted = "expected control groups of version 1 that we may write"
            raise UserError(f"{own[hierarchy]}: {wanted} ({name}). Run as root on a machine that mounts them there.")
    groups = Groups(own, _disk(place))
    try:
        groups.make()
        yield groups
    finally:
        groups.remove()


def _own_path(hierarchy: str) -> str:
    """Return where this process is in a hierarchy, without the leading slash (man 7 cgroups)."""
    rows = (line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines())
    return next((path.lstrip("/") for _, names, path in rows if hierarchy in names.split(",")), "")


def _disk(place: Path) -> str:
    """Return "major:minor" of the whole disk below a directory: a ceiling cannot be set on a partition."""
    device = place.stat().st_dev
    found = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    if (found / "partition").exists():
        found = found.parent
    if not (found / "dev").exists():
        raise UserError(f"{place}: expected a directory on a disk, its device is {os.major(device)}. Choose another.")
    return (found / "dev").read_text().strip()
