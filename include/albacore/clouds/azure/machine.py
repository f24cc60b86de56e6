"""Machine: the body of the request that makes one, with everything that is deleted with it."""

import base64
import json
from typing import Any

from albacore.clouds.azure.identity import HostKey
from albacore.clouds.azure.order import AzureOrder, Disk

NETWORK_API = "2022-11-01"
"""The version of the network interface inside a machine's body."""


def body(order: AzureOrder, name: str, *, tags: dict[str, str], user_key: str, key: HostKey) -> dict[str, Any]:
    """Return the ARM body of a machine; the same arguments give the same bytes.

    Args:
        order: What the campaign wants.
        name: The machine's name.
        tags: Whose it is.
        user_key: The public half of the key that logs in.
        key: The host key that it is born with.
    """
    found: dict[str, Any] = {
        "location": order.location,
        "tags": tags,
        "properties": {
            "hardwareProfile": {"vmSize": order.size},
            "storageProfile": _storage(order, name),
            "osProfile": _system(order, name, user_key, key),
            "networkProfile": {
                "networkApiVersion": NETWORK_API,
                "networkInterfaceConfigurations": [_interface(order, name, tags)],
            },
        },
    }
    if order.zone:
        found["zones"] = [order.zone]
    if order.spot:
        found["properties"] |= {
            "priority": "Spot",
            "evictionPolicy": "Delete",
            "billingProfile": {"maxPrice": -1},  # never more than the price of a machine that stays
        }
    return found


def _storage(order: AzureOrder, name: str) -> dict[str, Any]:
    """Return the disks; without `deleteOption` a data disk would stay, and cost (the default is Detach)."""
    system = {
        "name": f"{name}-os",
        "createOption": "FromImage",
        "diskSizeGB": order.os_disk.gib,
        "deleteOption": "Delete",
        "managedDisk": {"storageAccountType": order.os_disk.sku},
    }
    return {
        "imageReference": _image(order.image),
        "osDisk": system,
        "dataDisks": [_data(order.data_disk, name)] if order.data_disk else [],
    }


def _image(text: str) -> dict[str, str]:
    """Return the pinned image: a resource id, or the four parts of a name."""
    if text.startswith("/"):
        return {"id": text}
    return dict(zip(("publisher", "offer", "sku", "version"), text.split(":"), strict=True))


def _data(disk: Disk, name: str) -> dict[str, Any]:
    """Return the data disk, empty."""
    return {
        "name": f"{name}-data",
        "lun": 0,
        "createOption": "Empty",
        "diskSizeGB": disk.gib,
        "caching": "None",
        "deleteOption": "Delete",
        "managedDisk": {"storageAccountType": disk.sku},
    }


def _system(order: AzureOrder, name: str, user_key: str, key: HostKey) -> dict[str, Any]:
    """Return user, key and first boot; no password ever."""
    authorized = [{"path": f"/home/{order.user}/.ssh/authorized_keys", "keyData": user_key}]
    return {
        "computerName": name,
        "adminUsername": order.user,
        "customData": base64.b64encode(first_boot(order, user_key, key).encode()).decode(),
        "linuxConfiguration": {"disablePasswordAuthentication": True, "ssh": {"publicKeys": authorized}},
    }


def _interface(order: AzureOrder, name: str, tags: dict[str, str]) -> dict[str, Any]:
    """Return the network interface; it has an address of the subnet, and a public one only when asked for."""
    address: dict[str, Any] = {"subnet": {"id": order.subnet}, "primary": True}
    if order.public_ip:
        address["publicIPAddressConfiguration"] = {
            "name": f"{name}-ip",
            "sku": {"name": "Standard"},
            "tags": tags,
            "properties": {"deleteOption": "Delete", "publicIPAllocationMethod": "Static"},
        }
    return {
        "name": f"{name}-nic",
        "tags": tags,
        "properties": {
            "primary": True,
            "deleteOption": "Delete",
            "enableAcceleratedNetworking": order.accelerated_networking,
            "ipConfigurations": [{"name": "primary", "properties": address}],
        },
    }


def first_boot(order: AzureOrder, user_key: str, key: HostKey) -> str:
    """Return the cloud-config: JSON is YAML, and quotes everything."""
    config: dict[str, Any] = {
        "ssh_deletekeys": True,
        "ssh_keys": {"ed25519_private": key.private, "ed25519_public": key.public},
        "ssh_pwauth": False,
        "disable_root": True,
        "ssh_authorized_keys": [user_key],
    }
    if order.data_disk:
        device = "/dev/disk/azure/scsi1/lun0"
        config |= {
            "disk_setup": {device: {"table_type": "gpt", "layout": True, "overwrite": False}},
            "fs_setup": [{"device": device, "partition": 1, "filesystem": "ext4", "overwrite": False}],
            "mounts": [[f"{device}-part1", order.directory, "ext4", "defaults,nofail,noatime", "0", "2"]],
            "runcmd": [["chown", f"{order.user}:", order.directory]],
        }
    return "#cloud-config\n" + json.dumps(config, sort_keys=True, indent=1) + "\n"
