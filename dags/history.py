"""One DAG for each campaign and each file of include/histories: `<campaign>.history`, re-scoring of recorded runs.

A back-fill over dates sends the runs that were recorded on them through a policy again, without touching a node; with
`{"mode": "retune"}` it has them measured again today. The schedule itself starts nothing.
"""

from airflow.sdk import DAG, get_parsing_context

from albacore_airflow import dag_tasks, history_files, history_tasks
from albacore_airflow.history_tasks import RetuneOperator


def history_dag(calendar: history_files.Calendar) -> DAG:
    """Make find, then rescore for each run of the date, or retune."""
    with DAG(
        f"{calendar.name}.history",
        schedule=history_tasks.moments(calendar),
        catchup=False,
        is_paused_upon_creation=False,
        max_active_runs=2,
        render_template_as_native_obj=True,
        tags=["albacore", "history"],
        dag_display_name=f"{calendar.title or calendar.name}: history",
        doc_md=__doc__,
        default_args=dag_tasks.RETRY,
        params=history_tasks.form(calendar),
    ) as dag:
        found = history_tasks.find(calendar.name)
        history_tasks.rescore.partial(name=calendar.name).expand(campaign_run=found)
        if calendar.policy is not None:  # a history file has nothing to measure with
            RetuneOperator.partial(
                task_id="retune", trigger_dag_id=calendar.name, map_index_template="{{ campaign_run }}"
            ).expand(campaign_run=found)
    return dag


for calendar in history_files.good(only=get_parsing_context().dag_id):  # a task reads its own history only
    globals()[f"dag {calendar.name}.history"] = history_dag(calendar)
