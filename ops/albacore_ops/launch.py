"""Start one of Airflow's processes at the right moment: the supervisor runs this, and it becomes the process.

The scheduler must not work before the API answers: its first tasks would call an API that is not there yet and be lost.
And a scheduler that was killed leaves idle executor workers behind, which hold memory and could still take a task from
a queue that nobody reads.
"""

import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from albacore_ops import process

API_WAIT_S = 300.0


def wait_for_api(url: str, timeout_s: float) -> bool:
    """Return whether the API answers within the timeout."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url + "/api/v2/version", timeout=5):  # noqa: S310 - always our own http address
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.3)
    return False


def orphaned_workers(root: Path) -> list[process.Process]:
    """Return the idle LocalExecutor workers of a scheduler that is gone; one that runs a task is left to finish it.

    Called before a scheduler starts, when every such worker is an orphan.
    """
    return [each for each in process.marked(root) if is_idle_worker(process.command_line(each.pid))]


def is_idle_worker(title: str) -> bool:
    """Return whether a process title is that of an executor worker without a task."""
    return "LocalExecutor" in title and title.rstrip().endswith("<idle>")


def main(arguments: list[str]) -> int:
    """Become `airflow COMPONENT`; return an exit code only when that is impossible."""
    component = arguments[0]
    flags = ["--skip-serve-logs"] if component in ("scheduler", "triggerer") else []
    if component == "scheduler":
        process.end(orphaned_workers(Path(os.environ["AIRFLOW_HOME"])), grace_s=2.0)
        if not wait_for_api(os.environ["AIRFLOW__API__BASE_URL"], API_WAIT_S):
            print("scheduler: the API server does not answer; the supervisor tries again", file=sys.stderr)
            return 1
    # -P: otherwise -m puts the working directory, the root of the clone, on the import path.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "airflow", component, *flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
