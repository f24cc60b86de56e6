"""Health: what a node's canary may be at most before a sample, by the node's own history and by its peers.

| symbol | meaning |
|---|---|
| own | the middle of what the node's canary sang earlier in this run, once there are `OWN_ENOUGH` songs |
| peers | the middle of the other machines' middles, once there are `PEERS_ENOUGH` of them |
| most | the smaller of own x `Width.own` and peers x `Width.peers`, and never below `Width.floor_ms` |

A node that became slower is seen by its own history; one that always was, by its peers, who may differ more: a fleet
need not be of one kind. The widths are wide, because a canary has to tell a sick machine from a busy moment and not a
good one from a better one: that is the detector's work. What is out of bounds in three rounds in a row is a NodeFailure
with the figures as its evidence; the sample goes to another node.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from albacore.sample import Blame, Failure, Sample
from albacore.trial import Log

Figures = Mapping[str, float]
Songs = Sequence[tuple[str, Figures]]
"""(node, figures) in their order."""

OWN_ENOUGH = 5
PEERS_ENOUGH = 3
LOOK_AGAIN_S = 60.0
LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """How many times its usual value a figure may be, and up to how many ms it never matters."""

    own: float
    peers: float
    floor_ms: float


# Of 60 songs on two busy cores the middles were 0.09, 1.1, 2.8 and 0.54 ms, and the largest single values 4.7, 1.1, 4.1
# and 14.7 times that; three such in a row are what a bound has to be above.
WIDTHS = {
    "scheduler_ms": Width(own=10.0, peers=20.0, floor_ms=5.0),
    "cpu_ms": Width(own=3.0, peers=6.0, floor_ms=0.0),
    "memory_ms": Width(own=3.0, peers=6.0, floor_ms=0.0),
    "disk_ms": Width(own=10.0, peers=20.0, floor_ms=25.0),
}


def bounds(node: str, songs: Songs, hosts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return figure -> `most`, and `own` and `peers` as far as there are enough songs; {} when there are too few.

    Args:
        node: The node that is to be used.
        songs: What canaries sang in this run.
        hosts: Node -> the machine it is on; nodes of the node's own machine are no peers.
    """
    own = [figures for name, figures in songs if name == node]
    others: dict[str, list[Figures]] = {}
    for name, figures in songs:
        if hosts.get(name) != hosts.get(node):
            others.setdefault(hosts.get(name, name), []).append(figures)
    found = {name: _bound(name, width, own, list(others.values())) for name, width in WIDTHS.items()}
    return {name: bound for name, bound in found.items() if "most" in bound}


def _bound(name: str, width: Width, own: Sequence[Figures], others: Sequence[Sequence[Figures]]) -> dict[str, float]:
    found: dict[str, float] = {}
    limits = []
    if len(mine := _values(name, own)) >= OWN_ENOUGH:
        found["own"] = statistics.median(mine)
        limits.append(found["own"] * width.own)
    middles = [statistics.median(values) for each in others if (values := _values(name, each))]
    if len(middles) >= PEERS_ENOUGH:
        found["peers"] = statistics.median(middles)
        limits.append(found["peers"] * width.peers)
    return {**found, "most": max(min(limits), width.floor_ms)} if limits else {}


def _values(name: str, songs: Sequence[Figures]) -> list[float]:
    return [figures[name] for figures in songs if name in figures]


def exceeded(figures: Figures, most: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the figures that are above their bounds, sorted."""
    return sorted(name for name, bound in most.items() if figures.get(name, 0.0) > bound["most"])


def sentence(song: Mapping[str, Any]) -> str:
    """Return what is out of bounds, against what; `song` has `figures`, `out` and `bounds`."""
    return "; ".join(_part(name, song["figures"][name], song["bounds"].get(name, {})) for name in song["out"])


def _part(name: str, value: float, bound: Mapping[str, float]) -> str:
    usual = [f"{bound[key]:.3g} ms {word}" for key, word in (("own", "before"), ("peers", "elsewhere")) if key in bound]
    what = name.removesuffix("_ms")
    return f"{what} {value:.3g} ms, at most {bound.get('most', 0.0):.3g} expected ({', '.join(usual)})"


def looks_after_s(looks: int) -> float:
    """Return how long after its last failure, or the last look, a node in quarantine is looked at again.

    A minute, and twice as long after each look that found nothing good, up to an hour.
    """
    return min(LONGEST_S, LOOK_AGAIN_S * 2.0**looks)


def doubtful(log: Log) -> set[str]:
    """Return the nodes of which the last that was heard was no answer: something of ours may still run there."""
    last: dict[str, bool] = {}
    for event in log.events:
        if isinstance(event.fact, Sample | Failure) and event.fact.node:
            last[event.fact.node] = isinstance(event.fact, Sample) or event.fact.blame is Blame.CONFIG
    return {node for node, is_answer in last.items() if not is_answer}
