"""Catalogue: a system's knobs.toml, read strictly, and the Space it makes on a machine.

The file says what may be tuned within which bounds; bounds may be expressions over facts of the node. A campaign
selects knobs and narrows bounds. Whatever is wrong gives one error that names the file, the knob, the key and the
remedy.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from albacore.errors import ExpressionError, SpaceError
from albacore.expression import evaluate
from albacore.space import Space
from albacore.space.knob import Kind, Knob
from albacore.space.rules import AtMost, MemorySum

MAX_BYTES = 1_000_000
TABLES = {"knob": dict, "relation": list, "memory": list, "deny": dict}
KEYS: dict[str, tuple[type, ...]] = {
    "kind": (str,),
    "unit": (str,),
    "default": (int, float, str, bool),
    "min": (int, float, str),
    "max": (int, float, str),
    "log": (bool,),
    "choices": (list,),
    "special": (list,),
    "restart": (bool,),
    "doc": (str,),
    "safety": (str,),
    "why": (str,),
}
"""Key of a knob -> what TOML may hold there."""
BOUNDS = ("min", "max", "default")
"""Keys that a campaign may set, and that may be expressions."""
SAFETY = ("durable", "caution")
Facts = Mapping[str, int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The content of one knobs.toml.

    Attributes:
        where: The file, for messages.
        knobs: Name -> its table, checked for keys and types; bounds still as written.
        relations: Pairs of knob names.
        memory: Tables of `terms` and `max_bytes`; the limit as written.
        deny: Name -> why it must not be tuned.
    """

    where: str
    knobs: Mapping[str, Mapping[str, Any]]
    relations: tuple[tuple[str, str], ...] = ()
    memory: tuple[Mapping[str, Any], ...] = ()
    deny: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Catalogue":
        """Return the catalogue of a file.

        Raises:
            SpaceError: When the file cannot be read or is not a catalogue; one fault, with its remedy.
        """
        where = f"{path.parent.name}/{path.name}"
        try:
            content = path.read_bytes()
            if len(content) > MAX_BYTES:
                raise SpaceError(
                    f"{where}: expected at most {MAX_BYTES} bytes, got {len(content)}. Is this a knob catalogue?"
                )
            data = tomllib.loads(content.decode())
        except OSError as error:
            raise SpaceError(
                f"{where}: cannot be read: {error.strerror}. Check the path and its permissions."
            ) from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            raise SpaceError(
                f"{where}: not TOML: {error}. Correct that line; a knob may be there only once."
            ) from error
        return cls.parse(data, where=where)

    @classmethod
    def parse(cls, data: Mapping[str, Any], *, where: str) -> "Catalogue":
        """Return the catalogue that a table describes.

        Raises:
            SpaceError: When it is not a catalogue.
        """
        for key, table in data.items():
            if not isinstance(table, TABLES.get(key, ())):
                raise SpaceError(
                    f"{where}: {key:.64}: expected the tables {', '.join(TABLES)}. Remove it or correct its spelling.",
                    key=key,
                )
        knobs = data.get("knob", {})
        if not knobs:
            raise SpaceError(f"{where}: expected at least one [knob.<name>], got none. Add one.")
        for name, table in knobs.items():
            _check_knob(name, table, where)
        deny = data.get("deny", {})
        for name, why in deny.items():
            if not isinstance(why, str) or not why:
                raise SpaceError(f"{where}: deny.{name:.64}: expected a text that says why. Write one.", knob=name)
        return cls(
            where=where,
            knobs=knobs,
            relations=tuple(_relation(part, knobs, where) for part in data.get("relation", [])),
            memory=tuple(_memory(part, knobs, where) for part in data.get("memory", [])),
            deny=deny,
        )

    def space(
        self,
        facts: Facts,
        *,
        knobs: Iterable[str] | None = None,
        bounds: Mapping[str, Mapping[str, Any]] | None = None,
        allow_denied: bool = False,
        values: tuple[str, str] = ("on", "off"),
    ) -> Space:
        """Return the space on a machine with these facts.

        A rule joins when all of its knobs do. A sum keeps the terms of the knobs that are tuned; the others count
        with their default.

        Args:
            facts: What bounds may name: `ram_bytes`, `cores`, `disk_bytes`.
            knobs: Which knobs, in this order; None is all that are not denied.
            bounds: Knob -> `min`, `max`, `default` in place of the catalogue's; None keeps one.
            allow_denied: Whether denied knobs may be named in `knobs`.
            values: The system's words for true and false.

        Raises:
            SpaceError: When a name is unknown or denied, or the bounds make no range.
        """
        bounds = bounds or {}
        chosen = list(knobs) if knobs is not None else [name for name in self.knobs if name not in self.deny]
        for name in chosen:
            self._check_choice(name, allow_denied=allow_denied)
        for name in bounds:
            if name not in chosen:
                raise self._error(
                    f"bounds for '{name:.64}', which is not tuned", "Add it to space.knobs or remove its bounds", name
                )
        return Space(
            knobs=tuple(self._knob(name, facts, bounds.get(name, {})) for name in chosen),
            relations=tuple(AtMost(lower=a, upper=b) for a, b in self.relations if a in chosen and b in chosen),
            memory=tuple(self._sum(part, chosen, facts) for part in self.memory if set(part["terms"]) & set(chosen)),
            values=values,
        )

    def _error(self, fault: str, remedy: str, knob: str = "") -> SpaceError:
        return SpaceError(f"{self.where}: {fault}. {remedy}.", knob=knob)

    def _check_choice(self, name: str, *, allow_denied: bool) -> None:
        if name in self.deny and not allow_denied:
            raise self._error(
                f"knob '{name:.64}' is denied: {self.deny[name]}",
                "Leave it out, or set space.allow_denied = true",
                name,
            )
        if name not in self.knobs:
            raise self._error(
                f"unknown knob '{name:.64}'", "Correct its name in space.knobs, or add [knob.<name>]", name
            )

    def _knob(self, name: str, facts: Facts, override: Mapping[str, Any]) -> Knob:
        """Return one knob with its bounds computed."""
        table = {**self.knobs[name], **{key: value for key, value in override.items() if value is not None}}
        for key in override:
            if key not in BOUNDS:
                raise self._error(f"bounds of '{name}': unknown key '{key:.64}'", f"Expected {', '.join(BOUNDS)}", name)
        is_numeric = Kind(table["kind"]).is_numeric
        computed = {
            key: self._number(name, key, table, facts) if is_numeric else table[key] for key in BOUNDS if key in table
        }
        rest = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items() if key not in BOUNDS
        }
        denied = {"safety": "denied", "why": self.deny[name]} if name in self.deny else {}
        try:
            return Knob(
                name=name,
                low=computed.get("min"),
                high=computed.get("max"),
                default=computed["default"],
                **{**rest, **denied},
            )
        except SpaceError as error:
            raise SpaceError(f"{self.where}: {error.message}", **error.facts) from error

    def _number(self, name: str, key: str, table: Mapping[str, Any], facts: Facts) -> int | float:
        """Return a bound as a number; one that was computed is cut to a whole number where the knob needs it."""
        raw = table[key]
        if not isinstance(raw, str):
            return raw
        try:
            number = evaluate(raw, facts)
        except ExpressionError as error:
            raise ExpressionError(
                f"{self.where}: knob '{name}': {key}: {error.message}", knob=name, key=key, **error.facts
            ) from error
        return int(number) if table["kind"] == Kind.INT else number

    def _sum(self, part: Mapping[str, Any], chosen: list[str], facts: Facts) -> MemorySum:
        """Return a sum over the tuned knobs; what the others use by default is taken off the limit."""
        limit = self._number("memory", "max_bytes", {**part, "kind": "real"}, facts)
        rest = [name for name in part["terms"] if name not in chosen]
        if rest:
            fixed = {name: self._knob(name, facts, {}) for name in rest}
            limit -= sum(part["terms"][name] * knob.bytes_of(knob.default) for name, knob in fixed.items())
        return MemorySum(
            terms=tuple((name, float(w)) for name, w in part["terms"].items() if name in chosen), max_bytes=float(limit)
        )


