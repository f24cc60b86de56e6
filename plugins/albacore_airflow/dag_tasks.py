"""The TaskFlow tasks of the DAGs: each calls one function and hands on ids and small values.

What is handed on is one value: with a dict per name (`multiple_outputs`) each name would cost a request of its own.
"""

from datetime import timedelta
from typing import Any

from airflow.sdk import (
    BaseOperator,
    Context,
    CronTriggerTimetable,
    ExceptionRetryPolicy,
    Param,
    RetryAction,
    RetryRule,
    TriggerRule,
    get_current_context,
    task,
)
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from albacore.campaign import Campaign
from albacore.errors import ConfigError, UserError
from albacore.nightly.admission import Caller, NotTonightError
from albacore.optimizers import KINDS
from albacore_airflow import campaign_tasks, iteration_tasks, opening, progress, settings

SKIPPED = "skipped"
"""Key of the XCom in which a night that does not begin says why."""

RETRY: dict[str, Any] = {
    "retries": 2,
    "retry_delay": timedelta(seconds=settings.RETRY_DELAY_S),
    "retry_policy": ExceptionRetryPolicy(
        rules=[
            RetryRule(exception=UserError, action=RetryAction.FAIL, reason="somebody has to correct a file"),
            RetryRule(exception=ConfigError, action=RetryAction.FAIL, reason="the config is to blame"),
        ]
    ),
}
"""A task is tried again after what can heal, never after what somebody has to correct."""


WATCH_RETRIES = 20
"""Of the task that watches a run to its end: every outage that it meets may cost one, and a run may last for days."""

MEASURED: dict[str, Any] = {"map_index_template": "{{ node_name }}", "retries": 5}
"""Of the tasks that take samples: named by node; their jobs outlive them, so that another try costs nothing."""


def form(campaign: Campaign) -> dict[str, Param]:
    """Return the form of a campaign's DAG, with the file's values in it."""
    return {
        "samples": Param(campaign.limits.samples, type="integer", minimum=1, maximum=1_000_000, title="Samples"),
        "hours": Param(campaign.limits.hours, type="number", exclusiveMinimum=0, maximum=10_000, title="Hours"),
        "seed": Param(campaign.seed, type="integer", minimum=0, maximum=2**32 - 1, title="Seed"),
        "preset": Param(campaign.policy.preset, enum=["tuna", "traditional", "naive"], title="Policy"),
        "optimizer": Param(campaign.optimizer.name, enum=sorted(KINDS), title="Optimizer"),
        "extends": Param(
            None,
            # A text that may not be null is one that the form has to be given: without it nobody could send the form.
            type=["null", "string"],
            title="Extends",
            description="Id of a campaign run that has ended: it goes on up to these samples and hours.",
        ),
    }


def nights(campaign: Campaign) -> CronTriggerTimetable | None:
    """Return when a campaign runs by itself: each moment begins a run of its own; None without a schedule."""
    if campaign.schedule is None:
        return None
    return CronTriggerTimetable(campaign.schedule, timezone=campaign.timezone)


def at_once(campaign: Campaign) -> int:
    """Return how many of many samples are tasks at a time: those that can run, and one that waits for its turn.

    More would only cost: each is a process that starts and looks for its lease beside the samples of a shared host.
    """
    return settings.tasks_at_once(campaign) + 1


def _push(campaign_run: str, phase: str) -> None:
    """Leave the run's progress in XCom for whoever follows."""
    get_current_context()["ti"].xcom_push(key="progress", value=progress.of(campaign_run, phase))


@task(task_id="open")
def open_run(name: str) -> str:
    """Open the campaign run: everything that is fixed before the first sample."""
    context = get_current_context()
    dag_run = context["dag_run"]
    conf = dag_run.conf or {}
    if conf.get("extends"):
        by = str(getattr(dag_run, "triggering_user_name", None) or "Airflow")
        opened = opening.reopen_run(name, str(conf["extends"]).strip(), conf, _caller(context), by=by)
        _push(opened, "prepare")
        return opened
    started = f"{dag_run.run_after:%Y%m%dt%H%M%S}"
    logical = dag_run.logical_date.isoformat() if dag_run.logical_date else None
    run_id = campaign_tasks.run_id_of(name, dag_run.run_id, started)
    try:
        opened = opening.open_run(name, run_id, {**context["params"], **conf}, logical, _caller(context))
    except NotTonightError as error:
        print(error.message)  # Airflow's log says no more than "Skipping task"
        context["ti"].xcom_push(key=SKIPPED, value=error.message)
        raise AirflowSkipException(error.message) from error
    _push(opened, "prepare")
    return opened


def _caller(context: Context) -> Caller:
    """Return the DAG run at hand, for the campaign's admission."""
    dag_run, count = context["dag_run"], context["ti"].get_dr_count

    def is_over(run_id: str) -> bool:
        is_active = count(dag_id=dag_run.dag_id, run_ids=[run_id], states=["queued", "running"]) > 0
        return not is_active and count(dag_id=dag_run.dag_id, run_ids=[run_id]) > 0

    return Caller(
        dag_run_id=dag_run.run_id, run_type=dag_run.run_type.value, run_after=dag_run.run_after, is_over=is_over
    )


