"""Say how many rows the parameters ask for; the scripts name the same figures."""

from __future__ import annotations

from collections.abc import Mapping

ITEMS, CUSTOMERS = 100_000, 3_000


def sizes(params: Mapping[str, object]) -> dict[str, int]:
    """Return warehouses, items, and customers of a district."""
    scale = float(str(params["scale"]))
    return {
        "warehouses": int(str(params["warehouses"])),
        "items": max(100, round(ITEMS * scale)),
        "customers": max(30, round(CUSTOMERS * scale)),
    }
