"""Counting: which events of a log still count, after somebody excluded samples or had a config measured again.

Nothing is ever taken out of a log. A note says what does not count any more, and another one may take that back, so
what counts is a pure function of the events:

| an answer (a sample, or the config's own failure) counts unless | note |
|---|---|
| an exclusion in force names its node and the time it started at | `exclude`, taken back by `include` |
| its config was to be measured again after it, and it is not of the validation | `requeue`, taken back by `include` |
| an earlier answer of the same slot, or on the same node, counts: it was only its replacement | |

A judgement counts while the answers that it rested on are those that count today among the ones it could know; of
several at one rung, as after a further measurement (`resampling.py`), the newest.
So an exclusion that is taken back leaves exactly the decisions of a log without it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from albacore.fact import EXCLUDE, INCLUDE, REQUEUE, Ask, Event, Judgement, Note
from albacore.sample import Blame, Failure, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """What somebody took out of the decisions: what a node measured in a span of time.

    Attributes:
        id: How it is taken back.
        since, until: Seconds since the epoch, both included; compared with the start of a sample.
        n: Number of the event; `undone_n` of the one that took it back, None while it is in force.
    """

    id: str
    node: str
    since: float
    until: float
    by: str
    reason: str
    n: int
    undone_n: int | None = None

    def holds(self, n: int) -> bool:
        """Whether it was in force when event `n` had just been written."""
        return self.n <= n and (self.undone_n is None or self.undone_n > n)

    def hits(self, answer: Sample | Failure) -> bool:
        """Whether it speaks of an answer."""
        return answer.node == self.node and self.since <= answer.started_at <= self.until


def exclusions(events: Iterable[Event]) -> list[Exclusion]:
    """Return every exclusion of a log, in their order, those that were taken back too.

    A note that does not say what it takes away, out of a file that somebody edited, takes nothing.
    """
    notes = [(e.n, e.fact) for e in events if isinstance(e.fact, Note) and e.fact.kind in (EXCLUDE, INCLUDE)]
    undone = _undone(notes)
    found = (_exclusion(n, note, undone) for n, note in notes if note.kind == EXCLUDE)
    return [exclusion for exclusion in found if exclusion is not None]


def _exclusion(n: int, note: Note, undone: dict[str, int]) -> Exclusion | None:
    body = note.body
    since, until = body.get("since"), body.get("until")
    if "id" not in body or "node" not in body:
        return None
    if not isinstance(since, int | float) or not isinstance(until, int | float):
        return None
    return Exclusion(
        id=str(body["id"]),
        node=str(body["node"]),
        since=float(since),
        until=float(until),
        by=str(body.get("by", "")),
        reason=str(body.get("reason", "")),
        n=n,
        undone_n=undone.get(str(body["id"])),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """That a config is to be measured again; `undone_n` when the run ended before it was."""

    id: str
    config_id: str
    n: int
    undone_n: int | None = None

    def holds(self, n: int) -> bool:
        """Whether it was in force when event `n` had just been written."""
        return self.n <= n and (self.undone_n is None or self.undone_n > n)


def requeues(events: Iterable[Event]) -> dict[str, list[Requeue]]:
    """Return config id -> what had it measured again, oldest first."""
    notes = [(e.n, e.fact) for e in events if isinstance(e.fact, Note) and e.fact.kind in (REQUEUE, INCLUDE)]
    undone = _undone(notes)
    found: dict[str, list[Requeue]] = {}
    for n, note in notes:
        if note.kind == REQUEUE and "config" in note.body and "id" in note.body:
            config_id, name = str(note.body["config"]), str(note.body["id"])
            found.setdefault(config_id, []).append(
                Requeue(id=name, config_id=config_id, n=n, undone_n=undone.get(name))
            )
    return found


def _undone(notes: Sequence[tuple[int, Note]]) -> dict[str, int]:
    """Return id -> number of the event that took the exclusion or re-queue back."""
    return {str(note.body.get("id")): n for n, note in reversed(notes) if note.kind == INCLUDE}


def void(events: Sequence[Event]) -> frozenset[int]:
    """Return the numbers of the events that do not count any more."""
    acts = acts_of(events)
    again = {e.fact.config_id for e in events if isinstance(e.fact, Ask) and e.fact.repeat}
    if not acts.exclusions and not acts.requeues and not again:
        return frozenset()
    judged: dict[str, list[tuple[int, Judgement]]] = {}
    for event in events:
        if isinstance(event.fact, Judgement):
            judged.setdefault(event.fact.config_id, []).append((event.n, event.fact))
    found: set[int] = set()
    for config_id, own in _answers(events).items():
        is_acted_on = config_id in acts.requeues or any(x.hits(answer) for x in acts.exclusions for _, answer in own)
        if is_acted_on or config_id in again:
            found |= _void_of(own, judged.get(config_id, []), acts, events[-1].n)
    return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acts:
    """What was done to a log: exclusions, and config id -> its re-queues."""

    exclusions: Sequence[Exclusion]
    requeues: Mapping[str, Sequence[Requeue]]

    def renewals(self, events: Sequence[Event]) -> Counter[str]:
        """Return config id -> how often an action took answers of it away: the repeat that its next samples are.

        An exclusion that is taken back stays counted, so that no two samples ever have the same config, node and
        repeat. The answers of the validation are left out.
        """
        found = Counter({config_id: len(own) for config_id, own in self.requeues.items()})
        for config_id, own in _answers(events).items() if self.exclusions else ():
            tuned = [answer for _, answer in own if answer.purpose.is_tuning]
            found[config_id] += sum(any(x.hits(answer) for answer in tuned) for x in self.exclusions)
        return found

    def take_away(self, n: int, answer: Sample | Failure, as_of: int) -> bool:
        """Whether the acts up to event `as_of` take away the answer that is event `n`."""
        again = self.requeues.get(answer.config_id, ())
        if answer.purpose.is_tuning and any(n < r.n and r.holds(as_of) for r in again):
            return True
        return any(x.holds(as_of) and x.hits(answer) for x in self.exclusions)


def acts_of(events: Sequence[Event]) -> Acts:
    """Return what was done to a log."""
    return Acts(exclusions=exclusions(events), requeues=requeues(events))


Answers = Sequence[tuple[int, Sample | Failure]]
"""One config's answers, each with the number of its event."""


