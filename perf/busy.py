"""How busy ten nodes are kept: jobs that sleep 30 s, twelve lanes, once with `random` and once with `smac`.

The nodes are reached over SSH (network namespaces of this machine as root, ports of loopback otherwise); their jobs
only sleep, so that this machine's cores are the controller's. Also: what preparing all of them costs against the
slowest one, and what the triggerer spends on watching ten jobs. Takes about a quarter of an hour, so `make perf`
leaves it out: `python perf/busy.py`.
"""

import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("include", "ops", "tests")]

import law  # noqa: E402 - the path has just been made
from clone import Clone, Followed, running, wait_until  # noqa: E402
from faults import machines  # noqa: E402

from albacore.sample import Purpose, Sample  # noqa: E402
from albacore.store.run_log import RunLog  # noqa: E402
from albacore.trial import Ask, Log  # noqa: E402

NODES, LANES, SECONDS = 10, 12, 30.0
SAMPLES = 90
OPTIMIZERS = ("random", "smac")
CAMPAIGN = f"""
system = "noop"
workload = "sleep"
limits = {{{{ samples = {SAMPLES}, hours = 2.0 }}}}
optimizer = {{{{ name = "{{optimizer}}", initial = 10 }}}}
policy = {{{{ rungs = [1, 3, 10] }}}}
nodes = {{{{ cloud = "static", inventory = "../inventories/lab.toml", tuning = {NODES}, validation = 0 }}}}
lanes = {{{{ count = {LANES} }}}}
params = {{{{ seconds = {SECONDS} }}}}
space = {{{{ knobs = ["size", "ratio", "delay", "threads", "cache"] }}}}
"""


def measured(optimizers: tuple[str, ...] = OPTIMIZERS) -> dict[str, dict[str, object]]:
    """Return what one run with each optimizer showed."""
    found: dict[str, dict[str, object]] = {}
    campaigns = {name: CAMPAIGN.format(optimizer=name) for name in optimizers}
    with (
        tempfile.TemporaryDirectory() as folder,
        machines.fleet(NODES) as fleet,
        running(Path(folder), campaigns) as clone,
    ):
        inventory = clone.root / "include" / "inventories" / "lab.toml"
        inventory.parent.mkdir(exist_ok=True)
        inventory.write_text("".join(machine.inventory() for machine in fleet))
        idle = share_of_a_core(clone, 20.0)
        found["triggerer without a job"] = {"value": round(100 * idle, 2), "unit": "% of a core"}
        for name in optimizers:
            found |= one(clone, name)
    return found


def one(clone: Clone, name: str) -> dict[str, dict[str, object]]:
    """Run one campaign and return its figures."""
    run = clone.start(name)
    own = RunLog(clone.store(), run.id)
    wait_until(lambda: sum(s.purpose is Purpose.TUNE for s in own.read().facts(Sample)) >= NODES, 900, "it tunes")
    watching = share_of_a_core(clone, 45.0)
    run.wait(3600)
    log = law.log_of(run)
    busy, window_s = busy_share(log)
    slowest, together = preparation(run)
    waited, span = suggestions(run)
    return {
        f"{name}: nodes busy": {"value": round(100 * busy, 1), "unit": f"% of {window_s:.0f} s"},
        f"{name}: lanes waited for suggest": {"value": round(100 * waited / span, 1), "unit": "% of their time"},
        f"{name}: triggerer while it watches": {"value": round(100 * watching, 2), "unit": "% of a core"},
        f"{name}: slowest preparation": {"value": round(slowest, 1), "unit": "s"},
        f"{name}: preparation of all": {"value": round(together, 1), "unit": "s"},
    }


def busy_share(log: Log) -> tuple[float, float]:
    """Return which share of the nodes' time went into jobs, from the first sample of the search to the last ask."""
    tuned = [s for s in log.facts(Sample) if s.purpose is Purpose.TUNE]
    since = min(s.started_at for s in tuned)
    until = max(event.at for event in log.events if isinstance(event.fact, Ask))
    spans = [(max(since, s.started_at), min(until, s.started_at + s.duration_s)) for s in log.facts(Sample)]
    used = sum(max(0.0, end - begin) for begin, end in spans)
    return used / (NODES * (until - since)), until - since


def preparation(run: Followed) -> tuple[float, float]:
    """Return the seconds of the slowest node's preparation, and from the first one's start to the last one's end."""
    spans = [span(task) for task in run.seen.tasks() if task["task_id"] == "prepare"]
    return max(end - begin for begin, end in spans), max(s[1] for s in spans) - min(s[0] for s in spans)


def suggestions(run: Followed) -> tuple[float, float]:
    """Return the seconds that iterations waited for their suggestion, and all of their seconds."""
    waited = total = 0.0
    for iteration in run.iterations()[:-LANES]:  # the last ones only end their lanes
        tasks = {t["task_id"]: span(t) for t in run.tasks(iteration["dag_run_id"]) if t["start_date"] and t["end_date"]}
        if "suggest" in tasks:
            waited += tasks["suggest"][1] - tasks["suggest"][0]
            total += max(t[1] for t in tasks.values()) - tasks["suggest"][0]
    return waited, total


def span(task: dict[str, Any]) -> tuple[float, float]:
    """Return when a task began and ended."""
    return tuple(datetime.fromisoformat(task[name]).timestamp() for name in ("start_date", "end_date"))  # type: ignore[return-value]


def share_of_a_core(clone: Clone, seconds: float) -> float:
    """Return what the triggerer's process and its children use of one core over some seconds, the middle of three."""
    found = []
    for _ in range(3):
        before, begun = cpu_s(clone), time.monotonic()
        time.sleep(seconds / 3)
        found.append((cpu_s(clone) - before) / (time.monotonic() - begun))
    return statistics.median(found)


def cpu_s(clone: Clone) -> float:
    """Return the CPU seconds of the triggerer's processes so far."""
    ticks = 0
    for pid in clone.processes("triggerer"):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:13])
    return ticks / 100


if __name__ == "__main__":
    for label, figure in measured(tuple(sys.argv[1:]) or OPTIMIZERS).items():
        print(f"{label}: {figure['value']} {figure['unit']}", flush=True)
