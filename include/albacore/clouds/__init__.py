"""Clouds: what creates, finds again and deletes nodes.

Kinds: `local.LocalCloud` (directories on this machine), `static.StaticCloud` (machines of an inventory, over SSH),
`azure.cloud.AzureCloud` (machines that are made for a run).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from albacore.errors import AlbacoreError, UserError
from albacore.nodes import Node


class Cloud(Protocol):
    """Provide identical nodes by name; every verb may be repeated."""

    def names(self, count: int) -> list[str]:
        """Return the names of that many nodes, those that tune first.

        Raises:
            UserError: When there cannot be so many.
        """
        ...

    def provision(self, names: Sequence[str]) -> tuple[Node, ...]:
        """Return the nodes with these names, creating those that are not there.

        Raises:
            NodeError: When a node cannot be had.
        """
        ...

    def address(self, node: Node) -> Mapping[str, Any]:
        """Return what `find` needs to reach the node again, as plain data without secrets."""
        ...

    def find(self, name: str, address: Mapping[str, Any]) -> Node:
        """Return a node that was provisioned before, in another process; nothing is contacted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far nodes are that were asked for; those that are in neither part are ready.

    Attributes:
        waiting: Those that are not ready yet.
        faults: Why those that cannot be had cannot be had.
    """

    waiting: tuple[str, ...] = ()
    faults: Mapping[str, AlbacoreError] = field(default_factory=dict)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to wait for."""
        return not self.waiting or bool(self.faults)

    @property
    def error(self) -> AlbacoreError | None:
        """What is to be raised, if anything: what somebody has to correct before what can heal."""
        chosen = sorted(self.faults.values(), key=lambda error: not isinstance(error, UserError))
        return chosen[0] if chosen else None


@runtime_checkable
class Rented(Protocol):
    """A cloud whose nodes are made for one run and cost money until they are deleted.

    Nothing here waits, so that whoever waits can do so without holding a worker.
    """

    def request(self, names: Sequence[str]) -> list[str]:
        """Have those nodes made that are not there; return their names.

        Raises:
            UserError: When somebody has to correct something first.
            PlatformError: When it is refused for now.
        """
        ...

    def progress(self, names: Sequence[str]) -> Progress:
        """Return how far nodes are."""
        ...

    def sweep(self, nodes: Collection[str] | None = None) -> list[str]:
        """Have nodes deleted, all of the run by default, with all that is theirs; return what is not gone yet."""
        ...

    def why_lost(self, name: str) -> str | None:
        """Return why a node does not answer any more, or None when its machine runs."""
        ...
