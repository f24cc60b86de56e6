"""Adjusters: the error of single samples before and after each noise adjuster, config by config (TUNA §4.3, Fig. 19b).

    python experiments/tuna/adjusters.py [--minutes 9] [--processes 2]

A simulated fleet measures stable configs on all of its ten nodes, one config after the other. Each is adjusted by a
model of those before it, and then trains the next: predict before fit. The error is taken against what the config
does undisturbed, which the simulation knows, and against its mean over the ten nodes, as the paper does.
"""

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import studies
from tqdm import tqdm

from albacore.policies import Adjuster, Identity, Reading
from albacore.policies.cross_validated import CrossValidated
from albacore.policies.extra_trees import ExtraTrees
from albacore.policies.forest import Forest
from albacore.policies.ridge import Ridge
from albacore.sample import Purpose, Sample
from albacore.simulation import worlds
from albacore.simulation.world import METRIC, Slot, World
from albacore.space import Config

FILE = Path(__file__).with_name("runs") / "adjusters.jsonl"
CONFIGS = 26
"""Stable configs on all nodes: as many as a campaign of 500 samples has."""
APART_S = 1200.0
"""Between two of them; eight hours in all."""
SEEDS = range(studies.FIRST, studies.FIRST + 8)
WORLDS = ("plain", "faint", "murky")
KINDS: dict[str, Adjuster] = {
    "none": Identity(),
    "forest": Forest(),
    "forest, 20 trees": Forest(trees=20),
    "extra_trees": ExtraTrees(trees=40),
    "ridge": Ridge(),
    "cross_validated": CrossValidated(trees=15),
}
Row = dict[str, Any]


def stable_configs(world: World) -> list[Config]:
    """Return random configs that neither crash nor flip."""
    import numpy as np

    rng, found = np.random.default_rng([world.seed, 7]), []
    while len(found) < CONFIGS:
        config = world.surface.space.decode(rng.random(len(world.surface.space)))
        point = world.surface.point(config)[None, :]
        if not world.surface.is_unstable(point)[0] and not world.surface.is_crashing(point)[0]:
            found.append(config)
    return found


def readings(world: World, config: Config, at_s: float) -> list[Reading]:
    """Return a config's samples on all nodes, spread over the time until the next."""
    nodes = world.fleet.names
    slots = [Slot(config=config, purpose=Purpose.TUNE, index=i) for i in range(len(nodes))]
    times = [at_s + APART_S * ((7 * i) % len(nodes)) / len(nodes) for i in range(len(nodes))]
    answers = [world.measure(s, node, t) for s, node, t in zip(slots, nodes, times, strict=True)]
    return [Reading.of(a, METRIC) for a in answers if isinstance(a, Sample)]


def errors(world_name: str, seed: int) -> Row:
    """Return kind -> config by config the mean error of its samples, against the truth and against their mean."""
    world = World(worlds.by_name(world_name), seed)
    configs = stable_configs(world)
    measured = [readings(world, config, APART_S * i) for i, config in enumerate(configs)]
    truth = [float(world.surface.level(world.surface.point(config)[None, :])[0]) for config in configs]
    row: Row = {"world": world_name, "seed": seed, "truth": {}, "mean": {}}
    for name, kind in KINDS.items():
        adjusted = [kind.adjust(own, measured[:i], seed=seed)[0] for i, own in enumerate(measured)]
        means = [sum(r.value for r in own) / len(own) for own in measured]
        row["truth"][name] = [_error(v, t) for v, t in zip(adjusted, truth, strict=True)]
        row["mean"][name] = [_error(v, t) for v, t in zip(adjusted, means, strict=True)]
    return row


def _error(values: list[float], target: float) -> float:
    return round(sum(abs(v / target - 1) for v in values) / len(values), 6)


def rows() -> list[Row]:
    """Return what has been computed."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def main() -> None:
    """Compute what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing after so many")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time (default: 2)")
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
    known = {(row["world"], row["seed"]) for row in rows()}
    tasks = [(world, seed) for seed in SEEDS for world in WORLDS if (world, seed) not in known]
    FILE.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(arguments.processes) as pool, tqdm(total=len(tasks), unit="run", file=sys.stderr) as bar:
        for start in range(0, len(tasks), arguments.processes):
            if time.monotonic() > until:
                break
            for row in pool.map(errors, *zip(*tasks[start : start + arguments.processes], strict=True)):
                with FILE.open("a") as file:
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")
                bar.update()


if __name__ == "__main__":
    main()
