"""ObservedSpace: the space of a run that another tuner recorded, as far as its configs show it.

Recorded samples carry configs, not bounds. A knob's kind and range are read off the values that the run tried: whole
numbers and reals from the least to the greatest, texts as choices. A knob that a config does not name has the text
"" there. The values stay exactly as recorded; only the default, which a Space keeps on its grid, may be rounded to a
millionth of the range.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from albacore.errors import HistoryError
from albacore.space import Config, Kind, Knob, Space, Value
from albacore.space.knob import LIMIT

ABSENT = ""
"""Value of a knob that a config does not name."""


def observed(configs: Mapping[str, Mapping[str, Any]], default_id: str) -> tuple[Space, dict[str, Config]]:
    """Return the space that configs were drawn from, and each of them as a Config, by the id it was recorded under.

    Args:
        configs: Recorded id -> knob -> value.
        default_id: Recorded id of the default config.

    Raises:
        HistoryError: A knob has no values that can be told apart, or no config has a knob.
    """
    names = list(dict.fromkeys(name for config in configs.values() for name in config))
    if not names:
        raise HistoryError("expected configs with knobs, got none. Is the file of configs beside the samples?")
    columns = {name: _column([config.get(name) for config in configs.values()]) for name in names}
    typed = {config_id: Config({name: columns[name][i] for name in names}) for i, config_id in enumerate(configs)}
    space = Space(knobs=tuple(_knob(name, columns[name], typed[default_id][name]) for name in names))
    return space, typed | {default_id: space.default()}


def _column(values: Sequence[Any]) -> list[Value]:
    """Return the values of one knob in one type: numbers where all are, else texts."""
    if all(isinstance(v, bool) for v in values):
        return list(values)
    is_number = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if is_number and all(math.isfinite(v) and abs(v) <= LIMIT for v in values):
        return list(values) if all(isinstance(v, int) for v in values) else [float(v) + 0.0 for v in values]
    return [ABSENT if v is None else str(v) for v in values]


def _knob(name: str, values: Sequence[Value], default: Value) -> Knob:
    """Return the knob that shows in its values."""
    first = values[0]
    if isinstance(first, bool):
        return Knob(name=name, kind=Kind.BOOL, default=default)
    if isinstance(first, str):
        return Knob(name=name, kind=Kind.CHOICE, default=default, choices=tuple(sorted(map(str, set(values)))))
    kind = Kind.INT if isinstance(first, int) else Kind.REAL
    numbers = [float(v) for v in values]
    return Knob(name=name, kind=kind, default=default, low=min(numbers), high=max(numbers))
