"""Removal: delete what belongs to a run, found by its tags and never by what a task remembers.

A machine takes its interface and its disks with it; what is left of them all the same is deleted by itself once its
machine is gone.
"""

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from albacore.clouds.azure import client, tag
from albacore.clouds.azure.order import AzureOrder
from albacore.clouds.azure.tag import Claim
from albacore.errors import PlatformError

if TYPE_CHECKING:
    from azure.mgmt.compute import ComputeManagementClient

MACHINE = "Microsoft.Compute/virtualMachines"
VERSIONS = {
    "microsoft.compute/disks": "2024-03-02",
    "microsoft.network/networkinterfaces": client.NETWORK_API,
    "microsoft.network/publicipaddresses": client.NETWORK_API,
}
"""What may be deleted beside machines, and in which version of the service: nothing else ever is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something of a run that is there.

    Attributes:
        node: The machine that it is, or is called after.
    """

    id: str
    kind: str
    name: str
    node: str
    state: str = ""

    @property
    def is_machine(self) -> bool:
        """Whether it is a machine, which takes the others with it."""
        return self.kind == MACHINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Delete the machines of one run; ask again until nothing is left."""

    order: AzureOrder
    claim: Claim
    client: Callable[[], "ComputeManagementClient"]
    look_s: float = 5.0

    def left(self, nodes: Collection[str] | None = None) -> list[Resource]:
        """Return everything of the run that is there; nobody else's.

        Args:
            nodes: Only what belongs to these machines.
        """
        with client.told(f"list what is left of {self.claim.run}"):
            found = {each.id.lower(): each for each in self._all(self.client())}
        return [each for each in found.values() if nodes is None or each.node in nodes]

    def _all(self, found: "ComputeManagementClient") -> Iterator[Resource]:
        """Yield machines, then disks, then what the tags find; some of it twice."""
        group = self.order.resource_group
        for vm in found.virtual_machines.list(group):
            if self.claim.owns(vm.tags):
                state = vm.properties and vm.properties.provisioning_state
                yield _resource(vm.id, MACHINE, vm.name, vm.tags, str(state))
        for disk in found.disks.list_by_resource_group(group):
            if self._is_ours(str(disk.name), disk.tags):
                yield _resource(disk.id, "Microsoft.Compute/disks", disk.name, disk.tags)
        path = f"/subscriptions/{self.order.subscription}/resourceGroups/{group}/resources"
        query = {"$filter": f"tagName eq '{tag.RUN}' and tagValue eq '{self.claim.run}'"}
        for each in client.listed(found, path, client.RESOURCES_API, query):
            if each["type"].lower() in VERSIONS and self._is_ours(each["name"], each.get("tags")):
                yield _resource(each["id"], each["type"], each["name"], each.get("tags"))

    def _is_ours(self, name: str, tags: Mapping[str, str] | None) -> bool:
        """Whether a disk, an interface or an address is this run's: by its tags, else by its name when it has none.

        A disk that is made with its machine may have no tags; no name of another run begins with this one's.
        """
        if self.claim.owns(tags):
            return True
        stem = re.escape(tag.stem_of(self.claim.run))
        return tag.OWNER not in (tags or {}) and re.fullmatch(rf"{stem}-\d+({'|'.join(tag.PARTS)})", name) is not None

    def sweep(self, nodes: Collection[str] | None = None) -> list[str]:
        """Have what is there deleted; return the names of what is not gone yet, nothing when all is.

        Args:
            nodes: Only these machines and what belongs to them; all of the run by default.

        Raises:
            UserError: When it may not be deleted.
        """
        there = self.left(nodes)
        machines = {each.node for each in there if each.is_machine}
        for each in there:
            if each.is_machine and each.state != "Deleting":
                self._attempt(each, self._delete_machine)
            elif not each.is_machine and each.node not in machines:
                self._attempt(each, self._delete_part)
        return sorted(each.name for each in there)

    def wait(self, nodes: Collection[str] | None = None, *, timeout_s: float) -> None:
        """Delete, and wait until nothing is left.

        Raises:
            PlatformError: When something is still there after `timeout_s`.
        """
        ends_at = time.monotonic() + timeout_s
        while there := self.sweep(nodes):
            if time.monotonic() > ends_at:
                raise PlatformError(f"delete: after {timeout_s:g} s still there: {', '.join(there)}. Tried again.")
            time.sleep(self.look_s)

    def _attempt(self, each: Resource, delete: Callable[["ComputeManagementClient", Resource], None]) -> None:
        """Delete one thing; what can heal is tried again by the next sweep."""
        try:
            with client.told(f"delete {each.name}"):
                delete(self.client(), each)
        except PlatformError as error:
            print(error.message)

    def _delete_machine(self, found: "ComputeManagementClient", each: Resource) -> None:
        group = self.order.resource_group
        found.virtual_machines.begin_delete(group, each.name, force_deletion=True, polling=False)

    @staticmethod
    def _delete_part(found: "ComputeManagementClient", each: Resource) -> None:
        client.delete(found, each.id, VERSIONS[each.kind.lower()])


def _resource(path: str | None, kind: str, name: str | None, tags: Any, state: str = "") -> Resource:
    """Return something that was found."""
    named = str(name)
    node = (tags or {}).get(tag.NODE) or tag.node_of_part(named)
    return Resource(id=str(path), kind=kind, name=named, node=named if kind == MACHINE else node, state=state)
