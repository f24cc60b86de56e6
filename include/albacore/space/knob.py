"""Knob: one setting of a system, and how its values map to the unit interval and to text.

Optimizers work in [0, 1] per knob; systems read text; everything between holds plain Python values. The mapping of a
numeric knob with special values is TUNA's hybrid: the special values share the first `SPECIAL_SHARE` of the interval
in equal cells, the range has the rest.

```
u        0 ......... SPECIAL_SHARE .............................. 1
value    special[0] | special[1] | low ........ (log or linear) ... high
```

Reals live on a decimal grid (a millionth of the range, or six significant digits on a log scale), so that a value
survives the way there and back, and reads well in a config file.
"""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from albacore.errors import SpaceError

Value = int | float | str | bool
"""What a knob can be set to: a plain Python value, never numpy's, whose repr and so the config's digest differ."""

BYTES = {"B": 1, "kB": 1024, "KB": 1024, "8kB": 8192, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4, "": 1}
"""Unit of memory -> bytes, as PostgreSQL counts them."""
SPECIAL_SHARE = 0.2
DIGITS = 6
LIMIT = 2**53
"""Numbers beyond it are not exact as floats, so they would not survive the way through the unit interval."""


class Kind(enum.StrEnum):
    """Name what the values of a knob are."""

    INT = "int"
    REAL = "real"
    CHOICE = "choice"
    BOOL = "bool"

    @property
    def is_numeric(self) -> bool:
        """Whether the values have an order and bounds."""
        return self in (Kind.INT, Kind.REAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One setting.

    Attributes:
        unit: Appended to a number as text ("MB"); "" is none.
        default: The system's own default.
        low: Lowest value of the range, inclusive; None for choice and bool. `high` likewise.
        log: Whether the range is searched on a log scale; needs `low` above 0.
        choices: Values of a choice knob, in their order.
        special: Numbers that mean something of their own, inside or outside the range.
        restart: Whether a change needs a restart of the system.
        doc: Address of the documentation.
        safety: `durable`, `caution`, or `denied` when it was let in against the catalogue's advice; `why` says why.
    """

    name: str
    kind: Kind
    default: Value
    unit: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[str, ...] = ()
    special: tuple[int | float, ...] = ()
    restart: bool = True
    doc: str = ""
    safety: str = "durable"
    why: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))
        if self.kind.is_numeric:
            self._check_range()
            object.__setattr__(self, "special", tuple(self._number(value) for value in self.special))
        else:
            self._check_options()
        object.__setattr__(self, "default", self.value(self.default))

    def _check_range(self) -> None:
        """Refuse bounds that span no range; keep whole bounds for int."""
        if self.low is None or self.high is None:
            raise self._error("expected 'min' and 'max', one is missing", "Add it")
        low, high = self._number(self.low, math.ceil), self._number(self.high, math.floor)
        if low > high:
            raise self._error(f"min {low} is above max {high}", "Swap or correct them")
        if self.log and low <= 0:
            raise self._error(
                f"a log scale needs min above 0, got {low}", "Raise min (0 can be a special value) or drop log"
            )
        if self.choices:
            raise self._error("choices belong to kind 'choice'", "Remove them")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def _check_options(self) -> None:
        """Refuse what only numbers have, and choices that are not at least one distinct text."""
        if self.low is not None or self.high is not None or self.log or self.special or self.unit:
            raise self._error(f"kind '{self.kind}' has no min, max, log, special or unit", "Remove them")
        if (self.kind is Kind.CHOICE) != bool(self.choices):
            raise self._error("kind 'choice' has choices, and only it", "Correct kind or choices")
        if len(set(self.choices)) != len(self.choices) or not all(isinstance(c, str) for c in self.choices):
            raise self._error(f"expected distinct texts as choices, got {list(self.choices)!r:.80}", "Correct them")

    def _error(self, fault: str, remedy: str) -> SpaceError:
        return SpaceError(f"knob '{self.name:.64}': {fault}. {remedy}.", knob=self.name)

    def _number(self, value: object, whole: Callable[[float], int] | None = None) -> int | float:
        """Return a finite int or float as this kind holds it; `whole` rounds where the kind needs it (bounds only)."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LIMIT:
            raise self._error(f"expected a number within ±2^53, got {value!r:.60}", "Correct it")
        if self.kind is Kind.REAL:
            return float(value) + 0.0  # -0.0 becomes 0.0: equal values have equal digests
        if value == int(value):
            return int(value)
        if whole is not None:
            return whole(value)
        raise self._error(f"expected a whole number, got {value!r:.60}", "Correct it")

    @property
    def options(self) -> tuple[Value, ...]:
        """The values that are not a range: the choices, or the special numbers."""
        if self.kind is Kind.BOOL:
            return (False, True)
        return self.choices or self.special

    @property
    def bounds(self) -> str:
        """The legal values in words, with the unit."""
        if not self.kind.is_numeric:
            return "one of " + ", ".join(str(option) for option in self.options)
        special = "".join(f" or {value}" for value in self.special)
        return f"{self.low} to {self.high}{' ' + self.unit if self.unit else ''}{special}"

    @property
    def size(self) -> float:
        """How many different values there are; infinite for a real range."""
        if not self.kind.is_numeric:
            return len(self.options)
        if self.kind is Kind.REAL and self.low != self.high:
            return math.inf
        return len(self.special) + self.high - self.low + 1  # type: ignore[operator]

    def all_values(self) -> tuple[Value, ...]:
        """Return every value of a knob of finite size, the special ones first."""
        if not self.kind.is_numeric:
            return self.options
        if self.kind is Kind.REAL:
            return tuple(dict.fromkeys((*self.special, self.nearest(0.0))))
        whole = range(int(self.low), int(self.high) + 1)  # type: ignore[arg-type]
        return tuple(dict.fromkeys((*self.special, *whole)))

    def is_special(self, value: Value) -> bool:
        """Whether the value means something of its own instead of its size."""
        return self.kind.is_numeric and value in self.special

    def value(self, raw: object) -> Value:
        """Return a value as this knob holds it: plain, of its kind, reals on their grid.

        Raises:
            SpaceError: When it is not a legal value.
        """
        if self.kind is Kind.BOOL:
            if not isinstance(raw, bool):
                raise self._error(f"expected true or false, got {raw!r:.60}", "Correct it")
            return raw
        if self.kind is Kind.CHOICE:
            if not isinstance(raw, str) or str(raw) not in self.choices:
                raise self._error(
                    f"expected {self.bounds}, got {raw!r:.60}", "Choose one of them or extend 'choices' in knobs.toml"
                )
            return str(raw)  # numpy.str_ is a str, and prints otherwise
        number = self._number(raw)
        if number in self.special:
            return number
        if not self.low <= number <= self.high:  # type: ignore[operator]
            unit = f" {self.unit}" if self.unit else ""
            raise self._error(
                f"{number}{unit} is outside {self.bounds}", "Choose a value inside, or move the bound in knobs.toml"
            )
        return self.nearest(number)

    def nearest(self, number: float) -> int | float:
        """Return the value of the range that is nearest to a number."""
        return min(max(self._on_grid(number), self.low), self.high)  # type: ignore[type-var]

    def at_most(self, number: float) -> int | float:
        """Return the largest value of the range that is not above a number; `low` when none is."""
        found = self.nearest(number)
        return self.nearest(number - self._step(number)) if found > number else found

    def at_least(self, number: float) -> int | float:
        """Return the smallest value of the range that is not below a number; `high` when none is."""
        found = self.nearest(number)
        return self.nearest(number + self._step(number)) if found < number else found

    def _places(self, number: float) -> int:
        """Return how many decimal places the grid has near a number."""
        size = abs(number) if self.log else self.high - self.low  # type: ignore[operator]
        return DIGITS - math.floor(math.log10(size)) if size > 0 else 15

    def _step(self, number: float) -> float:
        return 1.0 if self.kind is Kind.INT else 10.0 ** -self._places(number)

    def _on_grid(self, number: float) -> int | float:
        return round(number) if self.kind is Kind.INT else round(number, self._places(number)) + 0.0

    def decode(self, u: float) -> Value:
        """Return the value at a place of the unit interval."""
        u = min(max(float(u), 0.0), 1.0)
        if not self.kind.is_numeric:
            return self.options[min(int(u * len(self.options)), len(self.options) - 1)]
        share = SPECIAL_SHARE if self.special else 0.0
        if u < share:
            return self.special[min(int(u / share * len(self.special)), len(self.special) - 1)]
        first, last = self._ends()
        place = first + (last - first) * (u - share) / (1.0 - share)
        return self.nearest(math.exp(place) if self.log else place)

    def encode(self, value: Value) -> float:
        """Return the place of a legal value in the unit interval: the middle of its cell, if it has one."""
        if value in self.options:
            share = SPECIAL_SHARE if self.kind.is_numeric else 1.0
            return share * (self.options.index(value) + 0.5) / len(self.options)
        share = SPECIAL_SHARE if self.special else 0.0
        first, last = self._ends()
        place = math.log(float(value)) if self.log else float(value)
        # A logarithm and a sum round: the upper end of a range must not come out above 1.
        return min(1.0, share + (1.0 - share) * (place - first) / (last - first)) if last > first else share

    def encode_all(self, values: Sequence[Value]) -> list[float]:
        """Return what `encode` does of many values, bit for bit; what depends on the knob alone is computed once."""
        share = SPECIAL_SHARE if self.kind.is_numeric else 1.0
        places = {option: share * (i + 0.5) / len(self.options) for i, option in enumerate(self.options)}
        if not self.kind.is_numeric:
            return [places[value] for value in values]
        share = SPECIAL_SHARE if self.special else 0.0
        first, last = self._ends()

        def place(value: Value) -> float:
            at = math.log(float(value)) if self.log else float(value)
            return min(1.0, share + (1.0 - share) * (at - first) / (last - first)) if last > first else share

        return [places[value] if value in places else place(value) for value in values]

    def _ends(self) -> tuple[float, float]:
        """Return the range on the scale it is searched on; whole numbers own half a step to each side."""
        margin = 0.5 if self.kind is Kind.INT else 0.0
        first, last = self.low - margin, self.high + margin  # type: ignore[operator]
        return (math.log(first), math.log(last)) if self.log else (first, last)

    def bytes_of(self, value: Value) -> float:
        """Return how much memory a value asks for; a special value counts as nothing.

        Raises:
            SpaceError: When the unit is not one of memory.
        """
        if self.unit not in BYTES or not self.kind.is_numeric:
            raise self._error(
                f"a memory sum needs a number with one of the units {', '.join(BYTES)}", "Correct the unit or the sum"
            )
        return 0.0 if self.is_special(value) else float(value) * BYTES[self.unit]

    def text(self, value: Value, values: tuple[str, str] = ("on", "off")) -> str:
        """Return the value as the system's config file wants it.

        Numbers are plain decimals followed by the unit. A special value has no unit: PostgreSQL reads `-1MB` as -128
        pages, not as -1.

        Args:
            values: The words for true and false.
        """
        if isinstance(value, bool):
            return values[0] if value else values[1]
        if isinstance(value, str):
            return value
        plain = format(Decimal(repr(value)), "f")
        return plain if self.is_special(value) else plain + self.unit
