"""Know what the benchmark contract says of a node: its places, as whom the system runs, which exit code blames whom.

Folders that need it link to it: a folder is copied to a node alone, with the text in the link's place, and stands alone
there. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

DISK_FULL = "No space left on device"


class BlamedError(Exception):
    """End an executable with the exit code that says who is to blame."""

    code = 1


class ConfigError(BlamedError):
    """Say that the system refuses this config, crashes, hangs or runs out of memory under it."""

    code = 10


class LoadError(BlamedError):
    """Say that the load generator itself broke, or was too slow for its load."""

    code = 20


class NodeError(BlamedError):
    """Say that the node cannot do its work: disk full, something missing, no permission."""

    code = 30


@contextlib.contextmanager
def blame() -> Iterator[None]:
    """Turn what went wrong inside into a message on standard error and the contract's exit code.

    Raises:
        SystemExit: With the code of the BlamedError, or 30 for a full disk.
    """
    try:
        yield
    except BlamedError as error:
        print(error, file=sys.stderr)
        raise SystemExit(error.code) from None
    except OSError as error:
        if error.strerror != DISK_FULL:
            raise
        print(f"disk full: {error}. Free some space on the node.", file=sys.stderr)
        raise SystemExit(NodeError.code) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Hold what the environment says of this node, and the places that follow from it."""

    root: Path
    system: Path
    job: Path
    port: int
    uid: int | None
    seed: int
    workload: Path | None

    @classmethod
    def from_environment(cls, **more: Any) -> Self:
        """Read the contract's variables.

        Args:
            more: Fields that a subclass adds.
        """
        environment = os.environ
        workload = environment.get("ALBACORE_WORKLOAD_DIR")
        return cls(
            root=Path(environment["ALBACORE_NODE_DIR"]).resolve(),
            system=Path(environment["ALBACORE_SYSTEM_DIR"]),
            job=Path(environment["ALBACORE_JOB_DIR"]),
            port=int(environment["ALBACORE_PORT"]),
            uid=int(environment["ALBACORE_UID"]) if environment.get("ALBACORE_UID") else None,
            seed=int(environment.get("ALBACORE_SEED") or 0),
            workload=Path(workload) if workload else None,
            **more,
        )

    @property
    def programs(self) -> Path:
        """Name the folder with a link to each program; a user's own build may lie there in a link's place."""
        return self.root / "install" / "bin"

    @property
    def data(self) -> Path:
        """Name the data directory of the running system, made anew by each start."""
        return self.root / "data"

    @property
    def golden(self) -> Path:
        """Name the workload's golden copy.

        Raises:
            NodeError: When no workload is named.
        """
        if self.workload is None:
            raise NodeError("ALBACORE_WORKLOAD_DIR: expected the workload's folder, it is not set.")
        return self.root / "golden" / self.workload.name

    @property
    def log(self) -> Path:
        """Name the server's log; its end is copied into the job's directory."""
        return self.root / "server.log"

    def program(self, name: str) -> str:
        """Give the path of one of the system's programs.

        Raises:
            NodeError: When it is not installed.
        """
        path = self.programs / name
        if not path.is_file():
            raise NodeError(f"{path}: expected the program, nothing is there. Run `install` on this node first.")
        return str(path)

    def identity(self) -> dict[str, Any]:
        """Give the arguments that make `subprocess` run a child as the node's unprivileged uid."""
        return {} if self.uid is None else {"user": self.uid, "group": self.uid, "extra_groups": []}

    def surroundings(self) -> dict[str, str]:
        """Give the environment of the system's programs."""
        path = os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        return {"PATH": path, "HOME": str(self.root), "LC_ALL": "C", "TZ": "UTC"}

    def own(self, path: Path) -> Path:
        """Make a directory that belongs to the node's uid alone, and return it; what is in it is left as it is."""
        path.mkdir(parents=True, exist_ok=True)
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)
        path.chmod(0o700)
        return path

    def restore(self) -> None:
        """Replace the data directory by the golden copy, so that each sample begins from the same bytes.

        Raises:
            NodeError: When there is no finished golden copy, or no room for another one.
        """
        if not self.golden.is_dir():
            raise NodeError(f"{self.golden}: expected the golden copy. Run the workload's `load` on this node again.")
        remove(self.data)
        copy = ["cp", "-a", "--reflink=auto", str(self.golden), str(self.data)]
        said = subprocess.run(copy, capture_output=True, text=True, check=False)
        if said.returncode:
            remedy = "Free some space on the node." if DISK_FULL in said.stderr else "See the message."
            raise NodeError(f"cannot copy {self.golden}: {said.stderr.strip()[-500:]} {remedy}")

    def keep_log(self, lines: int = 200) -> str:
        """Copy the end of the server's log into the job's directory and return its last lines."""
        if not self.log.is_file():
            return ""
        end = self.log.read_text(errors="replace").splitlines()[-lines:]
        (self.job / "server.log").write_text("\n".join(end) + "\n")
        return "\n".join(end[-15:])

    def write(self, name: str, content: object) -> None:
        """Put a JSON file into the job's directory, whole or not at all."""
        partial = self.job / f".{name}"
        partial.write_text(json.dumps(content, indent=1))
        partial.rename(self.job / name)


def give(path: Path, uid: int | None) -> None:
    """Hand a directory tree over to a uid; without one it stays the caller's."""
    if uid is None:
        return
    for folder, _, files in os.walk(path):
        for name in (folder, *(os.path.join(folder, file) for file in files)):
            os.chown(name, uid, uid, follow_symlinks=False)


def read_json(variable: str) -> dict[str, Any]:
    """Read the JSON object whose path is in an environment variable; without the variable it is empty."""
    path = os.environ.get(variable)
    return json.loads(Path(path).read_text()) if path else {}


def remove(path: Path) -> None:
    """Remove a directory tree; one that is not there is fine."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)


def percentile(values: list[float], percent: int) -> float:
    """Give the nearest-rank percentile of values in any order."""
    return sorted(values)[max(0, -(-percent * len(values) // 100) - 1)]


def metrics(**values: tuple[float, str]) -> dict[str, Any]:
    """Make the content of metrics.json from pairs of value and unit."""
    return {"metrics": {name: {"value": round(value, 4), "unit": unit} for name, (value, unit) in values.items()}}
