"""StaticCloud: nodes on machines that are there already, reached over SSH."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from albacore.clouds import inventory
from albacore.clouds.inventory import Access, Host, Inventory
from albacore.clouds.reaching import Secret, node_at, number
from albacore.errors import UserError
from albacore.nodes import PORTS_PER_NODE
from albacore.nodes.local import FIRST_UID, UIDS
from albacore.nodes.ssh import SshNode

FIRST_PORT, PORT_BLOCKS = 12_000, 700
"""Ports of the systems under tune: below those of local nodes, and of what the kernel gives to outgoing connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticCloud:
    """Give the machines of an inventory file.

    Attributes:
        path: The file; read by `names` and `provision` only, so that a run keeps the fleet that it began with.
        secret: Returns the private key's text of an Airflow connection's id; called when a connection is made.
    """

    path: Path
    secret: Secret

    def names(self, count: int) -> list[str]:
        """Return the names of the first machines with the role `system`.

        Raises:
            UserError: When the inventory has a fault, or fewer of them.
        """
        found = inventory.read(self.path).of_role("system")
        if len(found) < count:
            raise UserError(
                f"{self.path}: expected {count} hosts with the role 'system' (tuning + validation), "
                f"there are {len(found)}. Add hosts, or lower [nodes] in the campaign file."
            )
        return [host.name for host in found[:count]]

    def provision(self, names: Sequence[str]) -> tuple[SshNode, ...]:
        """Return the nodes of these machines; nothing is contacted."""
        found = inventory.read(self.path)
        hosts = {host.name: host for host in found.hosts}
        addresses = {name: _whole(found, hosts[name]) for name in names}
        _refuse_collisions(self.path, addresses)
        return tuple(self.find(name, address) for name, address in addresses.items())

    def address(self, node: SshNode) -> Mapping[str, Any]:
        """Return the machine's entry in the inventory, with its bastion's; the key is only named."""
        found = inventory.read(self.path)
        host = next(host for host in found.hosts if host.name == node.name)
        return _whole(found, host)

    def find(self, name: str, address: Mapping[str, Any]) -> SshNode:
        """Return the node that an address stands for."""
        return node_at(name, address, self.secret)


def _whole(found: Inventory, host: Host) -> dict[str, Any]:
    """Return a host's address, with that of the host that loads it if there is one."""
    own = _address(host, found.bastion_of(host))
    other = found.load_of(host)
    if other is None:
        return own
    load = {"name": other.name, **_address(other, found.bastion_of(other))}
    return {**own, "listen": host.listen or host.address, "load": load}


def _address(host: Host, bastion: Access | None) -> dict[str, Any]:
    """Return what `find` needs, as plain data without secrets."""
    fields = set(Access.model_fields) - {"name"}
    return {
        "access": host.model_dump(include=fields),
        "bastion": bastion.model_dump(include=fields) if bastion else None,
        "host": host.host,
        "python": host.python,
        "directory": f"{host.directory}/{host.name}",
        "port": host.first_port or FIRST_PORT + PORTS_PER_NODE * (number(host.name) % PORT_BLOCKS),
        "uid": FIRST_UID + number(host.name) % UIDS if host.user == "root" else None,
        "slots": host.slots,
        "labels": dict(host.labels),
    }


def _refuse_collisions(path: Path, addresses: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse two nodes of one machine that would have the same ports or the same uid.

    Both follow from a node's name, so that adding a host to the file changes nothing for the others.
    """
    for what in ("port", "uid"):
        owners: dict[str, str] = {}
        for name, address in addresses.items():
            if address[what] is None:
                continue
            other = owners.setdefault(json.dumps([address["host"], address[what]]), name)
            if other != name:
                raise UserError(
                    f"{path}: {other} and {name} on {address['host']} would have the same {what} {address[what]}. "
                    f"{'Give one another first_port' if what == 'port' else 'Rename one'}."
                )
