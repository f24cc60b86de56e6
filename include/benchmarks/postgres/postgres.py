"""Know one node's PostgreSQL: where its files are, as whom it runs, which programs are its own.

The executables beside this file are small because what they share is here. Nothing but the standard library is used, so
the folder works on any node with a Python; nothing here knows who calls it beyond the environment of the contract.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import contract
from contract import NodeError, read_json
from software import WHEEL, missing, programs

VERSION = "16.2"
USER = "albacore"
DATABASE = "postgres"
# A socket's address holds 107 bytes; the rest is left for names that the system may add.
MAX_SOCKET_BYTES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(contract.Node):
    """Hold what the environment says of this node, and the places that follow from it; `server`: see software.py."""

    server: str = WHEEL

    @classmethod
    def from_environment(cls, **more: Any) -> Self:
        """Read the contract's variables, and which server the parameters ask for."""
        server = read_json("ALBACORE_PARAMS").get("server", WHEEL)
        return super(Node, cls).from_environment(server=server, **more)

    @property
    def software(self) -> Path:
        """Name the folder of the copied software; the wheel's layout is kept, for its libraries are found by it."""
        return self.root / "install" / "postgres"

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

    def identity(self, *, named: bool = False) -> dict[str, Any]:
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
            **super(Node, self).surroundings(),
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
            return subprocess.run(
                [self.program(name), *arguments],
                input=text if text is not None else "",
                capture_output=True,
                text=True,
                timeout=timeout_s,
                cwd="/",
                env={**self.surroundings(), "PGOPTIONS": options},
                check=False,
                **self.identity(named=named),
            )
        except PermissionError as error:
            raise NodeError(
                f"{error}: uid {self.uid} cannot reach it. Choose a node directory whose parents it may enter."
            ) from None

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


def named_uid(uid: int) -> int:
    """Return the uid itself when the system has a name for it, else that of nobody, else of any user but root.

    `initdb` asks for the name of whoever runs it, and refuses a uid without one; the server does not.
    """
    users = {user.pw_uid: user.pw_name for user in pwd.getpwall() if user.pw_uid}
    if uid in users or not users:
        return uid
    return min(users, key=lambda known: (users[known] != "nobody", known))
