"""Operators: a benchmark that survives its worker, the watch over lanes, and a lane's next step."""

import dataclasses
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from albacore import stopping
from albacore.errors import NodeError, PlatformError
from albacore.nightly import admission
from albacore.sample import Blame, Failure, Sample
from albacore_airflow import campaign_tasks, fitness, lanes, progress, settings
from albacore_airflow.measuring import Measurement
from albacore_airflow.slots import Running, Slot
from albacore_airflow.triggers import LanesTrigger, LeaseTrigger, ResultTrigger

JOB = "job"
"""Key of the job's handle in the task state store."""


class BenchmarkOperator(BaseOperator):
    """Take one sample: lease a node, run the detached job, record what it ended in.

    A short sample is waited for in the worker, which costs less than a second task process; a long one, or a long wait
    for a node, is handed to the triggerer, at once when the run's last samples took long. The job's handle is in
    Airflow's task state store, so that a retry after a kill goes on with the same job.

    Args:
        slot: What `campaign_tasks.slot` returns.
        inline_s: Seconds that the worker itself waits, for a lease and again for a result.
    """

    template_fields = ("slot",)

    def __init__(self, *, slot: Any, inline_s: float = 30.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.slot = slot
        self.inline_s = inline_s

    def execute(self, context: Context) -> dict[str, Any]:
        """Return the node's name and whether the sample is good; raise when no node gives one."""
        measurement = Measurement(Slot.of(self.slot))
        is_retry = context["ti"].try_number > 1  # a first try has no handle: asking for one costs a request
        handle: Any = context["task_state_store"].get(JOB) if is_retry else None
        if handle is not None and measurement.answer() is None:
            return self._collect(context, measurement, Running(**handle))
        return self._measure(context, measurement)

    def leased(self, context: Context, event: dict[str, Any]) -> dict[str, Any]:
        """Go on once the trigger has leased a node."""
        return self._measure(context, Measurement(Slot.of(self.slot)))

    def finished(self, context: Context, event: dict[str, Any]) -> dict[str, Any]:
        """Go on once the trigger has seen the job's result."""
        return self._collect(context, Measurement(Slot.of(self.slot)), Running(**event["running"]))

    def _measure(self, context: Context, measurement: Measurement) -> dict[str, Any]:
        """Attempt after attempt, until the slot has an answer or no node is left."""
        while (answer := measurement.answer()) is None:
            if reason := measurement.exhausted():
                raise AirflowFailException(reason)  # trying the task again would find the same
            grant = measurement.wait_for_lease(time.monotonic() + self.inline_s)
            if grant is None:
                self.defer(trigger=LeaseTrigger(slot=self.slot), method_name="leased")
            try:
                running = measurement.start(grant)
            except NodeError as error:
                self.log.warning("node %s: %s", grant.node, measurement.blame_node(grant, error).message)
                continue
            context["task_state_store"].set(JOB, dataclasses.asdict(running))
            self._label(context, running.node)
            self._record(context, measurement, running)
        return self._told(context, answer)

    def _collect(self, context: Context, measurement: Measurement, running: Running) -> dict[str, Any]:
        """Go on with a job that was started before."""
        self._label(context, running.node)
        self._record(context, measurement, running)
        return self._measure(context, measurement)

    def _record(self, context: Context, measurement: Measurement, running: Running) -> None:
        """Wait for a job's result and write it down; defer when it takes long."""
        # Where samples take longer than a worker waits, waiting first would only keep the worker from other lanes.
        inline_s = self.inline_s if measurement.log.usual_s() < self.inline_s else 0.0
        try:
            if not measurement.wait_for_result(running, time.monotonic() + inline_s):
                self.defer(
                    trigger=ResultTrigger(slot=self.slot, running=dataclasses.asdict(running)), method_name="finished"
                )
            fact = measurement.record(running)
        except NodeError as error:  # lost while the job ran: its lease on the node ends it, another node goes on
            fact = measurement.blame_node(running, error)
        if isinstance(fact, Failure):
            context["task_state_store"].delete(JOB)  # the next attempt is another job; after a sample there is none
            self.log.warning("%s on %s: %s\n%s", fact.blame, fact.node, fact.message, fact.log)
            if fact.blame is Blame.PLATFORM:
                raise PlatformError(f"{measurement.slot.key}: {fact.message}")

    def _told(self, context: Context, answer: Sample | Failure) -> dict[str, Any]:
        """Return ids and small values for XCom."""
        self._label(context, answer.node)
        is_good = isinstance(answer, Sample)
        return {"node": answer.node, "ok": is_good, "config": answer.config_id, "slot": answer.slot}

    @staticmethod
    def _label(context: Context, node: str) -> None:
        """Make the node's name the map index label that the grid shows."""
        context["node_name"] = node  # type: ignore[typeddict-unknown-key]


class AwaitLanesOperator(BaseOperator):
    """Wait until all lanes of a campaign run have ended, and start those that died (law 4 of lanes).

    Args:
        run_id: The campaign run.
        iteration_dag_id: The DAG whose runs are the iterations.
        check_s: Seconds between two counts of the living.
    """

    template_fields = ("run_id",)

    def __init__(self, *, run_id: Any, iteration_dag_id: str, check_s: float = 60.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run_id = run_id
        self.iteration_dag_id = iteration_dag_id
        self.check_s = check_s

    def execute(self, context: Context, event: Any = None) -> dict[str, Any]:
        """Return why the run stopped, once every lane has ended."""
        context["ti"].xcom_push(key="progress", value=progress.of(self.run_id, "tune"))
        settings.run_leases().take_resource(settings.run_resource(self.run_id), self.run_id)
        admission.renew(settings.store(), self.run_id)
        if not lanes.all_ended(self.run_id):
            for said in fitness.look_again(self.run_id):
                self.log.info("%s", said)
            self._revive(context)
            self.defer(
                trigger=LanesTrigger(run_id=self.run_id, check_s=self.check_s),
                method_name="execute",
                timeout=timedelta(days=30),
            )
        reason = campaign_tasks.stop_reason(self.run_id) or "all lanes ended"
        if reason == stopping.FAILED:
            raise AirflowFailException(  # trying again would find the same
                f"campaign run {self.run_id} stopped: {reason}. See the red iterations of {self.iteration_dag_id}."
            )
        return {"stopped": reason}

    def _revive(self, context: Context) -> None:
        """Start the next iteration of each lane that should run and does not."""
        log = settings.run_log(self.run_id).read()
        for lane in lanes.read(log, campaign_tasks.lane_count(self.run_id)):
            if lane.has_ended:
                continue
            current, n = campaign_tasks.iteration_id(self.run_id, lane.index, lane.n), lane.n
            count = context["ti"].get_dr_count
            # Existence first: a run that comes to be between the two looks must not pass for one that is over.
            if count(dag_id=self.iteration_dag_id, run_ids=[current]):
                if count(dag_id=self.iteration_dag_id, run_ids=[current], states=["queued", "running"]):
                    continue
                lanes.end_iteration(
                    self.run_id, lane.index, n, key=current, is_ok=False
                )  # it is over, and said nothing
                n += 1
            self.log.warning("lane %d is not running: starting its iteration %d", lane.index, n)
            _trigger(
                self.iteration_dag_id,
                campaign_tasks.iteration_id(self.run_id, lane.index, n),
                campaign_tasks.iteration_conf(self.run_id, lane.index, n),
            )


def _trigger(dag_id: str, run_id: str, conf: dict[str, Any]) -> None:
    """Start a DAG run unless it exists.

    The task SDK has no public call for this outside TriggerDagRunOperator, which ends the task; the message is the
    one it sends.
    """
    from airflow.sdk.exceptions import ErrorType
    from airflow.sdk.execution_time import task_runner
    from airflow.sdk.execution_time.comms import ErrorResponse, TriggerDagRun

    answer = task_runner.SUPERVISOR_COMMS.send(TriggerDagRun(dag_id=dag_id, run_id=run_id, conf=conf))
    if isinstance(answer, ErrorResponse) and answer.error != ErrorType.DAGRUN_ALREADY_EXISTS:
        raise PlatformError(f"{dag_id}: run {run_id} could not be started: {answer.error}. It is tried again.")


class NextIterationOperator(TriggerDagRunOperator):
    """End an iteration in the log, then start the lane's next one, or end the lane (laws 1, 2 and 5 of lanes).

    Args:
        campaign_run: The campaign run.
        lane: The lane's index.
        n: The number of this iteration in its lane.
    """

    template_fields: Sequence[str] = ("campaign_run", "lane", "n")

    def __init__(self, *, campaign_run: Any, lane: Any, n: Any, iteration_dag_id: str, **kwargs: Any) -> None:
        super().__init__(trigger_dag_id=iteration_dag_id, skip_when_already_exists=True, **kwargs)
        self.campaign_run = campaign_run
        self.lane = lane
        self.n = n

    def execute(self, context: Context) -> None:
        """Trigger the next iteration unless there is a reason to end the lane."""
        run_id, lane, n = str(self.campaign_run), int(self.lane), int(self.n)
        key = campaign_tasks.iteration_id(run_id, lane, n)
        ask = settings.run_log(run_id).ask_of(key)
        judged = ask and lanes.has_judged(settings.run_log(run_id).read(), ask)
        reason = lanes.reason_to_end(run_id)
        lanes.end_iteration(run_id, lane, n, key=key, is_ok=bool(judged) or (ask is None and reason is not None))
        if not lanes.is_watched(run_id):  # the lane pauses: whoever watches the run again starts it again
            raise AirflowSkipException(f"lane {lane} pauses: {lanes.UNWATCHED}")
        if reason := reason or lanes.reason_to_end(run_id):
            lanes.end_lane(run_id, lane, reason)
            raise AirflowSkipException(f"lane {lane} ends: {reason}")
        self.trigger_run_id = campaign_tasks.iteration_id(run_id, lane, n + 1)
        self.conf = campaign_tasks.iteration_conf(run_id, lane, n + 1)
        super().execute(context)