def _opened(campaign_run: str | None) -> str:
    """Return the campaign run of a task that runs whatever happened before; skip it when there is none to speak of."""
    if campaign_run:
        return campaign_run
    reason = get_current_context()["ti"].xcom_pull(task_ids="open", key=SKIPPED)
    if reason:
        raise AirflowSkipException(reason)
    raise AirflowFailException("no campaign run was opened: see the log of the task 'open'")


def torn_down(release: BaseOperator, campaign: Campaign, provision: BaseOperator) -> BaseOperator:
    """Make `release` a teardown, which runs whatever happens before it.

    Machines that are made for the run have a setup too, one that cannot fail: with `provision` as the setup, its
    failure half-way would leave them there.
    """
    if not campaign.nodes.is_rented:
        return release.as_teardown()
    claimed: Any = claim(release.run_id)  # type: ignore[attr-defined]
    claimed.set_downstream(provision)
    return release.as_teardown(setups=claimed)


@task
def claim(campaign_run: str) -> str:
    """Say that machines are going to be made for the run: the task whose teardown deletes them."""
    return campaign_run


@task(map_index_template="{{ node_name }}", multiple_outputs=False)
def prepare(campaign_run: str, name: str) -> dict[str, Any]:
    """Make one node ready: benchmark folder, software, data."""
    get_current_context()["node_name"] = name  # type: ignore[typeddict-unknown-key]
    return opening.prepare_node(campaign_run, name)


@task
def plan_default(campaign_run: str) -> list[dict[str, Any]]:
    """Plan the default config on all tuning nodes."""
    _push(campaign_run, "default")
    return campaign_tasks.plan_default(campaign_run)


@task(trigger_rule=TriggerRule.ALL_DONE, multiple_outputs=False)
def judge_default(campaign_run: str | None) -> dict[str, Any]:
    """Judge the default config."""
    return campaign_tasks.judge_default(_opened(campaign_run))


@task
def lanes(campaign_run: str) -> list[dict[str, Any]]:
    """Return what starts each lane."""
    return campaign_tasks.lane_runs(campaign_run)


@task
def plan_validation(campaign_run: str) -> list[dict[str, Any]]:
    """Plan default and best config on the fresh nodes."""
    _push(campaign_run, "validate")
    return campaign_tasks.plan_validation(campaign_run)


@task(trigger_rule=TriggerRule.ALL_DONE)
def verdict(campaign_run: str | None) -> None:
    """Conclude: ship or do not ship."""
    campaign_run = _opened(campaign_run)
    get_current_context()["ti"].xcom_push(key="verdict", value=campaign_tasks.conclude(campaign_run))
    _push(campaign_run, "done")


@task(multiple_outputs=False)
def suggest(campaign_run: str, lane: int, n: int) -> dict[str, Any]:
    """Decide which config is measured at which rung; skip the iteration when the run asks no more."""
    ask = iteration_tasks.suggest(campaign_run, int(lane), campaign_tasks.iteration_id(campaign_run, int(lane), int(n)))
    if ask is None:
        raise AirflowSkipException("the campaign run asks no more")
    return ask


@task
def pick_nodes(campaign_run: str, ask: dict[str, Any]) -> list[dict[str, Any]]:
    """Pick eligible nodes for every sample that the trial lacks."""
    return iteration_tasks.pick_nodes(campaign_run, ask)


@task(trigger_rule=TriggerRule.NONE_FAILED, multiple_outputs=False)
def detect_outliers(campaign_run: str, ask: dict[str, Any] | None) -> dict[str, Any]:
    """Tell whether the config is stable over its nodes."""
    if ask is None:
        raise AirflowSkipException("nothing was asked")
    return iteration_tasks.detect_outliers(campaign_run, ask)


@task(multiple_outputs=False)
def adjust_noise(campaign_run: str, ask: dict[str, Any], detected: dict[str, Any]) -> dict[str, Any]:
    """Remove platform noise from the samples."""
    return iteration_tasks.adjust_noise(campaign_run, ask, detected)


@task(multiple_outputs=False)
def aggregate(campaign_run: str, detected: dict[str, Any], adjusted: dict[str, Any]) -> dict[str, Any]:
    """Turn the samples into one score."""
    return iteration_tasks.aggregate(campaign_run, detected, adjusted)


@task
def report(
    campaign_run: str, ask: dict[str, Any], detected: dict[str, Any], adjusted: dict[str, Any], scored: dict[str, Any]
) -> None:
    """Tell the optimizer once."""
    told = iteration_tasks.report(campaign_run, ask, detected, adjusted, scored)
    get_current_context()["ti"].xcom_push(key="progress", value=told)
