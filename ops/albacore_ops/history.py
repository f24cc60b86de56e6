"""Clean Airflow's history on demand: what the DAG `housekeeping` does every week, whether Airflow runs or not."""

import os
import subprocess

from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError


def clean(layout: Layout) -> int:
    """Run the housekeeping of the Airflow part in its own process; return the exit code.

    Raises:
        RefusalError: There is no database to clean, or cleaning failed.
    """
    if not layout.database.exists():
        raise RefusalError(f"there is no history to clean: no database at {layout.database}; `make up` makes one")
    library = os.pathsep.join(str(layout.root / name) for name in ("include", "plugins"))
    command = [str(layout.python), "-P", "-m", "albacore_airflow.housekeeping"]
    environment = layout.environment(os.environ) | {"PYTHONPATH": library}
    done = subprocess.run(command, cwd=layout.root, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise RefusalError(f"cleaning failed: {last}")
    return 0
