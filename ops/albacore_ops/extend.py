"""`albacore extend RUN`: new totals for a campaign run, and a DAG run that re-opens it when it has ended.

The store is the library's business: its own `extend` checks and writes down the limits, in a process of its own. Here
is only what needs the running Airflow.
"""

import argparse
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace

from albacore_ops import campaign, credential, supervision
from albacore_ops.campaign import ENDED
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError
from albacore_ops.rest import Airflow, ApiError, path


def run(layout: Layout, arguments: Sequence[str]) -> int:
    """Extend a campaign run; return the exit code.

    Raises:
        RefusalError: Nothing runs, or Airflow does not answer or know the campaign.
    """
    run_id = parsed(arguments).run
    running = supervision.recall(layout)
    if running is None:
        raise RefusalError("extend: nothing runs that could go on with it: start Airflow with `make up`, then extend")
    layout = replace(layout, port=running.port)
    airflow = Airflow(url=layout.url, user=credential.USER, password=credential.password(layout))
    code = limit(layout, arguments)
    if code:
        return code
    try:
        print(go_on(airflow, run_id))
    except ApiError as error:
        raise RefusalError(f"{error}; see `make doctor`") from error
    return 0


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; the library reads them again."""
    parser = argparse.ArgumentParser(prog="albacore extend", description="Give a campaign run new totals.")
    parser.add_argument("run", help="id of a campaign run; one that has ended is re-opened")
    parser.add_argument("--samples", type=int, help="new total of samples")
    parser.add_argument("--hours", type=float, help="new total of hours")
    parser.add_argument("--cost", type=float, help="new total of cost, where the campaign has a price")
    return parser.parse_args(arguments)


def limit(layout: Layout, arguments: Sequence[str]) -> int:
    """Let the library check and write down the new totals; return its exit code."""
    environment = {**os.environ, "AIRFLOW_HOME": str(layout.root), "PYTHONPATH": str(layout.root / "include")}
    command = [str(layout.python), "-m", "albacore.cli", "extend", *arguments]
    return subprocess.run(command, env=environment, check=False).returncode


def go_on(airflow: Airflow, run_id: str) -> str:
    """Re-open a run that has ended; return what happens now, in one line."""
    name = run_id.rsplit("-", 2)[0]
    if not campaign.is_known(airflow, name):
        raise RefusalError(f"extend: Airflow knows no campaign {name!r}: put its file back into include/campaigns/")
    if goes_on(airflow, name, run_id):
        return f"{run_id} goes on: its lanes see the new limits when they look next"
    campaign.switch_on(airflow, name)
    started = campaign.start(airflow, name, conf={"extends": run_id})
    return f"{run_id} is re-opened by DAG run {started.run_id}: `make follow CAMPAIGN={name}` shows it"


def goes_on(airflow: Airflow, name: str, run_id: str) -> bool:
    """Return whether a DAG run of the campaign works on a campaign run at this moment, or is about to."""
    query = {"order_by": "-run_after", "limit": 20}
    for found in airflow.call("GET", path("dags", name, "dagRuns"), query=query)["dag_runs"]:
        if found["state"] in ENDED:
            continue
        if (found.get("conf") or {}).get("extends") == run_id:
            return True
        if campaign.CampaignRun(airflow=airflow, campaign=name, run_id=found["dag_run_id"]).opened() == run_id:
            return True
    return False
