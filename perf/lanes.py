"""Measure the memory of a decision by the number of lanes: one ask and one judgement at 500 samples.

Each number of lanes has a process of its own: it reads a run in which all lanes but one have an ask that is being
measured, asks for the last lane with the optimizer of a campaign, and judges a config of the highest rung with the
forest. Decisions are made one at a time on a host (docs/design.md, the host), so that is what lanes cost in memory
beside Airflow's own processes. Peaks are of the process and, for SMAC, of its child, which is alive at the same time.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LANES = (1, 4, 12)
OPTIMIZERS = ("smac", "gp")
SAMPLES = 500
TOP = 2


def decide(optimizer: str, lanes: int) -> float:
    """Ask and judge in this process; return its peak in bytes."""
    from albacore import judging, recorded, replay
    from albacore.sample import Purpose
    from albacore.trial import Judgement, Stability

    sys.path[:0] = [str(Path(__file__).parent)]
    import pages

    scribe = pages.halved(pages.space(), SAMPLES)
    for lane in range(1, max(LANES)):  # as many configs whatever the lanes, as a share of SMAC's asks is random
        config_id = scribe.config()
        scribe.ask(f"run.l{lane}.open", config_id, 0, lane=lane)
        if lane >= lanes:
            scribe.judge(config_id, 0, {"n1": scribe.sample(config_id, 0, Purpose.TUNE)})
            scribe.end(f"run.l{lane}.open")
    with tempfile.TemporaryDirectory() as folder:
        store = pages.store_with_run(
            Path(folder), scribe, optimizer={"name": optimizer}, lanes={"count": lanes}, limits={"samples": 2 * SAMPLES}
        )
        run = store.run("big-1")
        scene = recorded.scene(store, run, telemetry=True)
        decision = replay.decide(scene, recorded.campaign(run).optimizer_of(), lane=0)
        if decision.config.id in scribe.configs:
            raise SystemExit(f"perf: expected an ask for a new config, got {decision.config.id}.")
        judged = [j.config_id for j in scene.log.facts(Judgement) if j.rung == TOP]
        stability = Stability.STABLE
        judging.score(scene, stability, judging.adjust(scene, judged[-1], TOP, stability)[0])
        store.close()
    counted = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) if optimizer == "smac" else (resource.RUSAGE_SELF,)
    return sum(resource.getrusage(who).ru_maxrss * 1024.0 for who in counted)


def figures() -> dict[str, dict[str, Any]]:
    """Return megabytes per optimizer and number of lanes."""
    found: dict[str, dict[str, Any]] = {}
    for optimizer in OPTIMIZERS:
        for lanes in LANES:
            command = [sys.executable, __file__, optimizer, str(lanes)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            name = f"ask {optimizer} and judge, {SAMPLES} samples, {lanes} lane(s), peak RSS"
            found[name] = {"value": round(float(done.stdout.splitlines()[-1]) / 1e6), "unit": "MB"}
    return found


if __name__ == "__main__":
    print(decide(sys.argv[1], int(sys.argv[2])) if len(sys.argv) == 3 else json.dumps(figures(), indent=2))
