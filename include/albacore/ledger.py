"""Ledger: what a campaign run has cost: node-seconds times the price of an hour.

Of nodes that are there anyway, only measuring counts. Nodes that were made for the run cost from the moment they were
asked for until they are known to be gone, whether they measure or not; the log has a note for either moment.
"""

from collections import defaultdict

from albacore.fact import Note
from albacore.sample import Failure, Sample
from albacore.trial import Log

RENTED, RETURNED = "rented", "returned"
"""Kinds of the notes by which a node of a run begins and ceases to cost."""


def measured_s(log: Log) -> float:
    """Return node-seconds of all samples and failures, excluded ones too."""
    return sum(fact.duration_s for fact in _measured(log))


def of_config(log: Log, config_id: str) -> float:
    """Return node-seconds that measuring a config took, in all its samples and failures."""
    return sum(fact.duration_s for fact in _measured(log) if fact.config_id == config_id)


def money(node_seconds: float, price_per_hour: float) -> float:
    """Return what so many node-seconds cost."""
    return node_seconds / 3600 * price_per_hour


def rented_s(log: Log) -> float | None:
    """Return node-seconds that the run's own nodes were there, up to its last event; None when it has none of its own.

    A node that was lost and made again counts for both times.
    """
    since: dict[str, float] = {}
    spent = defaultdict[str, float](float)
    for event in log.events:
        if not isinstance(event.fact, Note) or event.fact.kind not in (RENTED, RETURNED):
            continue
        node = str(event.fact.body["node"])
        if event.fact.kind == RENTED:
            since.setdefault(node, event.at)
            spent[node] += 0.0
        elif node in since:
            spent[node] += event.at - since.pop(node)
    if not spent:
        return None
    return sum(spent.values()) + sum(log.events[-1].at - begun for begun in since.values())


def spent_s(log: Log) -> float:
    """Return the node-seconds that a run has to pay for."""
    rented = rented_s(log)
    return measured_s(log) if rented is None else rented


def held(log: Log) -> list[str]:
    """Return the nodes that were asked for and are not known to be gone."""
    found: dict[str, None] = {}
    for event in log.events:
        if isinstance(event.fact, Note) and event.fact.kind in (RENTED, RETURNED):
            node = str(event.fact.body["node"])
            if event.fact.kind == RENTED:
                found[node] = None
            else:
                found.pop(node, None)
    return list(found)


def _measured(log: Log) -> list[Sample | Failure]:
    return [*log.recorded(Sample), *log.recorded(Failure)]
