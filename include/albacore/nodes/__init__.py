"""Nodes: machines, or directories that stand for machines, that run one job at a time.

The protocol is small on purpose: run a short command, put a file, get a file, tell the facts. Everything longer than a
command is a detached job (`albacore.nodes.job`), so that no connection has to outlive a controller.

Kinds: `local.LocalNode` (a directory and ten ports on this machine), `fake.FakeNode` (memory, for tests and
simulations).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol

from albacore.errors import UserError

NODE_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
JOB_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
PORTS_PER_NODE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a command on a node ended with; a return code other than 0 is returned, never raised."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    wall_s: float

    @property
    def is_ok(self) -> bool:
        """Whether the command returned 0."""
        return self.returncode == 0


class Node(Protocol):
    """A machine with a directory of its own, owned by one sample at a time.

    Implementers: every method may be called again after a controller died in the middle of it; `put` replaces
    atomically.
    """

    @property
    def name(self) -> str:
        """The node's name, matching `NODE_NAME`."""
        ...

    @property
    def host(self) -> str:
        """The machine that it shares with others; "localhost" is the controller's own."""
        ...

    @property
    def python(self) -> str:
        """The Python >= 3.11 interpreter on the node that runs the agent."""
        ...

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30) -> Result:
        """Run a short command in the node's directory.

        Raises:
            NodeError: When the node cannot be reached, the program does not exist, or it takes longer than `timeout_s`.
        """
        ...

    def put(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file atomically, parents included; `path` is relative to the node's directory.

        Raises:
            UserError: When the path leaves the node's directory.
            NodeError: When the node cannot be reached or has no space.
        """
        ...

    def get(self, path: str, *, max_bytes: int = 8_000_000) -> bytes | None:
        """Return a file's content, or None when there is none.

        Raises:
            UserError: When the path leaves the node's directory.
            NodeError: When the node cannot be reached, or the file is larger than `max_bytes`.
        """
        ...

    def facts(self) -> Mapping[str, Any]:
        """Return what the machine is, at least: ram_bytes, disk_bytes, cores, cpu_model, kernel, os, python, boot_id.

        A real one also tells disk, disk_free_bytes, sku, virtualisation and steal_percent (`albacore.nodes.facts`).
        """
        ...


def relative_path(path: str) -> PurePosixPath:
    """Return a path below a node's directory.

    Raises:
        UserError: When it is empty, absolute, or climbs with `..`.
    """
    pure = PurePosixPath(path)
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise UserError(
            f"path on a node: expected one below the node's directory, got {path!r}. Give it without '/' and '..'."
        )
    return pure


def check_name(name: str) -> str:
    """Return a node's name when it is legal.

    Raises:
        UserError: When it does not match `NODE_NAME`.
    """
    if not NODE_NAME.fullmatch(name):
        raise UserError(f"node name: expected {NODE_NAME.pattern}, got {name!r}. Rename the node.", name=name)
    return name
