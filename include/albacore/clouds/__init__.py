"""Clouds: what creates, finds again and deletes nodes.

Kinds: `local.LocalCloud` (directories on this machine), `static.StaticCloud` (machines of an inventory, over SSH).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

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
