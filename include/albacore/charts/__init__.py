"""Charts: what the tuning pages show of a campaign run, as plain values ready for JSON.

One module per page, each with one function from a `Book` (a run as its pages read it) to a dict of lists, numbers and
texts. Pure: no clock, no store, no Airflow; the same log gives the same page. Columns instead of rows where there are
many: `{"x": [...], "y": [...]}`. What was never measured is None, never 0, and never a number that JSON does not have.
"""

import math
from collections.abc import Iterable


def finite(value: float | None) -> float | None:
    """Return the value, or None where JSON has no number for it (infinite, not a number)."""
    return value if value is not None and math.isfinite(value) else None


def rounded(values: Iterable[float | None], digits: int = 6) -> list[float | None]:
    """Return the values with so many significant digits: a tenth of the bytes, and nobody sees more on a chart."""
    return [None if v is None or not math.isfinite(v) else float(f"{v:.{digits}g}") for v in values]
