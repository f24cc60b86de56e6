"""Preflight: what is checked before the first request that costs money: caps, then size, zone and quota."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from albacore.clouds.azure import client
from albacore.clouds.azure.fault import NEXT, Kind
from albacore.clouds.azure.order import AzureOrder
from albacore.errors import UserError

if TYPE_CHECKING:
    from azure.mgmt.compute import ComputeManagementClient

ALL_CORES, SPOT_CORES = "cores", "lowPriorityCores"
"""The quotas over all families of a region."""


def caps(order: AzureOrder, *, nodes: int, hours: float, per_hour: float) -> float:
    """Return what a run costs if all its nodes live for all its hours.

    Raises:
        UserError: When that exceeds a cap; nothing has been asked of Azure.
    """
    if nodes > order.max_nodes:
        raise UserError(f"nodes: expected at most nodes.azure.max_nodes = {order.max_nodes}, got {nodes}. Change one.")
    if hours > order.max_hours:
        raise UserError(
            f"limits.hours: expected at most nodes.azure.max_hours = {order.max_hours:g}, got {hours:g}. Change one."
        )
    worst = nodes * hours * per_hour
    if worst > order.max_cost:
        raise UserError(
            f"cost: {nodes} nodes for {hours:g} h at {per_hour:g} an hour may cost {worst:.2f}, more than "
            f"nodes.azure.max_cost = {order.max_cost:g}. Take fewer nodes or hours, a cheaper size, or raise the cap."
        )
    return worst


def check(order: AzureOrder, found: "ComputeManagementClient", *, nodes: int) -> None:
    """Expect the service to offer the size in the zone, and the subscription to have quota for more nodes.

    Args:
        order: What the campaign wants.
        found: The client.
        nodes: How many have to be made.

    Raises:
        UserError: Says what is missing, and what to do.
        PlatformError: When the service cannot be asked.
    """
    if nodes == 0:
        return
    with client.told(f"preflight in {order.location}"):
        offered = list(found.resource_skus.list(filter=f"location eq '{order.location}'"))
        family, cores = _size(order, offered)
        used = {_key(str(each.name.value)): each for each in found.usage.list(order.location)}
    wanted = [SPOT_CORES] if order.spot else [family, ALL_CORES]
    for name in wanted:
        usage = used.get(_key(name))
        if usage is not None and usage.current_value + nodes * cores > usage.limit:
            raise UserError(
                f"quota {name} in {order.location}: {nodes} nodes of {order.size} need {nodes * cores} cores, "
                f"{usage.current_value} of {usage.limit} are in use. {NEXT[Kind.QUOTA]}",
                kind=Kind.QUOTA,
            )


def _size(order: AzureOrder, offered: Iterable[Any]) -> tuple[str, int]:
    """Return family and cores of the order's size.

    Raises:
        UserError: When it is not offered there, not to this subscription, not in the zone, or lacks something.
    """
    sku = next((s for s in offered if s.resource_type == "virtualMachines" and _is(s.name, order.size)), None)
    where = f"{order.size} in {order.location}"
    if sku is None:
        raise UserError(f"{where}: this size is not offered there. {NEXT[Kind.SKU]}", kind=Kind.SKU)
    zones = {zone for info in sku.location_info or [] for zone in info.zones or []}
    for limit in sku.restrictions or []:
        if limit.type == "Location":
            raise UserError(
                f"{where}: not for this subscription ({limit.reason_code}). {NEXT[Kind.SKU]}", kind=Kind.SKU
            )
        zones -= set((limit.restriction_info and limit.restriction_info.zones) or [])
    if order.zone and order.zone not in zones:
        there = ", ".join(sorted(zones)) or "no zone"
        raise UserError(f"{where}: expected it in zone {order.zone}, it is in {there}. {NEXT[Kind.SKU]}", kind=Kind.SKU)
    can = {c.name: c.value for c in sku.capabilities or []}
    _expect(order, where, can)
    return str(sku.family), int(can.get("vCPUs", "1"))


def _expect(order: AzureOrder, where: str, can: dict[str, str]) -> None:
    """Refuse a size that lacks what the order asks of it."""
    disks = [order.os_disk, *([order.data_disk] if order.data_disk else [])]
    needs = {
        "AcceleratedNetworkingEnabled": (order.accelerated_networking, "set accelerated_networking = false"),
        "PremiumIO": (any(d.sku.startswith("Premium") for d in disks), "choose StandardSSD_LRS disks"),
        "LowPriorityCapable": (order.spot, "set spot = false"),
    }
    for name, (is_needed, otherwise) in needs.items():
        if is_needed and can.get(name) == "False":
            raise UserError(f"{where}: this size has no {name}. Choose another one, or {otherwise}.", kind=Kind.SKU)


def _is(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _key(name: str) -> str:
    """Return a quota's name without what differs between the two lists it is in."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
