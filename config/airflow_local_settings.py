"""Let every Airflow process import Albacore, and let SQLite wait for its turn.

Airflow imports this module by its name from `$AIRFLOW_HOME/config` while it initialises, in every process: api-server,
scheduler, DAG processor, triggerer and each task. It puts `include/` on the import path and nothing else: `plugins/` is
added by Airflow, and the root of the repository is never on the path, so `import config` and `import dags` stay errors.
"""

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

# Airflow copies the public names of this module into its own settings: there are none to copy.
__all__: list[str] = []

_INCLUDE = str(Path(__file__).resolve().parents[1] / "include")
if _INCLUDE not in sys.path:
    sys.path.insert(0, _INCLUDE)

# SQLite waits 5 s for a lock by default, too short while a scheduler commits under load on two cores. Airflow changes
# the dictionary it is given, so the two engines get one each. airflow.cfg names both.
SQLITE_CONNECT_ARGS: dict[str, Any] = {"timeout": 30}
SQLITE_CONNECT_ARGS_ASYNC: dict[str, Any] = {"timeout": 30}


def _write_from_the_start(connection: Connection, name: str) -> None:
    """Take SQLite's write lock before a savepoint that begins a transaction.

    Such a savepoint reads first and writes later, and SQLite refuses the write at once, without waiting, when somebody
    else wrote in between. Airflow makes a back-fill so, one savepoint per date, while the scheduler writes all the
    time: thirty dates never came through.
    """
    raw = connection.connection.dbapi_connection
    if connection.dialect.name == "sqlite" and getattr(raw, "in_transaction", True) is False:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


if sys.argv[1:2] in (["backfill"], ["api-server"]):
    event.listen(Engine, "savepoint", _write_from_the_start)

if sys.argv[1:2] == ["scheduler"]:
    # The executor's workers, and the tasks in them, are forks of the scheduler: what it has imported they need not
    # import again. Otherwise an iteration pays a second or more for scikit-learn, and each of its tasks 0.4 s of CPU
    # for the operators of the standard provider and our own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no threads before a fork
    for _name in ("sklearn.ensemble", "albacore.judging", "albacore_airflow.dag_tasks", "albacore_airflow.operators"):
        importlib.import_module(_name)
