"""Sentinel: configs that a run measures on every tuning node before anything else, read off its log.

The default always is one. The incumbent is the second, when the run took one over: together they show whether the
machine, the workload or the config has moved since the last runs (`drift.py`). With `nodes.sentinel_every` the default
is measured on a node again and again during the run: those samples decide nothing, they show the node's drift.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from albacore.fact import SENTINEL
from albacore.sample import Purpose, Sample
from albacore.trial import Log

WARM_START = "warm_start"
"""Kind of the note that lists what a run took over from earlier ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOver:
    """A config that a run took over.

    Attributes:
        run_id: The campaign run that it was found in.
        is_incumbent: Whether it is the config in place: then it is a sentinel, and no lane asks for it.
    """

    config_id: str
    run_id: str
    is_incumbent: bool


def taken_over(log: Log) -> list[TakenOver]:
    """Return what a run started from, in order of preference; nothing for a cold start."""
    return [one for note in log.notes(WARM_START)[:1] for one in _entries(note.body.get("configs"))]


def _entries(configs: object) -> Iterator[TakenOver]:
    for entry in configs if isinstance(configs, list) else []:
        yield TakenOver(config_id=entry["config_id"], run_id=entry["run"], is_incumbent=entry["is_incumbent"])


def incumbent_id(log: Log) -> str | None:
    """Return the id of the incumbent that a run took over, or None."""
    return next((one.config_id for one in taken_over(log) if one.is_incumbent), None)


def sentinels(log: Log, default_id: str) -> list[str]:
    """Return the ids of the configs that are measured on every tuning node first: the default, then the incumbent."""
    found = incumbent_id(log)
    return [default_id] if found is None else [default_id, found]


def first_asks(log: Log) -> list[str]:
    """Return the ids of the configs that the initial design begins with: those taken over that are no sentinels."""
    return [one.config_id for one in taken_over(log) if not one.is_incumbent]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """That the default config is to be measured again on a node: after `n` times as many samples as a turn takes."""

    node: str
    n: int


def due(log: Log, nodes: Sequence[str], every: int) -> list[Turn]:
    """Return the nodes on which the search has taken another `every` samples since their last turn.

    A turn that was handed out is not handed out again; turns that were missed are not made up for.
    """
    taken = Counter(s.node for s in log.recorded(Sample) if s.purpose is Purpose.TUNE)
    handed: dict[object, int] = {}
    for note in log.notes(SENTINEL):
        handed[note.body.get("node")] = max(int(str(note.body.get("n"))), handed.get(note.body.get("node"), 0))
    turns = (Turn(node=node, n=taken[node] // every) for node in nodes)
    return [turn for turn in turns if turn.n > handed.get(turn.node, 0)]
