"""What an iteration costs beside the same-shaped DAG of tasks that do nothing; both in one run of one Airflow."""

import statistics
import sys
import tempfile
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("include", "ops", "tests")]

from clone import Clone, Followed, running, wait_until  # noqa: E402 - the path has just been made

ITERATIONS = 30
CAMPAIGN = f"""
system = "noop"
workload = "sleep"
limits = {{ samples = {ITERATIONS + 1}, hours = 1.0 }}
optimizer = {{ name = "random" }}
policy = {{ preset = "traditional" }}
nodes = {{ tuning = 1, validation = 0 }}
lanes = {{ count = 1 }}
params = {{ seconds = 0.0 }}
"""
EMPTY = '''
"""The shape of an iteration, of tasks that do nothing."""
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, task

with DAG("empty", schedule=None, is_paused_upon_creation=False, render_template_as_native_obj=True,
         params={"n": Param(0, type="integer")}) as dag:
    @task
    def pick_nodes(asked): return [0]
    @task
    def benchmark(slot): return slot
    def idle(name):
        @task(task_id=name)
        def nothing(before): return 0
        return nothing
    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def report(before, n): return int(n) + 1 < COUNT
    told = report(idle("aggregate")(idle("adjust_noise")(idle("detect_outliers")(
        benchmark.expand(slot=pick_nodes(idle("suggest")(0)))))), "{{ params.n }}")
    told >> TriggerDagRunOperator(task_id="next", trigger_dag_id="empty", trigger_run_id="empty.{{ params.n + 1 }}",
                                  conf={"n": "{{ params.n + 1 }}"})
'''


def figures() -> dict[str, dict[str, object]]:
    """Return medians over the iterations of one lane, the first one left out."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), {"costly": CAMPAIGN}) as clone:
        (clone.root / "dags" / "empty.py").write_text(EMPTY.replace("COUNT", str(ITERATIONS)))
        ours = spans(campaign(clone))
        bare = spans(empty(clone))
    return {
        "iteration with noop": {"value": round(ours, 2), "unit": "s"},
        "same-shaped DAG of empty tasks": {"value": round(bare, 2), "unit": "s"},
        "iteration with noop / empty tasks": {"value": round(ours / bare, 2), "unit": "x"},
    }


def campaign(clone: Clone) -> list[dict[str, Any]]:
    """Return the DAG runs of a campaign's only lane."""
    followed: Followed = clone.start("costly").wait(600)
    return followed.iterations()[1:-1]  # the last one only ends the lane


def empty(clone: Clone) -> list[dict[str, Any]]:
    """Return the DAG runs of the empty DAG."""
    where = "/api/v2/dags/empty"
    wait_until(lambda: clone.airflow.find(where), 120, "Airflow knows the empty DAG")
    body = {"dag_run_id": "empty.0", "logical_date": None, "conf": {"n": 0}}
    clone.airflow.call("POST", f"{where}/dagRuns", body=body)

    def ended() -> list[dict[str, Any]] | None:
        runs = clone.airflow.call("GET", f"{where}/dagRuns", query={"limit": 100, "order_by": "id"})["dag_runs"]
        return runs if len([run for run in runs if run["state"] in ("success", "failed")]) == ITERATIONS else None

    return wait_until(ended, 600, "all empty runs have ended")[1:-1]


def spans(runs: list[dict[str, Any]]) -> float:
    """Return the median seconds from one iteration's start to the next one's."""
    starts = [datetime.fromisoformat(run["start_date"]).timestamp() for run in runs]
    return statistics.median(later - earlier for earlier, later in pairwise(starts))
