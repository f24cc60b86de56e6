"""The one Airflow plugin: mounts the tuning pages and puts them into Airflow's menu, on each DAG and on each run.

Airflow reads a DAG's timetable back only if its class is named here.

Every process of Airflow loads plugins, the workers' forks too, so the web app is made at its first request.
"""

from typing import Any

from airflow.plugins_manager import AirflowPlugin

from albacore_airflow.timetables import BackfillTimetable

ROOT = "/albacore"


class LateApp:
    """The web app, made when somebody asks for it."""

    def __init__(self) -> None:
        self._app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request."""
        if self._app is None:
            from albacore_airflow.web.app import make

            self._app = make()
        await self._app(scope, receive, send)


class AlbacorePlugin(AirflowPlugin):
    """The tuning pages, and when histories are back-filled."""

    name = "albacore"
    timetables = [BackfillTimetable]  # noqa: RUF012, Airflow's own shape
    fastapi_apps = [{"app": LateApp(), "url_prefix": ROOT, "name": "albacore"}]  # noqa: RUF012
    external_views = [  # noqa: RUF012
        {"name": "Tuning", "href": f"{ROOT}/", "destination": "nav", "url_route": "tuning"},
        {"name": "Tuning", "href": f"{ROOT}/dags/{{DAG_ID}}", "destination": "dag", "url_route": "tuning_of_dag"},
        {
            "name": "Tuning",
            "href": f"{ROOT}/dags/{{DAG_ID}}/dag-runs/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "tuning_of_run",
        },
    ]
