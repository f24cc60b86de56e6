"""Say how many rows the parameters ask for; the scripts name the same figures."""

from __future__ import annotations

from collections.abc import Mapping

USERS, ITEMS, REVIEWS, TRUSTS = 20_000, 10_000, 200_000, 200_000


def sizes(params: Mapping[str, object]) -> dict[str, int]:
    """Return users, items, reviews and pairs of trust."""
    scale = float(str(params["scale"]))
    counts = {"users": USERS, "items": ITEMS, "reviews": REVIEWS, "trusts": TRUSTS}
    return {name: max(100, round(count * scale)) for name, count in counts.items()}
