"""Prices: what an hour of one node costs, out of a table that says of which day it is.

```toml
date = 2026-11-01
currency = "USD"

[eastus.sizes]            # an hour
Standard_D8s_v5 = 0.384

[eastus.spot]             # an hour, of a machine that may be evicted
Standard_D8s_v5 = 0.08

[eastus.disks]            # a GiB for a month
Premium_LRS = 0.15
```
"""

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from albacore.clouds.azure import preflight
from albacore.clouds.azure.order import AzureOrder
from albacore.clouds.choice import Nodes
from albacore.errors import UserError

HOURS_PER_MONTH = 730.0
MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyPrice:
    """What an hour of one node costs, and who says so.

    Attributes:
        source: The table's name, its date and its currency.
    """

    per_hour: float
    source: str


def quoted(nodes: Nodes, *, hours: float, folder: Path) -> Nodes:
    """Return a campaign's nodes with the price of an hour; those that are not rented are returned as they are.

    Args:
        nodes: The table [nodes].
        hours: The most that the run may take.
        folder: That of the campaign file.

    Raises:
        UserError: When a price is missing, or nodes, hours or cost exceed the order's caps.
    """
    if nodes.azure is None:
        return nodes
    found = read(folder / nodes.azure.prices, nodes.azure)
    preflight.caps(nodes.azure, nodes=nodes.count, hours=hours, per_hour=found.per_hour)
    return nodes.model_copy(update={"price_per_hour": found.per_hour, "price_source": found.source})


def read(path: Path, order: AzureOrder) -> HourlyPrice:
    """Return the price of one node of an order: the machine and its disks.

    Raises:
        UserError: When the table cannot be read, has no date, or lacks one of the prices.
    """
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise UserError(f"{path}: expected at most {MAX_BYTES} bytes, got {len(content)}. Is this a price table?")
        table = tomllib.loads(content.decode())
    except OSError as error:
        raise UserError(
            f"{path}: cannot be read: {error.strerror}. A run on Azure needs a price table: "
            "see docs/tutorial/07-azure.md, and [nodes.azure] prices."
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: not TOML: {error}. Correct that line.") from error
    return of_table(table, order, where=str(path))


def of_table(table: Mapping[str, Any], order: AzureOrder, *, where: str) -> HourlyPrice:
    """Return the price of one node of an order.

    Raises:
        UserError: Names the missing line.
    """
    date = table.get("date")
    if not isinstance(date, datetime.date):
        raise UserError(f"{where}: expected 'date = 2026-11-01', the day of these prices, got {date!r}. Add it.")
    currency = table.get("currency")
    if not isinstance(currency, str) or not currency:
        raise UserError(f"{where}: expected 'currency = \"USD\"', got {currency!r}. Add it.")
    here = f"{order.location}.{'spot' if order.spot else 'sizes'}"
    machine = _figure(table, here, order.size, where)
    disks = [order.os_disk, *([order.data_disk] if order.data_disk else [])]
    stored = sum(disk.gib * _figure(table, f"{order.location}.disks", disk.sku, where) for disk in disks)
    name = Path(where).name
    return HourlyPrice(per_hour=machine + stored / HOURS_PER_MONTH, source=f"{name} of {date:%Y-%m-%d}, {currency}")


def _figure(table: Mapping[str, Any], part: str, name: str, where: str) -> float:
    """Return one price, 0 or more."""
    found: Any = table
    for key in (*part.split("."), name):
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < 1e9:
        said = "there is none" if found is None else f"got {found!r}"
        raise UserError(f"{where}: [{part}]: expected the price of {name}, {said}. Add a line '{name} = 0.0'.")
    return float(found)
