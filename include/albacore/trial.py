"""Trial: a config that climbs the ladder of budgets, and what was concluded of it at each rung.

Also the Log: everything that happened in a campaign run, numbered without gaps. A trial is never stored; it is read
off the log.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from albacore.sample import Blame, Failure, Purpose, Sample

T = TypeVar("T")


class Direction(enum.StrEnum):
    """Say which way the target metric improves (TUNA §2)."""

    MIN = "min"
    MAX = "max"

    def cost(self, value: float) -> float:
        """Return the value with lower meaning better, the way optimizers read it."""
        return value if self is Direction.MIN else -value

    def worst(self, values: Sequence[float]) -> float:
        """Return the worst of at least one value."""
        return max(values) if self is Direction.MIN else min(values)

    def gain(self, value: float, reference: float) -> float:
        """Return how many times better `value` is than `reference`; 1.0 is equal. Both are positive."""
        return reference / value if self is Direction.MIN else value / reference


class Stability(enum.StrEnum):
    """Name what the detector and the failures say of a trial at a rung."""

    STABLE = "stable"
    UNSTABLE = "unstable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One suggestion handed to a lane.

    Attributes:
        index: 0, 1, 2 … without gaps per campaign run; seeds the optimizer.
        key: Id of the iteration that asked; an iteration asks once.
        rung: Index into the ladder's rungs.
        bracket: The bracket of the ladder that this ask belongs to.
        read_n: Number of the last event that the decision read; 0 for an empty log.
        inputs_digest: Digest of what the decision was computed from.
    """

    index: int
    key: str
    lane: int
    config_id: str
    rung: int
    bracket: int
    read_n: int
    inputs_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is concluded of a trial at one rung; told to the optimizer once.

    Attributes:
        rung: Index into the ladder's rungs; the default config is judged at the last one.
        relative_range: (max - min) / mean of the raw values; 0 for one value (TUNA §4.2).
        raw: Node -> figure as measured, in the metric's unit.
        adjusted: Node -> figure after the noise adjuster; equals `raw` when it was bypassed.
        score: The one value that is told, in the metric's unit; None is never told.
        reasons: Why the score is what it is, one line per step.
        read_n: Number of the last event that was read.
        is_capped: Whether the fleet had fewer eligible nodes than the rung asks for.
    """

    config_id: str
    rung: int
    stability: Stability
    relative_range: float
    raw: Mapping[str, float]
    adjusted: Mapping[str, float]
    score: float | None
    reasons: tuple[str, ...]
    read_n: int
    is_capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Anything else that changes what happens next: an iteration's end, a raised limit, a lane's end, a stop."""

    kind: str
    body: Mapping[str, object]


Fact = Ask | Sample | Failure | Judgement | Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One numbered entry of the log."""

    n: int
    at: float
    fact: Fact


@dataclass(frozen=True, slots=True)
class Log:
    """The events of one campaign run in their order, and questions about them."""

    events: tuple[Event, ...] = ()

    @property
    def last_n(self) -> int:
        """Number of the last event; 0 when there is none."""
        return self.events[-1].n if self.events else 0

    def until(self, n: int) -> "Log":
        """Return the log as it was when event `n` had just been written."""
        return Log(self.events[:n])

    def facts(self, kind: type[T]) -> list[T]:
        """Return the facts of one kind in their order."""
        return [event.fact for event in self.events if isinstance(event.fact, kind)]

    def notes(self, kind: str) -> list[Note]:
        """Return the notes of one kind in their order."""
        return [note for note in self.facts(Note) if note.kind == kind]

    def samples(self, config_id: str, purpose: Purpose = Purpose.TUNE) -> list[Sample]:
        """Return a config's samples taken for one purpose."""
        return [s for s in self.facts(Sample) if s.config_id == config_id and s.purpose is purpose]

    def trial(self, config_id: str) -> "Trial":
        """Return what is known of one config; a config nobody measured has an empty trial."""
        own = [event.fact for event in self.events if getattr(event.fact, "config_id", None) == config_id]
        return Trial(
            config_id=config_id,
            samples=tuple(f for f in own if isinstance(f, Sample) and f.purpose is not Purpose.VALIDATE),
            failures=tuple(f for f in own if isinstance(f, Failure) and f.purpose is not Purpose.VALIDATE),
            judgements=tuple(f for f in own if isinstance(f, Judgement)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A config's samples, failures and judgements, without those of the validation."""

    config_id: str
    samples: tuple[Sample, ...] = ()
    failures: tuple[Failure, ...] = ()
    judgements: tuple[Judgement, ...] = ()

    @property
    def nodes(self) -> frozenset[str]:
        """Nodes that this config has used up: it is never measured twice on one (TUNA §5.1)."""
        return frozenset(s.node for s in self.samples) | frozenset(f.node for f in self.failures if f.node)

    @property
    def config_failures(self) -> tuple[Failure, ...]:
        """Failures that are the config's own."""
        return tuple(f for f in self.failures if f.blame is Blame.CONFIG)

    @property
    def filled(self) -> frozenset[int]:
        """Slots that have an answer of the config: a sample, or its own failure."""
        return frozenset(fact.slot for fact in (*self.samples, *self.config_failures))

    def judged(self, rung: int) -> Judgement | None:
        """Return the judgement at a rung, if there is one."""
        return next((j for j in self.judgements if j.rung == rung), None)

    @property
    def top(self) -> Judgement | None:
        """The judgement at the highest rung reached."""
        return max(self.judgements, key=lambda j: j.rung, default=None)
