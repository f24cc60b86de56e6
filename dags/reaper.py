"""Every 15 minutes: machines on Azure that no live campaign run owns are deleted, those of unknown runs reported.

It runs by itself as soon as a campaign has machines made for it; started by hand, it always looks.
"""

from collections.abc import Collection

from airflow.sdk import DAG, get_current_context, task

from albacore_airflow import dag_tasks, reaper

with DAG(
    reaper.DAG_ID,
    schedule=reaper.schedule(),
    catchup=False,
    max_active_runs=1,
    is_paused_upon_creation=False,
    tags=["albacore", "housekeeping"],
    doc_md=__doc__,
    default_args=dag_tasks.RETRY,
):

    @task
    def reap() -> list[str]:
        """Delete what is due, and say what was found."""
        count = get_current_context()["ti"].get_dr_count

        def is_live(dag_id: str, dag_runs: Collection[str]) -> bool:
            """Whether one of these runs of a DAG goes on."""
            live = ["queued", "running"]
            return bool(dag_runs) and count(dag_id=dag_id, run_ids=list(dag_runs), states=live) > 0

        found = list(reaper.reap(is_live))
        print("\n".join(found) or "nothing of ours is there")
        return found

    reap()
