"""Choice: where a campaign's samples are taken, the table [nodes] of its file."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from albacore.clouds.azure.order import AzureOrder
from albacore.clouds.inventory import Part


class Nodes(Part):
    """Where samples are taken: nodes that choose, and nodes that only the validation touches.

    Attributes:
        price_per_hour: What an hour of one node costs; on Azure it comes out of the price table when a run opens.
        price_source: Who says so.
    """

    cloud: Literal["local", "static", "azure"] = "local"
    inventory: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    azure: AzureOrder | None = None
    tuning: Annotated[int, Field(ge=1, le=100)] = 10
    validation: Annotated[int, Field(ge=0, le=100)] = 3
    slots: Annotated[int, Field(ge=1, le=1000)] | None = None
    price_per_hour: Annotated[float, Field(ge=0, le=1e9)] | None = None
    price_source: Annotated[str, Field(max_length=200)] | None = None
    lease_s: Annotated[float, Field(ge=30, le=86_400)] = 900.0
    canary: bool | None = None
    sentinel_every: Annotated[int, Field(ge=0, le=10_000)] = 0

    @model_validator(mode="after")
    def _machines_come_from_somewhere(self) -> "Nodes":
        if (self.cloud == "static") != (self.inventory is not None):
            raise ValueError("'inventory' names the file of machines of cloud = \"static\": give both or none")
        if (self.cloud == "azure") != (self.azure is not None):
            raise ValueError('the table [nodes.azure] says which machines cloud = "azure" has: give both or none')
        return self

    @property
    def count(self) -> int:
        """How many nodes there are in all."""
        return self.tuning + self.validation

    @property
    def is_rented(self) -> bool:
        """Whether the nodes are made for the run, and cost money until they are deleted."""
        return self.azure is not None
