"""Counting: which events of a log still count, after somebody excluded samples or had a config measured again.

Nothing is ever taken out of a log. A note says what does not count any more, and another one may take that back, so
what counts is a pure function of the events:

| an answer (a sample, or the config's own failure) counts unless | note |
|---|---|
| an exclusion in force names its node and the time it started at | `exclude`, taken back by `include` |
| its config was to be measured again after it, and it is not of the validation | `requeue` |
| an earlier answer of the same slot counts: it was only its replacement | |

A judgement counts while the answers that it rested on are those that count today among the ones it could know; of
several at one rung, the newest. So an exclusion that is taken back leaves exactly the decisions of a log without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from albacore.fact import EXCLUDE, INCLUDE, REQUEUE, Event, Judgement, Note
from albacore.sample import Blame, Failure, Purpose, Sample


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
    """Return every exclusion of a log, in their order, those that were taken back too."""
    notes = [(e.n, e.fact) for e in events if isinstance(e.fact, Note) and e.fact.kind in (EXCLUDE, INCLUDE)]
    undone = {str(note.body.get("id")): n for n, note in reversed(notes) if note.kind == INCLUDE}
    return [_exclusion(n, note, undone) for n, note in notes if note.kind == EXCLUDE]


def _exclusion(n: int, note: Note, undone: dict[str, int]) -> Exclusion:
    body = note.body
    return Exclusion(
        id=str(body["id"]),
        node=str(body["node"]),
        since=float(str(body["since"])),
        until=float(str(body["until"])),
        by=str(body.get("by", "")),
        reason=str(body.get("reason", "")),
        n=n,
        undone_n=undone.get(str(body["id"])),
    )


def requeues(events: Iterable[Event]) -> dict[str, list[int]]:
    """Return config id -> numbers of the events that had it measured again."""
    found: dict[str, list[int]] = {}
    for event in events:
        if isinstance(event.fact, Note) and event.fact.kind == REQUEUE:
            found.setdefault(str(event.fact.body["config"]), []).append(event.n)
    return found


def void(events: Sequence[Event]) -> frozenset[int]:
    """Return the numbers of the events that do not count any more."""
    acts = Acts(exclusions=exclusions(events), requeues=requeues(events))
    if not acts.exclusions and not acts.requeues:
        return frozenset()
    judged: dict[str, list[tuple[int, Judgement]]] = {}
    for event in events:
        if isinstance(event.fact, Judgement):
            judged.setdefault(event.fact.config_id, []).append((event.n, event.fact))
    found: set[int] = set()
    for config_id, own in _answers(events).items():
        if config_id in acts.requeues or any(x.hits(answer) for x in acts.exclusions for _, answer in own):
            found |= _void_of(own, judged.get(config_id, []), acts, events[-1].n)
    return frozenset(found)


def renewals(events: Sequence[Event], config_id: str) -> int:
    """Return how often an action took answers of a config away: the repeat that its next samples are.

    An exclusion that is taken back stays counted, so that no two samples ever have the same config, node and repeat.
    """
    tuned = [a for _, a in _answers(events).get(config_id, []) if a.purpose is not Purpose.VALIDATE]
    hit = sum(any(x.hits(answer) for answer in tuned) for x in exclusions(events))
    return hit + len(requeues(events).get(config_id, []))


@dataclass(frozen=True, slots=True, kw_only=True)
class Acts:
    """What was done to a log: exclusions, and config id -> numbers of its re-queues."""

    exclusions: Sequence[Exclusion]
    requeues: Mapping[str, Sequence[int]]

    def take_away(self, n: int, answer: Sample | Failure, as_of: int) -> bool:
        """Whether the acts up to event `as_of` take away the answer that is event `n`."""
        again = self.requeues.get(answer.config_id, ())
        if answer.purpose is not Purpose.VALIDATE and any(n < number <= as_of for number in again):
            return True
        return any(x.holds(as_of) and x.hits(answer) for x in self.exclusions)


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
    tuned = [(n, answer) for n, answer in answers if answer.purpose is not Purpose.VALIDATE]
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
    first: dict[tuple[Purpose, int], int] = {}
    for _, answer in left:
        place = answer.purpose, answer.slot
        first[place] = min(first.get(place, answer.repeat), answer.repeat)
    return {
        n
        for n, answer in left
        if answer.purpose is Purpose.VALIDATE or answer.repeat == first[answer.purpose, answer.slot]
    }
