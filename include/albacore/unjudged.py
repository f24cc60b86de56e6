"""Unjudged: the asks that no judgement has ended: which of them wait for a lane, and which trials are given up."""

from collections import Counter
from collections.abc import Callable

from albacore import resampling
from albacore.counting import requeues
from albacore.sample import Failure
from albacore.trial import Ask, Judgement, Log

GIVE_UP_AFTER, GIVE_UP_ANYWAY_AFTER = 3, 4
"""Asks for one config at one rung, without a judgement, that are enough: with samples that failed, and of any kind.

The second is one less than the failures in a row that end a run: a config whose tasks always die ends none.
"""
Key = tuple[str, int, int]
"""Config id, rung, repeat."""


def open_asks(log: Log) -> list[Ask]:
    """Return the asks that no judgement has ended, oldest first; of several for one config and rung the last."""
    return resampling.unanswered(log)


def given_up(log: Log) -> set[tuple[str, int]]:
    """Return (config id, rung) of the trials that were asked for often enough without a judgement."""
    return {(config_id, rung) for config_id, rung, repeat in lost(log) if not repeat}


def lost(log: Log) -> set[Key]:
    """Return (config id, rung, repeat) of what was asked for often enough without being judged.

    An ask that ended without a recorded Failure (its tasks were killed, the scheduler was away) says little about the
    config, so it takes more of them. What was judged once, or is to be measured again, has all its asks anew.
    """
    every = Counter((a.config_id, a.rung, a.repeat) for a in log.recorded(Ask))
    if max(every.values(), default=0) < GIVE_UP_AFTER:  # nearly always, and then nothing else has to be read
        return set()
    asked, failed = _counted(log)
    judged = {(j.config_id, j.rung, 0) for j in log.facts(Judgement)}
    is_over = _is_over(log)
    running = {(a.config_id, a.rung, a.repeat) for a in open_asks(log) if not is_over(a)}
    gone = {k for k in asked if failed[k] >= GIVE_UP_AFTER or asked[k] >= GIVE_UP_ANYWAY_AFTER}
    return gone - judged - running


def _counted(log: Log) -> tuple[Counter[Key], Counter[Key]]:
    """Return asks since the last judgement or re-queue: how many, and in how many of them a sample failed."""
    asked: Counter[Key] = Counter()
    failed: Counter[Key] = Counter()
    clean: set[Key] = set()  # last asks in which nothing has failed yet
    repeats = resampling.repeats(log)
    again = {r.n: r.config_id for found in requeues(log.events).values() for r in found}
    for event in log.events:
        forgotten: set[Key] = set()
        match fact := event.fact:
            case Ask():
                key = (fact.config_id, fact.rung, fact.repeat)
                asked[key] += 1
                clean.add(key)
            case Failure(purpose=purpose) if purpose.is_tuning:
                hit = {key for key in clean if key[0] == fact.config_id}
                failed.update(hit)
                clean -= hit
            case Judgement():
                times = repeats.get((fact.config_id, fact.rung), 0) + 1
                forgotten = {(fact.config_id, fact.rung, repeat) for repeat in range(times)}
            case _ if event.n in again:
                forgotten = {key for key in asked if key[0] == again[event.n]}
        for key in forgotten:
            asked.pop(key, None)
            failed.pop(key, None)
        clean -= forgotten
    return asked, failed


def _is_over(log: Log) -> Callable[[Ask], bool]:
    """Return whether the iteration of an ask has ended: it said so, or its lane has asked again since."""
    ended = {note.body.get("key") for note in log.notes("iteration")}
    last: dict[int, int] = {}
    for ask in log.facts(Ask):
        last[ask.lane] = max(ask.index, last.get(ask.lane, -1))
    return lambda ask: ask.key in ended or last.get(ask.lane, -1) > ask.index


def abandoned(log: Log, lane: int) -> list[Ask]:
    """Return the open asks that somebody has to take over, oldest first.

    A lane that asks has no other iteration, so its own open asks are abandoned too. A config that another lane measures
    at this moment is left alone: when samples were taken away, several of its rungs are open at once.
    """
    gone = lost(log)
    found = [a for a in open_asks(log) if (a.config_id, a.rung, a.repeat) not in gone]
    is_over = _is_over(log)
    free = [a for a in found if a.lane == lane or is_over(a)]
    busy = {a.config_id for a in found if a.lane != lane and not is_over(a)}
    return [a for a in free if a.config_id not in busy]


def asked_again(log: Log) -> list[Ask]:
    """Return the asks for further measurements that are still to come, oldest first."""
    if not resampling.repeats(log):
        return []
    gone = lost(log)
    return [a for a in open_asks(log) if a.repeat and (a.config_id, a.rung, a.repeat) not in gone]
