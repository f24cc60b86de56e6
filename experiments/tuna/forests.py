"""Forests: how large the noise adjuster's forest has to be, and how many features a split needs to look at.

    python experiments/tuna/forests.py [--minutes 9]

The fleets, configs and errors are those of `adjusters.py`; differences are paired by fleet. What a forest costs is in
`python perf/run.py judging`. Goes on where it was ended.
"""

import argparse
import json
import time
from pathlib import Path

import adjusters
import analysis

from albacore.policies.forest import Forest
from albacore.simulation import worlds
from albacore.simulation.world import World

FILE = Path(__file__).with_name("runs") / "forests.jsonl"
ALL = "100 trees, all features"
KINDS = {
    ALL: Forest(trees=100, share=1.0),
    "40 trees, all features": Forest(trees=40, share=1.0),
    "25 trees, all features": Forest(trees=25, share=1.0),
    "100 trees, a third": Forest(trees=100, share=1 / 3),
    "40 trees, a third": Forest(trees=40, share=1 / 3),
}


def errors(world_name: str, seed: int) -> adjusters.Row:
    """Return kind -> mean error against the truth over the second half of the configs, in parts of the figure."""
    world = World(worlds.by_name(world_name), seed)
    configs = adjusters.stable_configs(world)
    measured = [adjusters.readings(world, config, adjusters.APART_S * i) for i, config in enumerate(configs)]
    truth = [float(world.surface.level(world.surface.point(config)[None, :])[0]) for config in configs]
    late = range(len(configs) // 2, len(configs))
    row: adjusters.Row = {"world": world_name, "seed": seed}
    for name, kind in {"none": None, **KINDS}.items():
        found = [
            abs(value / truth[i] - 1)
            for i in late
            for value in (
                kind.adjust(measured[i], measured[:i], seed=seed)[0] if kind else [r.value for r in measured[i]]
            )
        ]
        row[name] = round(sum(found) / len(found), 6)
    return row


def rows() -> list[adjusters.Row]:
    """Return what has been computed."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def table(found: list[adjusters.Row]) -> list[str]:
    """Return kind x world: error in per cent, and paired difference to the largest forest with its interval."""
    lines = ["| forest | " + " | ".join(f"{w}: error %, more than the first" for w in adjusters.WORLDS) + " |"]
    lines.append("|---|" + "---|" * len(adjusters.WORLDS))
    for kind in ("none", *KINDS):
        cells = []
        for world in adjusters.WORLDS:
            own = [row for row in found if row["world"] == world]
            error = analysis.mean([100 * row[kind] for row in own])
            more = analysis.mean([100 * (row[kind] - row[ALL]) for row in own])
            cells.append(f"{error.value:.2f}" + ("" if kind in ("none", ALL) else f", {more.words(2)}"))
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return [f"{len(found) // len(adjusters.WORLDS)} fleets per world.", "", *lines, ""]


def main() -> None:
    """Compute what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing after so many")
    until = time.monotonic() + 60 * parser.parse_args().minutes
    known = {(row["world"], row["seed"]) for row in rows()}
    tasks = [(world, seed) for seed in adjusters.SEEDS for world in adjusters.WORLDS if (world, seed) not in known]
    FILE.parent.mkdir(exist_ok=True)
    for world, seed in tasks:
        if time.monotonic() > until:
            break
        with FILE.open("a") as file:
            file.write(json.dumps(errors(world, seed), separators=(",", ":")) + "\n")
    print("\n".join(table(rows())))


if __name__ == "__main__":
    main()
