"""Know one node's PostgreSQL: where its files are, as whom it runs, and which exit code blames whom.

The executables beside this file are small because what they share is here. Nothing but the standard library is used, so
the folder works on any node with a Python; nothing here knows who calls it beyond the environment of the contract.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from software import WHEEL, missing, programs

VERSION = "16.2"
USER = "albacore"
DATABASE = "postgres"
# A socket's address holds 107 bytes; the rest is left for names that the system may add.
MAX_SOCKET_BYTES = 100
DISK_FULL = "No space left on device"


class BlamedError(Exception):
    """End an executable with the exit code that says who is to blame."""

    code = 1


class ConfigError(BlamedError):
    """Say that the system refuses this config, crashes, hangs or runs out of memory under it."""

    code = 10


class LoadError(BlamedError):
    """Say that the load generator itself broke."""

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
    server: str = WHEEL

    @classmethod
    def from_environment(cls) -> Node:
        """Read the contract's variables."""
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
            server=read_json("ALBACORE_PARAMS").get("server", WHEEL),
        )

    @property
    def software(self) -> Path:
        """Name the folder of the copied software; the wheel's layout is kept, for its libraries are found by it."""
        return self.root / "install" / "postgres"

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

    @property
    def sockets(self) -> Path:
        """Name the directory of the server's socket: private, so that `trust` trusts nobody else."""
        return self.root / "s"

    def program(self, name: str) -> str:
        """Give the path of one of the system's binaries.

        Raises:
            NodeError: When it is not installed.
        """
        path = programs(self.server, self.software) / name
        if not path.is_file():
            raise NodeError(missing(self.server, path))
        return str(path)

    def identity(self, *, named: bool = False) -> dict[str, object]:
        """Give the arguments that make `subprocess` run a child as the node's unprivileged uid.

        Args:
            named: Whether the child needs a uid that the system has a name for; the node's own has none. It keeps the
                node's group, which lets it into the node's directory.
        """
        if self.uid is None:
            return {}
        return {"user": named_uid(self.uid) if named else self.uid, "group": self.uid, "extra_groups": []}

    def surroundings(self) -> dict[str, str]:
        """Give the environment of the system's programs: the caller's PG* variables and locale stay outside."""
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.root),
            "LC_ALL": "C",
            "TZ": "UTC",
            "PGHOST": str(self.sockets),
            "PGPORT": str(self.port),
            "PGUSER": USER,
            "PGDATABASE": DATABASE,
        }

    def run(
        self,
        name: str,
        *arguments: str,
        timeout_s: float,
        text: str | None = None,
        named: bool = False,
        options: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the system's programs as the node's uid and return what it said; a bad exit code is returned too.

        Args:
            named: See `identity`.
            options: Settings of its sessions on the server, as `-c name=value`.

        Raises:
            NodeError: When the uid may not execute it.
        """
        try:
            return subprocess.run(  # pyright: ignore[reportCallIssue]
                [self.program(name), *arguments],
                input=text if text is not None else "",
                capture_output=True,
                text=True,
                timeout=timeout_s,
                cwd="/",
                env={**self.surroundings(), "PGOPTIONS": options},
                check=False,
                **self.identity(named=named),  # pyright: ignore[reportArgumentType]
            )
        except PermissionError as error:
            raise NodeError(
                f"{error}: uid {self.uid} cannot reach it. Choose a node directory whose parents it may enter."
            ) from None

    def own(self, path: Path) -> Path:
        """Make a directory that belongs to the node's uid alone, and return it; what is in it is left as it is."""
        path.mkdir(parents=True, exist_ok=True)
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)
        path.chmod(0o700)
        return path

    def socket_directory(self) -> Path:
        """Make the socket's directory.

        Raises:
            NodeError: When the socket's address would be too long for the system.
        """
        address = os.fsencode(self.sockets / f".s.PGSQL.{self.port}")
        if len(address) > MAX_SOCKET_BYTES:
            raise NodeError(
                f"socket path {os.fsdecode(address)}: expected at most {MAX_SOCKET_BYTES} bytes, given {len(address)}. "
                "Choose a node directory with a shorter path."
            )
        return self.own(self.sockets)

    def keep_log(self, lines: int = 200) -> str:
        """Copy the end of the server's log into the job's directory and return its last lines."""
        if not self.log.is_file():
            return ""
        end = self.log.read_text(errors="replace").splitlines()[-lines:]
        (self.job / "server.log").write_text("\n".join(end) + "\n")
        return "\n".join(end[-15:])


def named_uid(uid: int) -> int:
    """Return the uid itself when the system has a name for it, else that of nobody, else of any user but root.

    `initdb` asks for the name of whoever runs it, and refuses a uid without one; the server does not.
    """
    users = {user.pw_uid: user.pw_name for user in pwd.getpwall() if user.pw_uid}
    if uid in users or not users:
        return uid
    return min(users, key=lambda known: (users[known] != "nobody", known))


def give(path: Path, uid: int | None) -> None:
    """Hand a directory tree over to a uid; without one it stays the caller's."""
    if uid is None:
        return
    for folder, _, files in os.walk(path):
        for name in (folder, *(os.path.join(folder, file) for file in files)):
            os.chown(name, uid, uid, follow_symlinks=False)


def read_json(variable: str) -> dict[str, str]:
    """Read the JSON object whose path is in an environment variable; without the variable it is empty."""
    path = os.environ.get(variable)
    return json.loads(Path(path).read_text()) if path else {}


def remove(path: Path) -> None:
    """Remove a directory tree; one that is not there is fine."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)
