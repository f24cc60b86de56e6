"""Rules: what must hold between the knobs of one config, and the repair that makes it hold.

A special value (-1 for "computed", 0 for "off") has no size, so no rule reads it. Repair first raises the upper knobs
of a relation to where the lower ones can follow, then only ever lowers: first to keep the relations, then the sums,
then the relations again. Lowering breaks no sum, so one pass is enough and a config that keeps the rules stays as it
is.
"""

import graphlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from albacore.errors import SpaceError
from albacore.space.knob import Knob, Value

SHRINK = 1 - 1e-12
"""Keeps a scaled sum below its limit when the scaling itself is rounded up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMost:
    """The knob `lower` never exceeds the knob `upper`; both have the same unit."""

    lower: str
    upper: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySum:
    """A weighted sum of knobs stays within a number of bytes.

    Attributes:
        terms: Pairs of knob and weight; a knob's unit says how many bytes its 1 is.
    """

    terms: tuple[tuple[str, float], ...]
    max_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The relations and sums over some knobs."""

    knobs: Mapping[str, Knob]
    relations: tuple[AtMost, ...] = ()
    memory: tuple[MemorySum, ...] = ()

    def check(self) -> None:
        """Refuse rules that name no such knob, contradict each other, or leave no legal config.

        Raises:
            SpaceError: Names the rule and the remedy.
        """
        for relation in self.relations:
            lower, upper = self._numeric(relation.lower, "relation"), self._numeric(relation.upper, "relation")
            if lower.unit != upper.unit:
                raise self._error(
                    relation, f"units differ: '{lower.unit}' and '{upper.unit}'", "Give both knobs the same unit"
                )
        floors = self._floors()
        for part in self.memory:
            self._check_sum(part, floors)

    def _check_sum(self, part: MemorySum, floors: Mapping[str, float]) -> None:
        for name, weight in part.terms:
            self._numeric(name, "memory").bytes_of(self.knobs[name].default)
            if not (math.isfinite(weight) and weight > 0):
                raise self._error(part, f"the weight of '{name}' is {weight}", "Expected a number above 0")
        least = sum(weight * self.knobs[name].bytes_of(floors[name]) for name, weight in part.terms)
        if not least <= part.max_bytes:
            raise self._error(
                part, f"the lowest values need {least:.0f} bytes, the limit is {part.max_bytes:.0f}", "Raise max_bytes"
            )

    def _numeric(self, name: str, where: str) -> Knob:
        knob = self.knobs.get(name)
        if knob is None or not knob.kind.is_numeric:
            raise SpaceError(
                f"{where}: expected a knob with numbers, got '{name:.64}'. Correct the name or remove the rule.",
                knob=name,
            )
        return knob

    def _error(self, rule: object, fault: str, remedy: str) -> SpaceError:
        return SpaceError(f"{rule}: {fault}. {remedy}.")

    def _downwards(self) -> list[AtMost]:
        """Return the relations from the uppermost knob down."""
        above: dict[str, set[str]] = {}
        for relation in self.relations:
            above.setdefault(relation.lower, set()).add(relation.upper)
        try:
            order = {name: place for place, name in enumerate(graphlib.TopologicalSorter(above).static_order())}
        except graphlib.CycleError as error:
            raise SpaceError(f"relations: {' <= '.join(error.args[1])} is a circle. Remove one of them.") from error
        return sorted(self.relations, key=lambda relation: order[relation.lower])

    def _floors(self) -> dict[str, float]:
        """Return the lowest value of each numeric knob that leaves room for the knobs below it."""
        floors = {name: knob.low for name, knob in self.knobs.items() if knob.low is not None}
        for relation in reversed(self._downwards()):
            upper = self.knobs[relation.upper]
            floors[upper.name] = max(floors[upper.name], upper.at_least(floors[relation.lower]))
            if floors[upper.name] < floors[relation.lower]:
                raise self._error(
                    relation, f"no value of '{upper.name}' reaches {floors[relation.lower]}", "Correct the bounds"
                )
        return floors

    def _sum(self, part: MemorySum, values: Mapping[str, Value]) -> float:
        return sum(weight * self.knobs[name].bytes_of(values[name]) for name, weight in part.terms)

    def _sized(self, relation: AtMost, values: Mapping[str, Value]) -> bool:
        """Whether neither side of a relation is a special value."""
        return not any(self.knobs[name].is_special(values[name]) for name in (relation.lower, relation.upper))

    def fault(self, values: Mapping[str, Value]) -> str:
        """Return the first broken rule in words; "" when all are kept."""
        for relation in self.relations:
            low, high = values[relation.lower], values[relation.upper]
            if self._sized(relation, values) and low > high:  # type: ignore[operator]
                return f"{relation.lower} = {low} is above {relation.upper} = {high}"
        for part in self.memory:
            total = self._sum(part, values)
            if total > part.max_bytes:
                terms = " + ".join(f"{weight:g} {name}" for name, weight in part.terms)
                return f"{terms} is {total:.0f} bytes, above {part.max_bytes:.0f}"
        return ""

    def kept(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return legal values changed as little as the rules need."""
        found = dict(values)
        if not self.fault(found):
            return found
        floors = self._floors()
        for relation in self.relations:
            for name in (relation.upper, relation.lower):
                if self._sized(relation, found):
                    found[name] = max(found[name], floors[name])
        self._lower(found)
        for part in self.memory:
            self._scale(part, found, floors)
        self._lower(found)
        return found

    def _lower(self, values: dict[str, Value]) -> None:
        """Lower the first knob of each relation to the second."""
        for relation in self._downwards():
            if self._sized(relation, values) and values[relation.lower] > values[relation.upper]:  # type: ignore[operator]
                values[relation.lower] = self.knobs[relation.lower].at_most(float(values[relation.upper]))

    def _scale(self, part: MemorySum, values: dict[str, Value], floors: Mapping[str, float]) -> None:
        """Scale down what the knobs of a sum have above their floors, all by the same factor."""
        total = self._sum(part, values)
        if total <= part.max_bytes:
            return
        sized = [name for name, _ in part.terms if not self.knobs[name].is_special(values[name])]
        least = self._sum(part, {**values, **{name: min(floors[name], values[name]) for name in sized}})
        factor = max(part.max_bytes - least, 0.0) / (total - least) * SHRINK
        for name in sized:
            floor = min(floors[name], float(values[name]))
            values[name] = max(
                self.knobs[name].at_most(floor + (float(values[name]) - floor) * factor),
                self.knobs[name].at_most(floor),
            )