def _answers(events: Iterable[Event]) -> dict[str, list[tuple[int, Sample | Failure]]]:
    """Return config id -> its samples and its own failures, which are the answers that slots get."""
    found: dict[str, list[tuple[int, Sample | Failure]]] = {}
    for event in events:
        fact = event.fact
        if isinstance(fact, Sample) or (isinstance(fact, Failure) and fact.blame is Blame.CONFIG):
            found.setdefault(fact.config_id, []).append((event.n, fact))
    return found


def _void_of(answers: Answers, judged: Sequence[tuple[int, Judgement]], acts: Acts, now: int) -> set[int]:
    """Return the numbers of one config's answers and judgements that do not count."""
    dropped = {n for n, _ in answers} - _counted(answers, acts, now)
    tuned = [(n, answer) for n, answer in answers if answer.purpose.is_tuning]
    newest: dict[int, int] = {}
    for n, judgement in judged:
        known = [pair for pair in tuned if pair[0] <= judgement.read_n]
        if _counted(known, acts, judgement.read_n) != _counted(known, acts, now):
            dropped.add(n)
        else:
            dropped |= {newest[judgement.rung]} if judgement.rung in newest else set()
            newest[judgement.rung] = n
    return dropped


def _counted(answers: Answers, acts: Acts, as_of: int) -> set[int]:
    """Return the numbers of one config's answers that count by the acts up to an event."""
    left = [(n, answer) for n, answer in answers if not acts.take_away(n, answer, as_of)]
    kept: dict[int, Sample | Failure] = {}
    for n, answer in sorted(left, key=lambda pair: (pair[1].repeat, pair[0])):
        if not any(_replaces(answer, earlier) for earlier in kept.values()):
            kept[n] = answer
    return set(kept)


def _replaces(answer: Sample | Failure, earlier: Sample | Failure) -> bool:
    """Whether an answer was asked for only because an earlier one did not count: same slot, or same node."""
    if not answer.purpose.is_tuning or answer.purpose is not earlier.purpose:
        return False
    return answer.repeat > earlier.repeat and (answer.slot == earlier.slot or answer.node == earlier.node)
