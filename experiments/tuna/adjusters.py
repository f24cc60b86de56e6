"""Adjusters: the error of single samples before and after each noise adjuster, config by config (TUNA §4.3, Fig. 19b).

    python experiments/tuna/adjusters.py [--minutes 9] [--processes 2]

A simulated fleet measures stable configs on all of its ten nodes, one config after the other. Each is adjusted by a
model of those before it, and then trains the next: predict before fit. The error is taken against what the config
does undisturbed, which the simulation knows, and against its mean over the ten nodes, as the paper does.

Two kinds start warm: with the samples of other configs that the same fleet took in an earlier season, and that another
fleet took, whose guest metrics follow from the platform in another way.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import adjusting
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
SEASON_S = 200 * 3600.0
"""How much earlier or later the samples of an earlier run were taken; the weather is another by then."""
OTHER_FLEET = 500_000
"""What the seed of another fleet is larger by."""
SEEDS = range(studies.FIRST, studies.FIRST + 8)
WORLDS = ("plain", "faint", "murky")
TREES = 15
"""Of the forests of the chosen one."""
KINDS: dict[str, Adjuster] = {
    "none": Identity(),
    "forest": Forest(trees=100, share=1.0),
    "forest, as shipped": Forest(),
    "extra_trees": ExtraTrees(trees=40),
    "ridge": Ridge(),
    "cross_validated": CrossValidated(trees=TREES),
}
WARM = {"cross_validated, same fleet before": 0, "cross_validated, another fleet before": OTHER_FLEET}
"""Kind -> what the seed of the fleet is larger by whose samples it starts with."""
Row = dict[str, Any]


def stable_configs(world: World, *, stream: int = 7) -> list[Config]:
    """Return random configs that neither crash nor flip; others for another stream."""
    import numpy as np

    rng, found = np.random.default_rng([world.seed, stream]), []
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


def run_before(world_name: str, seed: int, beyond: int) -> tuple[tuple[Reading, ...], ...]:
    """Return the trials of an earlier run: other configs, in another season, of the same fleet or of another one."""
    world = World(worlds.by_name(world_name), seed + beyond)
    configs = stable_configs(world, stream=8)
    trials = [readings(world, config, SEASON_S + APART_S * i) for i, config in enumerate(configs)]
    name = "{}" if beyond == 0 else "other-{}"
    return tuple(
        tuple(Reading(node=name.format(r.node), value=r.value, telemetry=r.telemetry) for r in trial)
        for trial in trials
    )


def kind_of(name: str, world_name: str, seed: int) -> Adjuster:
    """Return an adjuster by its name in the table."""
    if name in KINDS:
        return KINDS[name]
    return CrossValidated(trees=TREES, earlier=run_before(world_name, seed, WARM[name]))


def errors(world_name: str, seed: int, kinds: Iterable[str]) -> Row:
    """Return kind -> config by config the mean error of its samples, against the truth and against their mean."""
    world = World(worlds.by_name(world_name), seed)
    configs = stable_configs(world)
    measured = [readings(world, config, APART_S * i) for i, config in enumerate(configs)]
    truth = [float(world.surface.level(world.surface.point(config)[None, :])[0]) for config in configs]
    means = [sum(r.value for r in own) / len(own) for own in measured]
    row: Row = {"world": world_name, "seed": seed, "truth": {}, "mean": {}}
    for name in kinds:
        adjusted = adjusting.prequential(kind_of(name, world_name, seed), measured, seed=seed)
        row["truth"][name] = adjusting.errors(adjusted, truth)
        row["mean"][name] = adjusting.errors(adjusted, means)
    return row


def rows() -> list[Row]:
    """Return what has been computed, one row per fleet."""
    found: dict[tuple[str, int], Row] = {}
    for row in (json.loads(line) for line in FILE.read_text().splitlines()) if FILE.exists() else ():
        whole = found.setdefault((row["world"], row["seed"]), {**row, "truth": {}, "mean": {}})
        whole["truth"] |= row["truth"]
        whole["mean"] |= row["mean"]
    return list(found.values())


def missing() -> list[tuple[str, int, tuple[str, ...]]]:
    """Return fleets with the kinds that have not been computed for them."""
    known = {(row["world"], row["seed"]): row["truth"] for row in rows()}
    kinds = (*KINDS, *WARM)
    tasks = [(w, s, tuple(k for k in kinds if k not in known.get((w, s), {}))) for s in SEEDS for w in WORLDS]
    return [task for task in tasks if task[2]]


def main() -> None:
    """Compute what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing after so many")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time (default: 2)")
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
    tasks = missing()
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
