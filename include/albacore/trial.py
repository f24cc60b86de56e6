"""Trial: a config that climbs the ladder of budgets, and what was concluded of it at each rung.

Also the Log: everything that happened in a campaign run, numbered without gaps. A trial is never stored; it is read
off the log.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from albacore import counting
from albacore.fact import EXCLUDE, INCLUDE, REOPEN, REQUEUE, Ask, Direction, Event, Fact, Judgement, Note, Stability
from albacore.sample import Blame, Failure, Purpose, Sample

__all__ = ["Ask", "Direction", "Event", "Fact", "Judgement", "Log", "Note", "Stability", "Trial"]

T = TypeVar("T")
ACTS = (EXCLUDE, INCLUDE, REQUEUE)
"""Kinds of the notes by which answers stop to count, or count again."""
OF_A_CONFIG = (Sample, Failure, Judgement)
"""What a trial is made of."""


@dataclass(frozen=True)
class Log:
    """The events of one campaign run in their order, and questions about them.

    Every question is answered from what counts: samples that were excluded, and judgements that rested on them, are in
    `events` and in `recorded` only (`counting.py`).
    """

    events: tuple[Event, ...] = ()

    def plus(self, event: Event) -> "Log":
        """Return the log with one more event; what this one has looked up already is not looked up again."""
        found = Log((*self.events, event))
        known, fact = self.__dict__, event.fact
        if "_by_kind" in known:
            own = known["_by_kind"]
            found.__dict__["_by_kind"] = {**own, type(fact): [*own.get(type(fact), ()), event]}
        if "_by_config" in known and isinstance(fact, OF_A_CONFIG):
            own = known["_by_config"]
            found.__dict__["_by_config"] = {**own, fact.config_id: [*own.get(fact.config_id, ()), event]}
        elif "_by_config" in known:
            found.__dict__["_by_config"] = known["_by_config"]
        return found

    @property
    def last_n(self) -> int:
        """Number of the last event; 0 when there is none."""
        return self.events[-1].n if self.events else 0

    @cached_property
    def void(self) -> frozenset[int]:
        """Numbers of the events that do not count any more."""
        return counting.void(self.events) if self._is_acted_on else frozenset()

    @cached_property
    def _is_acted_on(self) -> bool:
        """Whether somebody took answers away, or a rung was measured again; nearly always nobody did."""
        is_noted = any(e.fact.kind in ACTS for e in self._by_kind.get(Note, ()) if isinstance(e.fact, Note))
        return is_noted or any(ask.repeat for ask in self.recorded(Ask))

    @cached_property
    def exclusions(self) -> list[counting.Exclusion]:
        """What was excluded, in its order; what was taken back too."""
        return counting.exclusions(self.events)

    @property
    def requeues(self) -> list[counting.Requeue]:
        """What was to be measured again; by config, then in its order."""
        return [again for found in counting.requeues(self.events).values() for again in found]

    @cached_property
    def reopened_n(self) -> int:
        """Number of the event that re-opened the run last; 0 while it was not."""
        return max((e.n for e in self.events if isinstance(e.fact, Note) and e.fact.kind == REOPEN), default=0)

    def renewals(self, config_id: str) -> int:
        """Return how often an action took answers of a config away: the repeat that its next samples are."""
        return self._renewals[config_id]

    @cached_property
    def _renewals(self) -> Counter[str]:
        return counting.acts_of(self.events).renewals(self.events) if self._is_acted_on else Counter()

    def until(self, n: int) -> "Log":
        """Return the log as it was when event `n` had just been written."""
        return Log(self.events[: bisect_right(self.events, n, key=lambda event: event.n)])

    @cached_property
    def _by_kind(self) -> Mapping[type, list[Event]]:
        """Kind of fact -> its events in their order: a log is asked for many kinds, and is read through once."""
        found: defaultdict[type, list[Event]] = defaultdict(list)
        for event in self.events:
            found[type(event.fact)].append(event)
        return found

    @cached_property
    def _by_config(self) -> Mapping[str, list[Event]]:
        """Config id -> the events that speak of it, in their order."""
        found: defaultdict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            if isinstance(event.fact, OF_A_CONFIG):
                found[event.fact.config_id].append(event)
        return found

    def facts(self, kind: type[T]) -> list[T]:
        """Return the facts of one kind that count, in their order."""
        void = self.void
        return [e.fact for e in self._by_kind.get(kind, ()) if isinstance(e.fact, kind) and e.n not in void]

    def recorded(self, kind: type[T]) -> list[T]:
        """Return every fact of one kind in their order, those too that do not count any more."""
        return [e.fact for e in self._by_kind.get(kind, ()) if isinstance(e.fact, kind)]

    def notes(self, kind: str, *, after: int = 0) -> list[Note]:
        """Return the notes of one kind in their order.

        Args:
            after: Leave out those up to this event.
        """
        own = self._by_kind.get(Note, ())
        return [e.fact for e in own if isinstance(e.fact, Note) and e.fact.kind == kind and e.n > after]

    def samples(self, config_id: str, purpose: Purpose = Purpose.TUNE) -> list[Sample]:
        """Return a config's samples taken for one purpose, as far as they count."""
        return [s for s in self.facts(Sample) if s.config_id == config_id and s.purpose is purpose]

    def trial(self, config_id: str) -> "Trial":
        """Return what counts of one config; a config nobody measured has an empty trial."""
        void = self.void
        own = [e.fact for e in self._by_config.get(config_id, ()) if e.n not in void]
        return Trial(
            config_id=config_id,
            samples=tuple(f for f in own if isinstance(f, Sample) and f.purpose.is_tuning),
            failures=tuple(f for f in own if isinstance(f, Failure) and f.purpose.is_tuning),
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
