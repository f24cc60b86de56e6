"""Airflow's API server alone, with the pages mounted: no scheduler, no tasks. Run in a process of its own.

Arguments: the port, and a file that the routes of the pages are written to.
"""

import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from airflow import settings
from airflow.api_fastapi.app import create_app
from airflow.models import import_all_models
from airflow.models.base import Base
from airflow.models.dag import DagModel, DagTag
from airflow.models.dagbundle import DagBundleModel
from fastapi.routing import APIRoute

from albacore_airflow.web.app import make

CAMPAIGNS = ("demo", "planted", "nightly", "asleep")


def routes() -> list[dict[str, Any]]:
    """Return path and methods of every route of the pages, whatever kind of route it is."""
    found = []
    for route in make().routes:
        methods = sorted(route.methods) if isinstance(route, APIRoute) else ["?"]
        found.append({"path": getattr(route, "path", repr(route)), "methods": methods})
    return found


def add_dags() -> None:
    """Write the campaigns' DAGs into Airflow's tables, as the DAG processor would."""
    with settings.Session() as session:
        session.merge(DagBundleModel(name="dags-folder"))
        session.flush()
        for name in CAMPAIGNS:
            dag = DagModel(dag_id=name, bundle_name="dags-folder", fileloc="x.py", is_paused=name == "asleep")
            dag.is_stale = False
            dag.tags = [DagTag(name="campaign", dag_id=name)]
            session.merge(dag)
        session.commit()


def main() -> None:
    """Make the tables, then serve."""
    port, listing = int(sys.argv[1]), Path(sys.argv[2])
    import_all_models()
    Base.metadata.create_all(settings.engine)
    add_dags()
    app = create_app(apps="core")
    listing.write_text(json.dumps(routes()))
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
