"""Measure a judgement: detect, adjust and aggregate one trial of a run of 500 samples with 150 guest metrics each.

All samples are of the highest rung, so that the model learns from as many as there can be: 490 of 49 trials. The goal
is a second for the three together, libraries loaded, as they are in Airflow's processes before these fork. Beside it:
the seconds of the processor, of which other work on the machine takes nothing; reading the log out of the store, which
each of the three tasks does; and the first judgement of a process, with the import of what its adjuster needs. The
samples' figures are noise: a forest never grows deeper than on noise.

python perf/judging.py [ADJUSTER [EARLIER]]: all of it, or one adjuster, with so many samples of an earlier run to learn
from too.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ADJUSTERS = ("forest", "ridge", "extra_trees", "cross_validated", "identity")
SAMPLES, METRICS, NODES = 500, 150, 10
TOP = 2
REPEATS = 3
PARTS = ("detect", "adjust", "aggregate")


def top_rung_run(folder: Path, adjuster: str) -> tuple[Any, list[str]]:
    """Return a store with a run that has measured every config on all nodes, and the configs."""
    from albacore.sample import Purpose

    sys.path[:0] = [str(Path(__file__).parent)]
    import pages

    scribe = pages.Scribe(pages.space(), guest_metrics=METRICS)
    configs = [scribe.config() for _ in range(SAMPLES // NODES)]
    for index, config_id in enumerate(configs):
        scribe.ask(f"run.l0.{index}", config_id, TOP)
        scribe.judge(config_id, TOP, {f"n{i + 1}": scribe.sample(config_id, i, Purpose.TUNE) for i in range(NODES)})
        scribe.facts[-1] = _stable(scribe.facts[-1])
    return pages.store_with_run(folder, scribe, policy={"adjuster": adjuster}), configs


def _stable(judgement: Any) -> Any:
    from albacore.trial import Stability

    return replace(judgement, stability=Stability.STABLE)


def judged_s(scene: Any, config_id: str) -> list[float]:
    """Return the seconds of each part, in their order."""
    from albacore import judging

    found: dict[str, Any] = {}
    parts: list[Callable[[], None]] = [
        lambda: found.update(stability=judging.detect(scene, config_id, TOP)[0]),
        lambda: found.update(values=judging.adjust(scene, config_id, TOP, found["stability"])[0]),
        lambda: found.update(score=judging.score(scene, found["stability"], found["values"])[0]),
    ]
    spent = [_elapsed(part) for part in parts]
    if found["score"] is None or set(found["values"]) != {f"n{i + 1}" for i in range(NODES)}:
        raise SystemExit(f"perf: expected a score of {NODES} values, got {found}.")
    return spent


def _elapsed(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def measure(adjuster: str, earlier: int = 0) -> dict[str, float]:
    """Return the seconds of this process: reading, the first judgement, and the parts of the median later one.

    Args:
        adjuster: One of `ADJUSTERS`.
        earlier: Samples of an earlier run that it learns from too, of other machines; at most `SAMPLES`.
    """
    from albacore import judging, recorded

    with tempfile.TemporaryDirectory() as folder:
        store, configs = top_rung_run(Path(folder), adjuster)
        run = store.run("big-1")
        recorded.scene(store, run)
        read_s = _elapsed(lambda: recorded.scene(store, run, telemetry=True))
        scene = recorded.scene(store, run, telemetry=True)
        others = [tuple(replace(r, node=f"last/{r.node}") for r in trial) for trial in judging.history(scene)]
        scene = replace(scene, earlier=tuple(others[: earlier // NODES]))
        first = sum(judged_s(scene, configs[-1]))
        begun = time.process_time()
        rows = [judged_s(scene, config_id) for config_id in configs[:REPEATS]]  # each with a history of its own
        processor_s = (time.process_time() - begun) / REPEATS
        store.close()
    parts = {part: statistics.median(row[i] for row in rows) for i, part in enumerate(PARTS)}
    together = {"together": statistics.median(map(sum, rows)), "processor": processor_s}
    return {"read": read_s, "first": first, **together, **parts}


def figures() -> dict[str, dict[str, Any]]:
    """Return milliseconds per adjuster, each measured in a process of its own."""
    found: dict[str, dict[str, Any]] = {}
    for adjuster in ADJUSTERS:
        done = subprocess.run([sys.executable, __file__, adjuster], capture_output=True, text=True, check=True)
        for part, seconds in json.loads(done.stdout).items():
            name = f"judge {adjuster}, {SAMPLES} samples x {METRICS} metrics, {part}"
            found[name] = {"value": round(1000 * seconds, 2), "unit": "ms"}
    return found


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], *map(int, sys.argv[2:])) if len(sys.argv) > 1 else figures(), indent=2))
