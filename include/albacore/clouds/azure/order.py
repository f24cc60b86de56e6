"""Order: which machines a campaign wants from Azure, as its file says in [nodes.azure]. It holds no secret.

What costs money is bounded here: `max_nodes`, `max_hours` and `max_cost` have no defaults.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from albacore.clouds.inventory import AbsolutePath, Access, Name, Part, Text

BURSTABLE = re.compile(r"(Standard|Basic)_B\d.*", re.IGNORECASE)
"""Sizes whose speed depends on credits that earlier load has used up."""
PINNED = r"[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:\d[0-9.]*"
RESOURCE = r"/subscriptions/[A-Za-z0-9-]+/resourceGroups/[A-Za-z0-9_.()-]+/providers(/[A-Za-z0-9_.()-]+)+"
ZONAL_DISKS = ("PremiumV2_LRS", "UltraSSD_LRS")
DiskSku = Literal["Standard_LRS", "StandardSSD_LRS", "Premium_LRS", "PremiumV2_LRS", "UltraSSD_LRS"]


class Disk(Part):
    """A disk that every node gets, and that goes with it."""

    gib: Annotated[int, Field(ge=4, le=65_536)]
    sku: DiskSku = "Premium_LRS"


class AzureOrder(Part):
    """The machines of one campaign run: all alike, in one zone, deleted with everything that is theirs.

    Attributes:
        connection: The Airflow connection that authenticates.
        owner: Who these machines belong to, told by a tag: one name per Airflow and subscription.
        image: `publisher:offer:sku:version`, or the resource id of an image's version.
        subnet: Resource id; made beforehand.
        key_connection: Airflow connection with `private_key` in its extra; else `key_file`.
        directory: Where nodes live; the data disk is mounted there when there is one.
        max_cost: The most that all nodes may cost if they live for `limits.hours`, in the price table's currency.
        prices: The price table, relative to the campaign file.
    """

    connection: Text = "azure_default"
    owner: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,40}$")]
    resource_group: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.()-]{1,90}$")]
    location: Annotated[str, Field(pattern=r"^[a-z0-9]{2,40}$")]
    zone: Annotated[str, Field(pattern=r"^[1-9]$")] | None = None
    size: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{2,60}$")]
    image: Annotated[str, Field(pattern=rf"^({PINNED}|{RESOURCE})$", max_length=500)]
    subnet: Annotated[str, Field(pattern=rf"^{RESOURCE}$", max_length=500)]
    user: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$")] = "bench"
    port: Annotated[int, Field(ge=1, le=65_535)] = 22
    key_connection: Text | None = None
    key_file: Text | None = None
    bastion: Access | None = None
    os_disk: Disk = Disk(gib=64)
    data_disk: Disk | None = None
    accelerated_networking: bool = True
    public_ip: bool = False
    spot: bool = False
    allow_burstable: bool = False
    directory: AbsolutePath = "/var/tmp/albacore"  # noqa: S108 -- what is there is checked to be ours
    python: AbsolutePath = "/usr/bin/python3"
    labels: Annotated[dict[Name, Text], Field(default_factory=dict)]
    prices: Annotated[str, Field(min_length=1, max_length=500)]
    max_nodes: Annotated[int, Field(ge=1, le=1000)]
    max_hours: Annotated[float, Field(gt=0, le=10_000)]
    max_cost: Annotated[float, Field(gt=0, le=1e12)]

    @model_validator(mode="after")
    def _is_sound(self) -> "AzureOrder":
        if (self.key_file is None) == (self.key_connection is None):
            raise ValueError("expected either 'key_connection' or 'key_file': where the private SSH key is. Give one")
        if self.is_burstable and not self.allow_burstable:
            raise ValueError(
                f"size: {self.size} is burstable: it is fast while it has credits and slow afterwards, so a config's "
                "figure would tell what ran before it. Choose a D, E or F size; 'allow_burstable = true' takes it all "
                "the same and marks every sample"
            )
        if self.data_disk and self.data_disk.sku in ZONAL_DISKS and self.zone is None:
            raise ValueError(f"data_disk: {self.data_disk.sku} is there in zones only. Add 'zone'")
        if self.os_disk.sku in ZONAL_DISKS:
            raise ValueError(f"os_disk: {self.os_disk.sku} cannot be booted from. Choose Premium_LRS")
        return self

    @property
    def is_burstable(self) -> bool:
        """Whether the size's speed depends on credits (T25)."""
        return BURSTABLE.fullmatch(self.size) is not None

    @property
    def subscription(self) -> str:
        """The subscription: a machine's network interface has to be in that of its subnet."""
        return self.subnet.split("/")[2]