def _check_knob(name: str, table: Any, where: str) -> None:
    """Refuse a knob's table with unknown keys, wrong types, or without kind and default."""
    at = f"{where}: knob '{name:.64}'"
    if not isinstance(table, dict):
        raise SpaceError(f"{at}: expected a table [knob.{name:.64}], got {table!r:.60}. Correct it.", knob=name)
    for key, value in table.items():
        if key not in KEYS:
            raise SpaceError(f"{at}: unknown key '{key:.64}'. Expected {', '.join(KEYS)}.", knob=name, key=key)
        if not isinstance(value, KEYS[key]) or (isinstance(value, bool) and bool not in KEYS[key]):
            kinds = " or ".join(kind.__name__ for kind in KEYS[key])
            raise SpaceError(f"{at}: {key}: expected {kinds}, got {value!r:.60}. Correct it.", knob=name, key=key)
    for key in ("kind", "default"):
        if key not in table:
            raise SpaceError(f"{at}: expected the key '{key}', there is none. Add it.", knob=name, key=key)
    if table["kind"] not in list(Kind):
        raise SpaceError(
            f"{at}: kind: expected {', '.join(Kind)}, got {table['kind']!r:.60}. Correct it.", knob=name, key="kind"
        )
    if table.get("safety", "durable") not in SAFETY:
        raise SpaceError(
            f"{at}: safety: expected {' or '.join(SAFETY)}, got {table['safety']!r:.60}. Correct it.",
            knob=name,
            key="safety",
        )
    if table.get("safety") == "caution" and not table.get("why"):
        raise SpaceError(f"{at}: safety is 'caution' without a word why. Add 'why'.", knob=name, key="why")


def _relation(part: Any, knobs: Mapping[str, Any], where: str) -> tuple[str, str]:
    """Return the two names of a [[relation]]."""
    names = part.get("less_or_equal") if isinstance(part, dict) and len(part) == 1 else None
    if not isinstance(names, list) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise SpaceError(
            f'{where}: relation: expected less_or_equal = ["first", "second"], got {part!r:.80}. Correct it.',
            key="relation",
        )
    _check_names(names, knobs, where, "relation")
    return names[0], names[1]


def _memory(part: Any, knobs: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return a [[memory]] after checking its keys."""
    terms = part.get("terms") if isinstance(part, dict) and set(part) == {"terms", "max_bytes"} else None
    if not isinstance(terms, dict) or not terms or not isinstance(part["max_bytes"], int | float | str):
        raise SpaceError(
            f"{where}: memory: expected terms = {{ knob = weight }} and max_bytes, got {part!r:.80}. Correct it.",
            key="memory",
        )
    for name, weight in terms.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise SpaceError(
                f"{where}: memory: '{name:.64}': expected a number, got {weight!r:.60}. Correct it.", key="memory"
            )
    _check_names(terms, knobs, where, "memory")
    return part


def _check_names(names: Iterable[str], knobs: Mapping[str, Any], where: str, key: str) -> None:
    for name in names:
        if name not in knobs:
            raise SpaceError(
                f"{where}: {key}: unknown knob '{name:.64}'. Correct the name or add [knob.<name>].", key=key, knob=name
            )
