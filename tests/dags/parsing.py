"""Parse this clone's DAG files in a process of their own and print what they are as JSON: Airflow needs no scheduler.

Run with AIRFLOW_HOME set; `parse` in `conftest.py` does.
"""

import json
import sys
import time
from typing import Any

from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG

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
        "schedule": getattr(dag.timetable, "expression", None),
        "timezone": str(getattr(dag.timetable, "timezone", "")),
        "catchup": dag.catchup,
        "is_paused_upon_creation": dag.is_paused_upon_creation,
        "doc": dag.doc_md or "",
        "tags": sorted(dag.tags),
    }


def _map_index_template(task: Any) -> str | None:
    partial = getattr(task, "partial_kwargs", {})
    return partial.get("map_index_template") or getattr(task, "map_index_template", None)


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
