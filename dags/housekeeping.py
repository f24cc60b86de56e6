"""Once a week Airflow forgets iterations older than their campaign's `keep_days`; campaign runs and the store stay."""

from airflow.sdk import DAG, get_current_context, task

from albacore_airflow import dag_tasks, housekeeping

with DAG(
    housekeeping.DAG_ID,
    schedule="0 12 * * 0",  # at noon: nights have ended, and nothing of theirs is held up
    catchup=False,
    max_active_runs=1,
    is_paused_upon_creation=False,
    tags=["albacore", "housekeeping"],
    doc_md=__doc__,
    default_args=dag_tasks.RETRY,
):

    @task
    def clean() -> list[str]:
        """Run `airflow db clean` for iterations, remove their logs, and say what is gone."""
        return list(housekeeping.clean(witness=get_current_context()["dag_run"].run_id))

    clean()
