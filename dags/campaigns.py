"""Two DAGs for each file in include/campaigns: `<campaign>`, and `<campaign>.iteration`, one trial at one rung.

A broken file makes no DAG here; `campaign_errors.py` reports it, so that it breaks no other campaign.
"""

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, TriggerRule, get_parsing_context

from albacore_airflow import campaign_files, dag_tasks
from albacore_airflow.operators import AwaitLanesOperator, BenchmarkOperator, NextIterationOperator
from albacore_airflow.renting_operators import ProvisionOperator, ReleaseOperator

RUN, LANE, N = "{{ params.campaign_run }}", "{{ params.lane }}", "{{ params.n }}"


def iteration_dag(name: str) -> DAG:
    """Make suggest, pick_nodes, benchmark, detect_outliers, adjust_noise, aggregate, report, next (TUNA §5.2)."""
    with DAG(
        f"{name}.iteration",
        schedule=None,
        catchup=False,
        is_paused_upon_creation=False,
        max_active_runs=64,
        render_template_as_native_obj=True,
        tags=["albacore", "iteration"],
        doc_md=iteration_dag.__doc__,
        default_args=dag_tasks.RETRY,
        params={
            "campaign_run": Param("", type="string"),
            "lane": Param(0, type="integer"),
            "n": Param(0, type="integer"),
        },
    ) as dag:
        ask = dag_tasks.suggest(RUN, LANE, N)
        slots = dag_tasks.pick_nodes(RUN, ask)
        samples = BenchmarkOperator.partial(task_id="benchmark", **dag_tasks.MEASURED).expand(slot=slots)
        detected = dag_tasks.detect_outliers(RUN, ask)
        adjusted = dag_tasks.adjust_noise(RUN, ask, detected)
        scored = dag_tasks.aggregate(RUN, detected, adjusted)
        told = dag_tasks.report(RUN, ask, detected, adjusted, scored)
        following = NextIterationOperator(
            task_id="next",
            campaign_run=RUN,
            lane=LANE,
            n=N,
            iteration_dag_id=dag.dag_id,
            trigger_rule=TriggerRule.ALL_DONE,
        )
        samples >> detected
        told >> following.as_teardown()
    return dag


def campaign_dag(campaign: campaign_files.Campaign) -> DAG:
    """Make open, provision, prepare, default on all nodes, lanes, await, validate on fresh nodes, verdict, release."""
    name = campaign.name
    with DAG(
        name,
        schedule=dag_tasks.nights(campaign),
        catchup=False,
        is_paused_upon_creation=True if campaign.schedule else None,
        max_active_runs=16,  # one at a time is the lock's business: it tells the others why they do not begin
        tags=["albacore", "campaign"],
        dag_display_name=campaign.title or name,
        doc_md=campaign_dag.__doc__,
        default_args=dag_tasks.RETRY,
        params=dag_tasks.form(campaign),
    ) as dag:
        each_node = dag_tasks.MEASURED | {"max_active_tis_per_dagrun": dag_tasks.at_once(campaign)}
        run = dag_tasks.open_run(name)
        provision = ProvisionOperator(task_id="provision", run_id=run)
        prepared = dag_tasks.prepare.partial(campaign_run=run).expand(name=provision.output)
        plan = dag_tasks.plan_default(run)
        default = BenchmarkOperator.partial(task_id="default", **each_node).expand(slot=plan)
        judged = dag_tasks.judge_default(run)
        lanes = dag_tasks.lanes(run)
        started = TriggerDagRunOperator.partial(
            task_id="start_lanes", trigger_dag_id=f"{name}.iteration", skip_when_already_exists=True
        ).expand_kwargs(lanes)
        awaited = AwaitLanesOperator(
            task_id="await", run_id=run, iteration_dag_id=f"{name}.iteration", retries=dag_tasks.WATCH_RETRIES
        )
        fresh = dag_tasks.plan_validation(run)
        validated = BenchmarkOperator.partial(task_id="validate", **each_node).expand(slot=fresh)
        verdict = dag_tasks.verdict(run)
        prepared >> plan
        default >> judged >> lanes
        started >> awaited >> fresh
        validated >> verdict >> dag_tasks.torn_down(ReleaseOperator(task_id="release", run_id=run), campaign, provision)
    return dag


for campaign in campaign_files.good(only=get_parsing_context().dag_id):  # a task reads its own campaign only
    globals()[f"dag {campaign.name}"] = campaign_dag(campaign)
    globals()[f"dag {campaign.name}.iteration"] = iteration_dag(campaign.name)
