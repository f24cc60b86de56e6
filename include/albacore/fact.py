"""Fact: what a campaign run's log is made of, beside samples and failures.

An ask says what is measured next, a judgement what was concluded of it, a note everything else that changes what
happens: the end of an iteration or a lane, and what a person did.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from albacore.sample import Failure, Sample

REOPEN = "reopen"
"""Kind of the note that lets an ended run go on."""
VERDICT = "verdict"
"""Kind of the note that a run's verdict is; the last one is in force."""
READMIT, STILL_OUT = "readmit", "still_out"
"""Kinds of the notes that somebody looked at a node in quarantine: it may be used again, or not yet."""
EARLIER = "earlier"
"""Kind of the note that says from which readings of earlier runs the adjuster learns too: `earlier.py`."""
SENTINEL = "sentinel"
"""Kind of the note that an iteration measures the default config again on a node."""
EXCLUDE, INCLUDE, REQUEUE = "exclude", "include", "requeue"
"""Kinds of the notes that change which samples count: `counting.py`."""


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
        repeat: 0, or the number of the further measurement of a judged rung that this asks for, from 1.
    """

    index: int
    key: str
    lane: int
    config_id: str
    rung: int
    bracket: int
    read_n: int
    inputs_digest: str
    repeat: int = 0


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
        is_capped: Whether it rests on fewer samples than the rung asks for.
        revision: How many judgements of this config at this rung came before: samples were taken away in between.
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
    revision: int = 0


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
