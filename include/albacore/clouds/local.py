"""LocalCloud: nodes that are directories of this machine."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from albacore.nodes.local import LocalNode, local_nodes, state_root

FLEET = "fleet"
FIRST_PORT, BLOCKS, PORTS_PER_BLOCK = 20000, 60, 200
"""Each clone has a block of ports of its own, below the range that the kernel gives to outgoing connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCloud:
    """Make nodes below the state directory of one clone.

    Attributes:
        home: AIRFLOW_HOME of the clone.
    """

    home: Path

    @property
    def first_port(self) -> int:
        """First port of the first node; each node has ten. Two clones on one machine rarely have the same."""
        return FIRST_PORT + int(state_root(self.home).name, 16) % BLOCKS * PORTS_PER_BLOCK

    def names(self, count: int) -> list[str]:
        """Return n1, n2 and so on."""
        return [f"n{i + 1}" for i in range(count)]

    def provision(self, names: Sequence[str]) -> tuple[LocalNode, ...]:
        """Return the nodes; their directories are made at the first use."""
        return local_nodes(state_root(self.home), FLEET, names, self.first_port)

    def address(self, node: LocalNode) -> Mapping[str, Any]:
        """Return the fields of a node."""
        fields = {f.name: getattr(node, f.name) for f in dataclasses.fields(node) if f.name != "name"}
        return {name: str(value) if isinstance(value, Path) else value for name, value in fields.items()}

    def find(self, name: str, address: Mapping[str, Any]) -> LocalNode:
        """Return the node that an address stands for."""
        paths = {key: Path(address[key]) for key in ("directory", "shared")}
        return LocalNode(**{**address, **paths, "name": name})
