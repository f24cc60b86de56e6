"""Resampling: a rung that was judged is measured on one more node, and judged again.

Metis asks for a second measurement of a config whose score does not fit the others (Metis §4.2.1). Here that is an ask
with a `repeat`: 1 for the first of its rung, 2 for the second. It widens the rung of this one config by a node; the
judgement that follows rests on all of its samples and takes the place of the one before (`counting.py`).

A log without such asks is read exactly as before there were any.
"""

from collections import Counter
from collections.abc import Iterable

from albacore.fact import READMIT, Ask, Event, Judgement, Note
from albacore.sample import Blame, Failure, Sample
from albacore.trial import Log

QUARANTINE_AFTER = 2
"""NodeFailures after which a node gets no more samples."""
Key = tuple[str, int]
"""Config id and rung."""


def repeats(log: Log) -> dict[Key, int]:
    """Return how often each rung of each config was asked for again; those never asked for again are left out."""
    found: dict[Key, int] = {}
    for ask in log.facts(Ask):
        if ask.repeat:
            found[ask.config_id, ask.rung] = max(ask.repeat, found.get((ask.config_id, ask.rung), 0))
    return found


def nodes_of(log: Log, rungs: tuple[int, ...], config_id: str, rung: int) -> int:
    """Return how many samples a rung of a config needs before it is judged."""
    return rungs[rung] + repeats(log).get((config_id, rung), 0)


def unanswered(log: Log) -> list[Ask]:
    """Return the asks that no judgement has ended, oldest first; of several of the same repeat the last.

    A rung's first ask is ended by any judgement that counts, a repeat by one that came after it was asked first.
    """
    judged = _judged_at(log)
    first: dict[tuple[str, int, int], int] = {}
    last: dict[tuple[str, int, int], Ask] = {}
    for event in log.events:
        if isinstance(event.fact, Ask):
            key = (event.fact.config_id, event.fact.rung, event.fact.repeat)
            first.setdefault(key, event.n)
            last[key] = event.fact
    return [ask for key, ask in last.items() if judged.get(key[:2], -1) < (first[key] if ask.repeat else 0)]


def answer_to(log: Log, index: int) -> Judgement | None:
    """Return the judgement that ended an ask, None while there is none.

    Args:
        log: The log.
        index: The ask's.
    """
    at, ask = next((e.n, e.fact) for e in log.events if isinstance(e.fact, Ask) and e.fact.index == index)
    found = [e for e in _judgements(log) if (e.fact.config_id, e.fact.rung) == (ask.config_id, ask.rung)]  # type: ignore[union-attr]
    found = [e for e in found if not ask.repeat or e.n > at]
    return found[-1].fact if found else None  # type: ignore[return-value]


def _judgements(log: Log) -> Iterable[Event]:
    return (e for e in log.events if isinstance(e.fact, Judgement) and e.n not in log.void)


def _judged_at(log: Log) -> dict[Key, int]:
    """Return (config id, rung) -> number of the event that judged it; the newest that counts."""
    return {(e.fact.config_id, e.fact.rung): e.n for e in _judgements(log)}  # type: ignore[union-attr]


def quarantined(log: Log) -> set[str]:
    """Return the nodes that failed often enough to get no samples until somebody has looked at them."""
    faults = Counter(f.node for f in log.facts(Failure) if f.blame is Blame.NODE and f.node)
    if log.notes(READMIT):
        faults = _since_readmitted(log)
    return {node for node, times in faults.items() if times >= QUARANTINE_AFTER}


def _since_readmitted(log: Log) -> Counter[str]:
    """Return node -> its NodeFailures since it was re-admitted last."""
    faults: Counter[str] = Counter()
    for event in log.events:
        if isinstance(event.fact, Failure) and event.fact.blame is Blame.NODE and event.fact.node:
            faults[event.fact.node] += 1
        elif isinstance(event.fact, Note) and event.fact.kind == READMIT:
            faults.pop(str(event.fact.body.get("node")), None)
    return faults


def free_nodes(log: Log, count: int) -> Counter[str]:
    """Return config id -> how many nodes of a fleet of `count` are left for it; 0 when nothing was measured of it."""
    lost = quarantined(log)
    used: dict[str, set[str]] = {}
    for fact in (*log.facts(Sample), *log.facts(Failure)):
        if fact.purpose.is_tuning and fact.node:
            used.setdefault(fact.config_id, set()).add(fact.node)
    return Counter({config_id: count - len(nodes | lost) for config_id, nodes in used.items()})
