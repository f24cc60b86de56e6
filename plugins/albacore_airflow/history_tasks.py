"""The tasks of `<campaign>.history`: find a date's recorded runs, re-score them, or have them measured again.

The mode is decided by the run's type, never by its id: what a person starts here is skipped, so that only a back-fill
does anything; the schedule starts nothing.
"""

from datetime import datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.triggers.external_task import DagStateTrigger
from airflow.sdk import Context, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from albacore.backfill import dates
from albacore.backfill.calendar import Calendar
from albacore_airflow import history_files, retuning, settings
from albacore_airflow.timetables import BackfillTimetable
from albacore_airflow.triggers import TurnTrigger

BACKFILL = "backfill"
SKIPPED = "skipped"
"""Key of the XCom in which a date that is left out says why."""


def moments(calendar: Calendar) -> BackfillTimetable:
    """Return the moments that a back-fill may name."""
    return BackfillTimetable(calendar.schedule, timezone=calendar.timezone)  # type: ignore[abstract]  # in Airflow's too


def form(calendar: Calendar) -> dict[str, Param]:
    """Return the form of a back-fill; a policy that is not known fails in the first task, with the list."""
    known = dates.policies(calendar)
    return {
        "policy": Param(known[0], type="string", examples=list(known), title="Policy"),
        "mode": Param(dates.MODES[0], type="string", examples=list(dates.MODES), title="Mode"),
    }


@task
def find(name: str) -> list[str]:
    """Find the campaign runs that are recorded under this date; skip the date when there is none."""
    context = get_current_context()
    dag_run = context["dag_run"]
    if dag_run.run_type.value != BACKFILL:
        raise AirflowSkipException(f"a run of type {dag_run.run_type.value}: only back-fills look at history")
    found = calendar_of(name)
    request = dates.request_of(dag_run.conf or {}, found)
    moment = dag_run.logical_date
    if not isinstance(moment, datetime):
        raise AirflowSkipException("this run has no logical date, so no date's runs can be found")
    store = settings.store()
    store.migrate()
    plan = dates.plan(store, found, moment, request)
    for reason in plan.reasons:
        print(reason)
    if not plan.runs:
        context["ti"].xcom_push(key=SKIPPED, value=list(plan.reasons))
        raise AirflowSkipException("; ".join(plan.reasons))
    return list(plan.runs)


def calendar_of(name: str) -> Calendar:
    """Return the calendar of a history DAG as its file is now."""
    return next(found for found in history_files.good(only=f"{name}{history_files.SUFFIX}") if found.name == name)


@task(map_index_template="{{ campaign_run }}", multiple_outputs=False)
def rescore(name: str, campaign_run: str) -> dict[str, Any]:
    """Send one recorded run through the policy; the result stands beside the run's own."""
    context = get_current_context()
    context["campaign_run"] = campaign_run  # type: ignore[typeddict-unknown-key]
    found = calendar_of(name)
    request = dates.request_of(context["dag_run"].conf or {}, found)
    if request.mode != "rescore":
        raise AirflowSkipException(f"the mode of this back-fill is {request.mode}")
    result = dates.rescore_run(settings.store(), campaign_run, request.policy, found)
    kept = {key: result.body[key] for key in ("incumbent", "gain", "ship", "sentence")}
    return {"campaign_run": campaign_run, "policy": request.policy, "policy_digest": result.policy_digest} | kept


class RetuneOperator(TriggerDagRunOperator):
    """Measure a past campaign run again today: wait for the campaign to be free, start it, wait for its end.

    Args:
        campaign_run: The run to measure again, with the benchmark folder that was archived when it opened.
    """

    template_fields = ("campaign_run",)

    def __init__(self, *, campaign_run: Any, **kwargs: Any) -> None:
        super().__init__(
            wait_for_completion=True,
            deferrable=True,
            poke_interval=30,
            skip_when_already_exists=True,
            fail_when_dag_is_paused=True,
            **kwargs,
        )
        self.campaign_run = campaign_run

    def execute(self, context: Context) -> None:
        """Wait for the turn, without a worker; whoever is tried again after its run was started has had it."""
        context["campaign_run"] = self.campaign_run  # type: ignore[typeddict-unknown-key]
        if (context["dag_run"].conf or {}).get("mode") != "retune":
            raise AirflowSkipException("this back-fill measures nothing")
        if self._state(context) is not None:
            self.begin(context)
            return
        self.defer(
            trigger=TurnTrigger(campaign=self.trigger_dag_id, owner=str(self.campaign_run)),
            method_name="begin",
            timeout=timedelta(days=30),
        )

    def begin(self, context: Context, event: Any = None) -> None:
        """Start the campaign, or wait for the run that an earlier try has started, or say how that ended.

        What the campaign needs to know travels in the conf, since its own date is today.
        """
        state = self._state(context)
        if state == retuning.GOES_ON:
            ends = [*self.allowed_states, *self.failed_states]
            child = DagStateTrigger(dag_id=self.trigger_dag_id, states=ends, run_ids=[self.trigger_run_id])
            self.defer(trigger=child, method_name="execute_complete")
        if state is not None:
            retuning.give_back(str(self.campaign_run))
        if state == retuning.FAILED:
            raise AirflowFailException(f"{self.trigger_dag_id}: run {self.trigger_run_id} failed. See its red tasks.")
        if state == retuning.DONE:
            return
        dag_run = context["dag_run"]
        date = dag_run.logical_date
        self.conf = {
            retuning.KEY: str(self.campaign_run),
            "parent_date": date.isoformat() if date else None,
            "parent_run": dag_run.run_id,
        }
        TriggerDagRunOperator.execute(self, context)

    def _state(self, context: Context) -> str | None:
        """Return where the DAG run is that this task starts, None before it has; its id is the same for every try."""
        dag_run = context["dag_run"]
        self.trigger_run_id = retuning.dag_run_id(str(self.campaign_run), dag_run.run_id, dag_run.run_after)
        return retuning.state_of(context["ti"].get_dr_count, self.trigger_dag_id, self.trigger_run_id)

    def execute_complete(self, context: Context, event: tuple[str, dict[str, Any]]) -> None:
        """Let the next one have its turn, then say how this one ended."""
        retuning.give_back(str(self.campaign_run))
        super().execute_complete(context, event)
