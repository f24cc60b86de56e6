"""AzureCloud: nodes that are virtual machines, reached over SSH.

Every verb may be repeated: a machine is known by its name, so a request that was sent twice makes one machine.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from albacore.clouds import Progress
from albacore.clouds.azure import client, machine, preflight, tag
from albacore.clouds.azure.fault import NEXT, Fault, Kind, of_code
from albacore.clouds.azure.identity import host_key
from albacore.clouds.azure.order import AzureOrder
from albacore.clouds.azure.removal import Removal
from albacore.clouds.azure.tag import Claim
from albacore.clouds.reaching import Secret, key_of, node_at
from albacore.errors import AlbacoreError, NodeError, PlatformError, UserError
from albacore.nodes import PORTS_PER_NODE
from albacore.nodes.local import FIRST_UID
from albacore.nodes.ssh import SshNode
from albacore.nodes.ssh_link import private_key

if TYPE_CHECKING:
    from azure.mgmt.compute import ComputeManagementClient

FIRST_PORT = 12_000
LOOK_S = 5.0
READY_S = 900.0
"""How long a machine may take until it is there; usually one to three minutes."""
WAITING = ("Creating", "Updating", "Migrating")


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureCloud:
    """Make, find and delete the machines of one campaign run.

    Attributes:
        claim: Whose the machines are.
        client: Returns the SDK's client; called when Azure is asked something, not before.
        secret: Returns the private key's text of an Airflow connection's id.
        folder: Where a relative `key_file` is looked for.
    """

    order: AzureOrder
    claim: Claim
    client: Callable[[], "ComputeManagementClient"]
    secret: Secret
    folder: Path = Path()
    look_s: float = LOOK_S

    def names(self, count: int) -> list[str]:
        """Return the names of the run's machines.

        Raises:
            UserError: When there would be more than the order's cap.
        """
        if count > self.order.max_nodes:
            raise UserError(f"nodes: expected at most max_nodes = {self.order.max_nodes}, got {count}. Change one.")
        return tag.node_names(self.claim.run, count)

    def request(self, names: Sequence[str]) -> list[str]:
        """Have the machines made that are not there; return the names of those, without waiting for them.

        Quota, size and zone are checked before the first one. One whose creation failed before is deleted first.

        Raises:
            UserError: When a machine of this name is somebody else's, or the service refuses for good.
            PlatformError: When the service refuses for now.
        """
        found = self.client()
        states = {name: self._state(found, name) for name in names}
        if broken := [name for name, state in states.items() if isinstance(state, Fault) or state == "Deleting"]:
            self.removal.wait(broken, timeout_s=READY_S)
        missing = [name for name in names if name in broken or states[name] is None]
        preflight.check(self.order, found, nodes=len(missing))
        if missing:
            user_key = self._user_key()
            for name in missing:
                self._put(found, name, user_key)
        return missing

    def _put(self, found: "ComputeManagementClient", name: str, user_key: str) -> None:
        """Send the request for one machine."""
        key = host_key(self._key(), name)
        body: Any = machine.body(self.order, name, tags=self.claim.tags(name), user_key=user_key, key=key)
        with client.told(f"create {name}"):
            found.virtual_machines.begin_create_or_update(self.order.resource_group, name, body, polling=False)

    def progress(self, names: Sequence[str]) -> Progress:
        """See `Rented.progress`."""
        found, faults, waiting = self.client(), dict[str, AlbacoreError](), list[str]()
        for name in names:
            state = self._state(found, name)
            if state is None:
                state = self._gone(name)
            if isinstance(state, Fault):
                faults[name] = state.error(f"create {name}")
            elif state != "Succeeded":
                waiting.append(name)
        return Progress(waiting=tuple(waiting), faults=faults)

    def sweep(self, nodes: Collection[str] | None = None) -> list[str]:
        """See `Rented.sweep`."""
        return self.removal.sweep(nodes)

    def _gone(self, name: str) -> Fault:
        """Return the fault of a machine that was asked for and is not there."""
        kind = Kind.EVICTION if self.order.spot else Kind.CONFLICT
        return Fault(kind=kind, code="NotFound", message=f"{name} is gone before it was ready")

    def _state(self, found: "ComputeManagementClient", name: str) -> str | Fault | None:
        """Return a machine's provisioning state, the fault that it failed by, or None when there is none.

        Raises:
            UserError: When it is not this run's.
        """
        from azure.core.exceptions import ResourceNotFoundError

        with client.told(f"look at {name}"):
            try:
                vm: Any = found.virtual_machines.get(self.order.resource_group, name, expand="instanceView")
            except ResourceNotFoundError as error:
                if getattr(error.error, "code", "") in ("ResourceGroupNotFound", "SubscriptionNotFound"):
                    raise
                return None
        if not self.claim.owns(vm.tags):
            raise UserError(
                f"{name}: a machine of this name is in {self.order.resource_group} and is not of run {self.claim.run} "
                f"of {self.claim.owner}; it was not touched. Rename it, or use a resource group of its own."
            )
        state = str(vm.properties.provisioning_state)
        statuses = [s.code or "" for s in (vm.properties.instance_view and vm.properties.instance_view.statuses) or []]
        if state in ("Failed", "Canceled"):
            return _failure(vm, state)
        if any(code in ("PowerState/deallocated", "PowerState/deallocating") for code in statuses):
            return Fault(kind=Kind.EVICTION, code="Deallocated", message=f"{name} has been deallocated")
        return state

    def provision(self, names: Sequence[str]) -> tuple[SshNode, ...]:
        """See `Cloud.provision`; waits, unless `request` came long enough before.

        Raises:
            AlbacoreError: As the service's code says; machines that failed are deleted before.
        """
        self.request(names)
        ends_at = time.monotonic() + READY_S
        while not (found := self.progress(names)).is_settled and time.monotonic() < ends_at:
            time.sleep(self.look_s)
        if found.error is not None:
            self.removal.wait(list(found.faults), timeout_s=READY_S)
            raise found.error
        if found.waiting:
            raise PlatformError(f"create {', '.join(found.waiting)}: not ready within {READY_S:g} s. Tried again.")
        there = self.client()
        return tuple(self._node(there, name) for name in names)

    def _node(self, found: "ComputeManagementClient", name: str) -> SshNode:
        """Return a machine that is ready as a node."""
        with client.told(f"address of {name}"):
            vm: Any = found.virtual_machines.get(self.order.resource_group, name)
            nic = client.get(found, vm.properties.network_profile.network_interfaces[0].id, client.NETWORK_API)
            address = _address_in(nic, is_public=False)
            if self.order.public_ip and (outside := _address_in(nic, is_public=True)):
                public = client.get(found, outside, client.NETWORK_API) or {"properties": {}}
                address = public["properties"].get("ipAddress")
        if not address:
            raise NodeError(f"node {name}: expected an address on its interface {name}-nic, there is none.", node=name)
        return self.find(name, self._reach(name, address, host_key(self._key(), name).public))

    def _reach(self, name: str, address: str, pinned: str) -> dict[str, Any]:
        """Return what `find` needs."""
        order, i = self.order, tag.index_of(name)
        access = {"address": address, "port": order.port, "user": order.user, "host_key": pinned, **self._access}
        facts = {"sku": order.size, "zone": order.zone, "spot": order.spot, "burstable": order.is_burstable}
        return {
            "access": access,
            "bastion": order.bastion and order.bastion.model_dump(exclude={"name"}),
            "host": name,
            "python": order.python,
            "directory": f"{order.directory}/{name}",
            "port": FIRST_PORT + PORTS_PER_NODE * i,
            "uid": FIRST_UID + i if order.user == "root" else None,
            "slots": 1,
            "labels": dict(order.labels),
            "facts": facts,
        }

    def address(self, node: SshNode) -> Mapping[str, Any]:
        """Return where the machine is and who it has to be; the private key is only named."""
        return self._reach(node.name, node.endpoint.address, node.endpoint.host_key)

    def find(self, name: str, address: Mapping[str, Any]) -> SshNode:
        """Return the node that an address stands for."""
        return node_at(name, address, self.secret)

    def why_lost(self, name: str) -> str | None:
        """Return what Azure knows of a machine that does not answer any more, or None when it runs."""
        state = self._state(self.client(), name)
        if isinstance(state, Fault):
            return f"{state.code}: {state.message} ({state.kind}). {NEXT[state.kind]}"
        if state is None or state == "Deleting":  # an eviction deletes, which takes a while
            return f"{self._gone(name).kind}: the machine is not there any more"
        return None

    @property
    def removal(self) -> Removal:
        """What deletes this run's machines."""
        return Removal(order=self.order, claim=self.claim, client=self.client, look_s=self.look_s)

    @property
    def _access(self) -> dict[str, str | None]:
        """Where the private key is."""
        file = self.order.key_file
        path = str(self.folder.absolute() / Path(file).expanduser()) if file else None
        return {"connection": self.order.key_connection, "key_file": path}

    def _key(self) -> str:
        """Return the private key's text."""
        return key_of(self._access, self.secret)[1]()

    def _user_key(self) -> str:
        """Return the public half of the key that logs in."""
        key = private_key(self._key(), key_of(self._access, self.secret)[0])
        return f"{key.get_name()} {key.get_base64()}"


def _failure(vm: Any, state: str) -> Fault:
    """Return the fault of a machine that failed: its status is `ProvisioningState/failed/<code>`."""
    view = vm.properties.instance_view
    for status in (view and view.statuses) or []:
        parts = str(status.code or "").split("/")
        if parts[0] == "ProvisioningState" and len(parts) == 3:
            return of_code(parts[2], str(status.message or status.display_status or state))
    return of_code(state, "the machine's creation ended without a reason")


def _address_in(nic: Mapping[str, Any] | None, *, is_public: bool) -> Any:
    """Return the address of an interface, or the id of its public one."""
    for config in (nic or {}).get("properties", {}).get("ipConfigurations", []):
        found = config.get("properties", {})
        if is_public:
            return found.get("publicIPAddress", {}).get("id")
        return found.get("privateIPAddress")
    return None
