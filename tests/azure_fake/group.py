"""A resource group in memory: machines with their disks, interfaces and addresses, and time that passes by itself."""

import base64
import copy
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab"
COMPUTE, NETWORK = f"{GROUP}/providers/Microsoft.Compute", f"{GROUP}/providers/Microsoft.Network"


class RefusedError(Exception):
    """What the service answers with a status of 400 or more."""

    def __init__(self, status: int, code: str, message: str = "no", retry_after: float | None = None) -> None:
        super().__init__(code)
        self.status, self.code, self.message, self.retry_after = status, code, message, retry_after


@dataclass
class Vm:
    """A machine: what was asked for, and what has become of it."""

    body: dict[str, Any]
    number: int
    state: str = "Creating"
    power: str = "running"
    fault: str = ""
    until: float = 0.0
    boot: Any = None

    @property
    def address(self) -> str:
        return f"127.0.1.{self.number}"


@dataclass
class Group:
    """The state of the service; every reading lets it become what it is by now.

    Attributes:
        boot: Starts what stands behind a machine; returns something with `kill`.
        create_s: How long a creation takes; `delete_s` a deletion.
        cores: Quota and use over all families.
        leaves: Kinds of parts that a deletion leaves behind all the same.
        bare: Whether disks made with a machine lack its tags.
    """

    boot: Callable[[str, dict[str, Any]], Any] | None = None
    create_s: float = 0.05
    delete_s: float = 0.05
    cores: int = 100
    leaves: tuple[str, ...] = ()
    bare: bool = False
    vms: dict[str, Vm] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    async_faults: list[tuple[str, str]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.RLock)
    count: int = 0

    def tick(self) -> None:
        """Let pass what has passed."""
        for name, vm in list(self.vms.items()):
            if time.monotonic() < vm.until:
                continue
            if vm.state == "Creating":
                self._created(name, vm)
            elif vm.state == "Deleting":
                self._vanish(name)

    def _created(self, name: str, vm: Vm) -> None:
        for i, (pattern, code) in enumerate(self.async_faults):
            if re.search(pattern, name):
                del self.async_faults[i]
                vm.state, vm.fault = "Failed", code
                return
        vm.state = "Succeeded"
        if self.boot:
            vm.boot = self.boot(name, {"address": vm.address, **vm.body})

    def _vanish(self, name: str) -> None:
        vm = self.vms.pop(name)
        if vm.boot:
            vm.boot.kill()
        for path, part in list(self.parts.items()):
            kept = any(kind in part["type"] for kind in self.leaves)
            if part["vm"] == name and part["delete"] == "Delete" and not kept:
                del self.parts[path]

    def put(self, name: str, body: dict[str, Any]) -> int:
        """Make a machine, or refuse; return the HTTP status."""
        if (old := self.vms.get(name)) is not None:
            if old.state == "Deleting":
                raise RefusedError(409, "Conflict", f"{name} is being deleted")
            if old.body["properties"]["osProfile"] != body["properties"]["osProfile"]:
                raise RefusedError(409, "PropertyChangeNotAllowed", "Changing property 'osProfile' is not allowed.")
            old.body["tags"] = body.get("tags", {})
            return 200
        if 4 * (len(self.vms) + 1) > self.cores:
            said = "Operation could not be completed as it results in exceeding approved Total Regional Cores quota."
            raise RefusedError(409, "OperationNotAllowed", said)
        self.count += 1
        vm = Vm(body=copy.deepcopy(body), number=self.count, until=time.monotonic() + self.create_s)
        self.vms[name] = vm
        self._attach(name, vm)
        return 201

    def _attach(self, name: str, vm: Vm) -> None:
        """Make disks, interface and address."""
        wanted, tags = vm.body["properties"], vm.body.get("tags", {})
        storage = wanted["storageProfile"]
        for disk in (storage["osDisk"], *storage.get("dataDisks", [])):
            option = disk.get("deleteOption", "Detach")
            self._part("Microsoft.Compute/disks", disk["name"], name, option, {} if self.bare else tags, {})
        for nic in wanted["networkProfile"]["networkInterfaceConfigurations"]:
            inside = nic["properties"]["ipConfigurations"][0]["properties"]
            address: dict[str, Any] = {"privateIPAddress": vm.address}
            if public := inside.get("publicIPAddressConfiguration"):
                about = {"ipAddress": vm.address}
                option = public["properties"]["deleteOption"]
                path = self._part(
                    "Microsoft.Network/publicIPAddresses", public["name"], name, option, public["tags"], about
                )
                address = {"privateIPAddress": "192.0.2.1", "publicIPAddress": {"id": path}}
            about = {"ipConfigurations": [{"properties": address}]}
            option = nic["properties"].get("deleteOption", "Detach")
            self._part("Microsoft.Network/networkInterfaces", nic["name"], name, option, nic.get("tags", {}), about)

    def _part(self, kind: str, name: str, vm: str, delete: str, tags: dict[str, str], about: dict[str, Any]) -> str:
        path = f"{GROUP}/providers/{kind}/{name}"
        self.parts[path] = {
            "id": path, "name": name, "type": kind, "tags": dict(tags), "properties": about, "vm": vm, "delete": delete
        }  # fmt: skip
        return path

    def delete(self, name: str) -> None:
        """Begin a deletion."""
        vm = self.vms[name]
        vm.state, vm.until = "Deleting", time.monotonic() + self.delete_s

    def evict(self, name: str) -> None:
        """Take a machine away, as its eviction policy says."""
        with self.lock:
            vm = self.vms[name]
            if vm.body["properties"].get("evictionPolicy") == "Delete":
                self._vanish(name)
            else:
                vm.power = "deallocated"
                if vm.boot:
                    vm.boot.kill()

    def shown(self, name: str, *, view: bool = False) -> dict[str, Any]:
        """Return a machine as the service shows it: without customData."""
        vm = self.vms[name]
        found = copy.deepcopy(vm.body)
        found |= {"id": f"{COMPUTE}/virtualMachines/{name}", "name": name, "type": "Microsoft.Compute/virtualMachines"}
        found["properties"]["provisioningState"] = vm.state
        found["properties"]["osProfile"].pop("customData", None)
        nics = [{"id": p["id"]} for p in self.parts.values() if p["vm"] == name and "networkInterfaces" in p["type"]]
        found["properties"]["networkProfile"] = {"networkInterfaces": nics}
        if view:
            state = f"ProvisioningState/{vm.state.lower()}" + (f"/{vm.fault}" if vm.fault else "")
            statuses = [{"code": state, "message": "not enough capacity" if vm.fault else None}]
            found["properties"]["instanceView"] = {"statuses": [*statuses, {"code": f"PowerState/{vm.power}"}]}
        return found

    def close(self) -> None:
        """End what stands behind the machines."""
        for vm in self.vms.values():
            if vm.boot:
                vm.boot.kill()


def first_boot(body: dict[str, Any]) -> str:
    """Return the cloud-config of a machine's body."""
    return base64.b64decode(body["properties"]["osProfile"]["customData"]).decode()
