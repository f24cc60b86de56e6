"""Policy: how many samples a trial gets and where, and how they become one score.

| part | question | kinds | no-op |
|---|---|---|---|
| Ladder | which config next, on how many nodes? | `brackets.Brackets`, `asynchronous.Asynchronous` | one rung |
| Detector | is it unstable? | `relative_range.RelativeRange` | `relative_range.Never` |
| Adjuster | which part of a figure is the platform's noise? | `forest`, `ridge`, `extra_trees`, … | `Identity` |
| Aggregate | which one value is reported? | `Worst` | |

A part decides from values; none of them reads a store or a clock. To add a kind, write it in a file of its own and
name it in `presets.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from albacore.sample import Sample
from albacore.trial import Ask, Direction, Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the ladder wants next.

    Attributes:
        config_id: The config to promote or to finish; None asks the optimizer for a new one.
        rung: Index of the rung it is to be measured at.
        bracket: The bracket that the ask belongs to.
    """

    config_id: str | None
    rung: int
    bracket: int


class Ladder(Protocol):
    """Decide how many nodes a config is measured on (TUNA §4.1, §5.1)."""

    @property
    def rungs(self) -> tuple[int, ...]:
        """Nodes per rung, strictly rising."""
        ...

    def step(self, asks: Sequence[Ask], costs: Mapping[tuple[str, int], float]) -> Step:
        """Return the next step, a pure function of its arguments.

        Args:
            asks: Every ask so far, in order.
            costs: (config id, rung) -> cost of the finished ones, lower is better; infinite for one that was given up.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What the detector saw: the relative range, and whether that is unstable."""

    relative_range: float
    is_unstable: bool
    reason: str


class Detector(Protocol):
    """Tell whether a config behaves differently from node to node (TUNA §4.2)."""

    def detect(self, values: Sequence[float]) -> Detection:
        """Judge at least one value, one per node, in the metric's unit."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One sample as the adjuster sees it: never the performance among the features.

    Attributes:
        node: The node it was taken on.
        value: The figure as measured, in the metric's unit.
        telemetry: Guest metrics of the measurement.
    """

    node: str
    value: float
    telemetry: Mapping[str, float]

    @classmethod
    def of(cls, sample: Sample, metric: str) -> "Reading":
        """Take from a sample what the adjuster may know."""
        return cls(node=sample.node, value=sample.value(metric), telemetry=sample.telemetry)


class Adjuster(Protocol):
    """Remove from figures what the platform did to them (TUNA §4.3)."""

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the adjusted values, in the order of `readings`, and one line that says what was done.

        Args:
            readings: The samples of the trial at hand.
            history: The samples of each earlier stable trial that ran on the ladder's highest rung, oldest first.
            seed: Seeds the model.
        """
        ...


@runtime_checkable
class Teachable(Protocol):
    """An adjuster that can learn from trials of earlier runs too."""

    def taught_by(self, earlier: Sequence[Sequence[Reading]]) -> Adjuster:
        """Return the adjuster that has these trials too; nodes that are not the same machines have other names."""
        ...


class Aggregate(Protocol):
    """Turn the values of a full rung into the one that is reported (TUNA §4.4)."""

    def score(self, values: Sequence[float], direction: Direction) -> float:
        """Return one value, in the metric's unit."""
        ...


@dataclass(frozen=True, slots=True)
class Identity:
    """Adjust nothing: the ablation of the noise adjuster (TUNA §6.6)."""

    def adjust(
        self, readings: Sequence[Reading], history: Sequence[Sequence[Reading]], *, seed: int
    ) -> tuple[list[float], str]:
        """Return the values as they were measured."""
        return [reading.value for reading in readings], "no adjuster"


@dataclass(frozen=True, slots=True)
class Worst:
    """Report the worst value (TUNA §4.4: `min` of a throughput, `max` of a latency)."""

    def score(self, values: Sequence[float], direction: Direction) -> float:
        """Return the worst of at least one value."""
        return direction.worst(values)


@dataclass(frozen=True, slots=True)
class Halve:
    """Penalise an unstable config: half of a throughput, twice a latency (TUNA §4.2).

    Written as a step of |score|/2 (max) or |score| (min), so that a figure below zero gets worse too.
    """

    def penalise(self, score: float, direction: Direction) -> float:
        """Return the penalised score."""
        return score + abs(score) if direction is Direction.MIN else score - abs(score) / 2


@dataclass(frozen=True, slots=True)
class WorstSeen:
    """Score a config that failed by the worst figure seen so far, never by infinity (TUNA §6.4)."""

    def score(self, judgements: Sequence[Judgement], direction: Direction) -> float | None:
        """Return the worst raw or told value of all judgements; None when nothing was ever measured."""
        seen = [v for j in judgements for v in j.raw.values()] + [j.score for j in judgements if j.score is not None]
        return direction.worst(seen) if seen else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The parts together, fixed before the first sample."""

    name: str
    ladder: Ladder
    detector: Detector
    adjuster: Adjuster
    aggregate: Aggregate
    penalty: Halve
    crash: WorstSeen
