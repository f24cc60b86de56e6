"""Say how many rows the parameters ask for."""

from __future__ import annotations

from collections.abc import Mapping

SUPPLIERS, PARTS, CUSTOMERS, ORDERS = 10_000, 200_000, 150_000, 1_500_000


def sizes(params: Mapping[str, object]) -> dict[str, int]:
    """Return suppliers, parts, customers and orders, in the proportions of TPC-H."""
    scale = float(str(params["scale"]))
    counts = {"suppliers": SUPPLIERS, "parts": PARTS, "customers": CUSTOMERS, "orders": ORDERS}
    return {name: max(100, round(count * scale)) for name, count in counts.items()}
