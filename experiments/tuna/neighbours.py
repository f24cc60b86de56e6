"""Neighbours: the noise adjusters on the real samples of experiments/neighbours.

    python experiments/tuna/neighbours.py [--minutes 9] [--processes 2]

| protocol | means |
|---|---|
| order-1 to order-3 | configs in a random order, each adjusted by a model of those before it, as in a campaign |
| calm-1 to calm-3 | the same with the calmer half of the samples only |
| left-out | each config adjusted by a model of all configs outside its group |
| cold-1, warm-1, … | half of the configs on half of the nodes, without and with the others on the other nodes |

Errors are kept twice: against what the config does undisturbed (`quiet`), and against that times the one factor by
which the fleet as a whole is slower (`common`).
"""

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import adjusters
import adjusting
import numpy as np
import studies
from attempts import Averaged, LogRatio, QuietLevel, RelativeToNode, RelativeToTrial, TaughtWithinTrials, TrialMean
from tqdm import tqdm

from albacore.policies import Adjuster, Identity, Reading
from albacore.policies.cross_validated import CrossValidated
from albacore.policies.extra_trees import ExtraTrees
from albacore.policies.ridge import Ridge

sys.path.append(str(studies.ROOT / "experiments" / "neighbours"))
import noisy_samples
import weather
from noisy_samples import Measured

FILE = Path(__file__).with_name("runs") / "neighbours.jsonl"
ORDERS = 3
KINDS: dict[str, Adjuster] = {
    **adjusters.KINDS,
    "extra_trees, relative to node": RelativeToNode(inner=ExtraTrees(trees=40)),
    "ridge, relative to node": RelativeToNode(inner=Ridge()),
    "extra_trees, relative to trial": RelativeToTrial(inner=ExtraTrees(trees=40)),
    "ridge, relative to trial": RelativeToTrial(inner=Ridge()),
    "extra_trees, taught within trials": TaughtWithinTrials(inner=ExtraTrees(trees=40)),
    "ridge, taught within trials": TaughtWithinTrials(inner=Ridge()),
    "extra_trees, log ratio": LogRatio(model=ExtraTrees(trees=40)),
    "ridge, log ratio": LogRatio(model=Ridge()),
    "ridge and extra_trees averaged": Averaged(models=(Ridge(), ExtraTrees(trees=40))),
    "mean of the trial": TrialMean(),
    "none, to the upper quartile": QuietLevel(inner=Identity(), share=0.75),
    "ridge, to the upper quartile": QuietLevel(inner=Ridge(), share=0.75),
    "none, to the best twentieth": QuietLevel(inner=Identity()),
    "ridge, to the best twentieth": QuietLevel(inner=Ridge()),
}
CALM = (*adjusters.KINDS, "mean of the trial")
HALVES = ("cold", "warm")
Row = dict[str, Any]


def fleet() -> list[Measured]:
    """Return what was measured; empty where nothing was."""
    return noisy_samples.measured(noisy_samples.read(), weather.NODES)


def in_order(found: list[Measured], order: int) -> list[Measured]:
    """Return the configs in one of the random orders."""
    return [found[i] for i in np.random.default_rng([studies.FIRST, order]).permutation(len(found))]


def tasks() -> list[tuple[str, str]]:
    """Return every protocol with every kind it is for."""
    orders = [f"order-{i}" for i in range(1, ORDERS + 1)]
    halves = [f"{half}-{i}" for half in HALVES for i in range(1, ORDERS + 1)]
    calmer = [(f"calm-{i}", kind) for i in range(1, ORDERS + 1) for kind in CALM]
    own = [(p, kind) for p in halves for kind in ("none", "cross_validated")]
    return [(p, kind) for p in (orders[0], "left-out", *orders[1:]) for kind in KINDS] + own + calmer


def calm(found: list[Measured]) -> list[list[Reading]]:
    """Return each config's samples beside neighbours of at most the median strength."""
    middle = float(np.median([s for m in found for s in m.strengths]))
    return [[r for r, s in zip(m.trial, m.strengths, strict=True) if s <= middle] for m in found]


def halved(found: list[Measured]) -> tuple[list[list[Reading]], tuple[tuple[Reading, ...], ...]]:
    """Return a present run, the first half of the configs on the second half of the nodes, and an earlier one."""
    middle, later = len(found) // 2, weather.NODES[len(weather.NODES) // 2 :]
    present = [[r for r in m.trial if r.node in later] for m in found[:middle]]
    return present, tuple(tuple(r for r in m.trial if r.node not in later) for m in found[middle:])


def errors(protocol: str, kind: str) -> Row:
    """Return config by config the mean error of its samples."""
    name, _, number = protocol.rpartition("-")
    found, adjuster = in_order(fleet(), int(number) if number.isdigit() else 0), KINDS[kind]
    trials = calm(found) if name == "calm" else [list(m.trial) for m in found]
    if name in HALVES:
        trials, earlier = halved(found)
        if kind != "none":
            adjuster = CrossValidated(trees=adjusters.TREES, earlier=earlier if name == "warm" else ())
    kept = [(m, trial) for m, trial in zip(found, trials, strict=False) if trial]
    trials, truth = [trial for _, trial in kept], [m.truth for m, _ in kept]
    play = adjusting.left_out if protocol == "left-out" else adjusting.prequential
    adjusted = play(adjuster, trials, seed=studies.FIRST)
    factor = adjusting.common_factor(trials, truth)
    row = {"protocol": protocol, "kind": kind, "configs": [m.config for m, _ in kept]}
    for target, times in (("quiet", 1.0), ("common", factor)):
        row[target] = adjusting.errors(adjusted, [times * t for t in truth])
    return row


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
    known = {(row["protocol"], row["kind"]) for row in rows()}
    left = [task for task in tasks() if task not in known] if fleet() else []
    with ProcessPoolExecutor(arguments.processes) as pool, tqdm(total=len(left), unit="run", file=sys.stderr) as bar:
        for done in as_completed([pool.submit(errors, *task) for task in left]):
            with FILE.open("a") as file:
                file.write(json.dumps(done.result(), separators=(",", ":")) + "\n")
            bar.update()
            if time.monotonic() > until:
                pool.shutdown(cancel_futures=True)
                break


if __name__ == "__main__":
    main()
