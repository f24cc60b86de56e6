"""Parse this clone's DAG files in a process of their own and print what they are as JSON: Airflow needs no scheduler.

Run with AIRFLOW_HOME set; `parse` in `conftest.py` does.
"""

import json
import sys
import time
from datetime import UTC, datetime
from typing import Any

from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG
from airflow.serialization.definitions.dag import SerializedDAG
from airflow.serialization.serialized_objects import DagSerialization

HEAVY = ("smac", "ConfigSpace", "sklearn", "pandas", "azure", "fabric", "torch")


def described(dag: DAG) -> dict[str, Any]:
    """Return what the tests ask of a DAG."""
    return {
        "tasks": [task.task_id for task in dag.topological_sort()],
        "downstream": {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks},
        "teardowns": [task.task_id for task in dag.tasks if task.is_teardown],
        "labels": {t.task_id: template for t in dag.tasks if (template := _map_index_template(t))},
        "rules": {task.task_id: str(task.trigger_rule) for task in dag.tasks},
        "retries": {task.task_id: task.retries for task in dag.tasks},
        "form": {name: dict(dag.params.get_param(name).schema) for name in dag.params},
        "values": dag.params.dump(),
        "schedule": _schedule(dag).get("expression"),
        "timezone": _schedule(dag).get("timezone"),
        "next": _next_by_schedule(dag),
        "moments": _moments(dag),
        "catchup": dag.catchup,
        "is_paused_upon_creation": dag.is_paused_upon_creation,
        "doc": dag.doc_md or "",
        "tags": sorted(dag.tags),
    }


def _map_index_template(task: Any) -> str | None:
    partial = getattr(task, "partial_kwargs", {})
    return partial.get("map_index_template") or getattr(task, "map_index_template", None)


def _schedule(dag: DAG) -> dict[str, Any]:
    return _read_back(dag).timetable.serialize()


def _next_by_schedule(dag: DAG) -> str | None:
    """Return when the scheduler would start the next run, read back as it reads it."""
    info = _read_back(dag).next_dagrun_info(last_automated_run_info=None)
    return info and str(info.run_after)


def _moments(dag: DAG) -> list[str]:
    """Return the moments of the first three days of 2026 that a back-fill would have."""
    span = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 3, 23, tzinfo=UTC)
    read = _read_back(dag)
    return [str(info.logical_date) for info in read.iter_dagrun_infos_between(*span)] if read.timetable.periodic else []


def _read_back(dag: DAG) -> SerializedDAG:
    return DagSerialization.from_dict(DagSerialization.to_dict(dag))


def main() -> None:
    """Print the DAGs, the import errors, the time, and the heavy packages that parsing has imported."""
    begun = time.perf_counter()
    bag = DagBag()
    found = {
        "wall_s": time.perf_counter() - begun,
        "errors": bag.import_errors,
        "heavy": sorted({name.split(".")[0] for name in sys.modules} & set(HEAVY)),
        "dags": {name: described(dag) for name, dag in bag.dags.items()},
    }
    print("\n" + json.dumps(found, default=str))


if __name__ == "__main__":
    main()
