"""Print how the lead of `albacore` over `tuna` behaves when the samples are not those it was made with.

Worlds are drawn from the noise of real samples (`*.noise.csv.gz`): a run's node effects jointly, a config's residuals
over the ten nodes jointly, its speed from another config. So speed, noise and nodes are mixed across workloads, and the
share of unstable configs, the size of the node effects and the number of candidates can be set.

    PYTHONPATH=include python docs/figures/policy_robustness.py FOLDER_WITH_NOISE_FILES
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from albacore.lab import comparison
from albacore.lab.matrix import Matrix
from albacore.lab.protocol import replay
from albacore.policies.named import CHOICES
from albacore.trial import Direction

RUNS = 60
NODES = 10


@dataclass(frozen=True)
class World:
    """What is changed: shares of unstable configs, factors on node effects and residuals, candidates per run."""

    name: str
    unstable: float = 0.12
    nodes: float = 1.0
    residuals: float = 1.0
    candidates: int = 21
    fast_are_unstable: bool = False


WORLDS = (
    World("as measured, mixed"),
    World("no config unstable", unstable=0.0),
    World("30 % unstable", unstable=0.3),
    World("60 % unstable", unstable=0.6),
    World("30 % unstable, the fast ones", unstable=0.3, fast_are_unstable=True),
    World("no node effects", nodes=0.0),
    World("node effects x 3", nodes=3.0),
    World("residuals x 0.5", residuals=0.5),
    World("residuals x 2", residuals=2.0),
    World("8 candidates", candidates=8),
    World("60 candidates", candidates=60),
)


def library(folder: Path) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """Return speeds per run, residuals (n, 10) and ranges (n,) of all configs, node effects (runs, 10)."""
    frames = [pd.read_csv(path) for path in sorted(folder.glob("*.noise.csv.gz"))]
    speeds, residuals, ranges, effects = [], [], [], []
    for frame in frames:
        wide = frame.pivot_table(index=["run", "config_id"], columns="worker", values="residual").dropna()
        own = frame.groupby(["run", "config_id"]).first().loc[wide.index]
        speeds += [group.to_numpy() for _, group in own.median_vs_default.groupby("run")]
        ranges.append(own.rel_range.to_numpy())
        residuals.append(wide.to_numpy())
        effects.append(frame.pivot_table(index="run", columns="worker", values="node_effect").to_numpy())
    return speeds, np.concatenate(residuals), np.concatenate(ranges), np.concatenate(effects)


def draw(world: World, found: tuple, rng: np.random.Generator, number: int) -> Matrix:
    """Return one run of a world."""
    speeds, residuals, ranges, effects = found
    wild, calm = residuals[ranges > 0.3], residuals[ranges <= 0.3]
    n = world.candidates
    speed = np.sort(rng.choice(speeds[rng.integers(len(speeds))], n))[::-1]
    is_wild = rng.random(n) < world.unstable
    if world.fast_are_unstable:
        is_wild = np.sort(is_wild)[::-1]
    own = np.where(is_wild[:, None], wild[rng.integers(len(wild), size=n)], calm[rng.integers(len(calm), size=n)])
    log = np.log(speed)[:, None] + world.nodes * effects[rng.integers(len(effects))] + world.residuals * own
    values = np.vstack([np.exp(log), np.full(NODES, np.nan)])
    return Matrix(
        workload="drawn",
        number=number,
        direction=Direction.MAX,
        values=values,
        order=np.zeros(values.shape, dtype=np.int64),
        is_failed=np.zeros(values.shape, dtype=bool),
        candidates=n,
    )


def main(folder: str) -> None:
    """Print a row per world and k: differences to `tuna` in points, the mean's with its interval."""
    found = library(Path(folder))
    print("| world | k | mean | worst | unstable | drop |\n|---|---|---|---|---|---|")
    for world in WORLDS:
        rng = np.random.default_rng(20)
        runs = [draw(world, found, rng, i) for i in range(RUNS)]
        names = ("tuna", "albacore")
        outcome = replay(runs, {name: CHOICES[name] for name in names}, (5, 7), reference="tuna")
        for k in (5, 7):
            all_runs = np.ones(RUNS, dtype=bool)
            row = comparison.rows(outcome, all_runs, names, k=k, reference="tuna")[1]
            mean = row.differences["mean"]
            rest = " | ".join(f"{row.differences[f].value:+.2f}" for f in ("worst", "unstable", "drop"))
            print(
                f"| {world.name} | {k} | {mean.value:+.2f} [{mean.low:+.2f}, {mean.high:+.2f}] | {rest} |", flush=True
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
