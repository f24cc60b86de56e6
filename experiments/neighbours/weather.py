"""Weather: what a node's neighbours do, sample by sample; fixed before anything was measured under it.

| symbol | meaning |
|---|---|
| base | what a kind of neighbour always takes on a node, as a share of the most it may take; 0 on half of the nodes |
| spell | samples for which a passing neighbour stays; 3 on average, and as long away as fits its share of the time |
| strength | base and passing together, at most 1 |
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

KINDS = ("cpu", "memory", "disk")
NODES = tuple(f"n{i}" for i in range(1, 9))
BASE_SHARE, BASE_MOST = 0.5, 0.25
TIME_LEAST, TIME_MOST = 0.15, 0.45
"""Share of the time that a passing neighbour of a kind is there, drawn per node."""
SPELL = 3.0
PASSING_LEAST, PASSING_MOST = 0.15, 0.85
GRAIN = 0.01

CORES = {"cpu": 1.0, "memory": 0.7, "disk": 0.5}
"""Cores that a neighbour of full strength takes; the machine has two."""
WRITE_BYTES_PER_S = 500_000_000
"""What a disk's neighbour of full strength writes."""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "cpu": ("stress-ng", "--cpu", "2", "--cpu-method", "int64"),
    "memory": ("stress-ng", "--stream", "2", "--stream-l3-size", "64M"),
    "disk": (
        "stress-ng",
        "--hdd",
        "2",
        "--hdd-bytes",
        "128M",
        "--hdd-write-size",
        "256k",
        "--hdd-opts",
        "wr-rnd,direct",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What one node's neighbours are like.

    Attributes:
        base: Kind -> strength that is always there.
        time: Kind -> share of the samples in which a passing neighbour is there too.
    """

    base: Mapping[str, float]
    time: Mapping[str, float]


def profile(seed: int, node: str) -> Profile:
    """Return a node's profile, a function of both."""
    rng = np.random.default_rng([seed, NODES.index(node), 1])
    base = {kind: float(rng.uniform(0.0, BASE_MOST) * (rng.random() < BASE_SHARE)) for kind in KINDS}
    return Profile(base=base, time={kind: float(rng.uniform(TIME_LEAST, TIME_MOST)) for kind in KINDS})


def strengths(seed: int, node: str, count: int) -> list[dict[str, float]]:
    """Return kind -> strength in [0, 1] for each of `count` samples in a row on a node."""
    about, rng = profile(seed, node), np.random.default_rng([seed, NODES.index(node), 2])
    series = {kind: _passing(rng, about.time[kind], count) for kind in KINDS}
    return [
        {kind: round(min(1.0, about.base[kind] + series[kind][i]) / GRAIN) * GRAIN for kind in KINDS}
        for i in range(count)
    ]


def _passing(rng: np.random.Generator, time: float, count: int) -> list[float]:
    """Return a passing neighbour's strengths: a chain of two states, a strength drawn for each spell."""
    leaves, comes = 1.0 / SPELL, time / (1.0 - time) / SPELL
    now, found = 0.0, []
    for i in range(count):
        changes = rng.random() < (time if i == 0 else leaves if now else comes)
        if changes:
            now = 0.0 if now else float(rng.uniform(PASSING_LEAST, PASSING_MOST))
        found.append(now)
    return found
