"""Operators of the campaign DAG that wait for machines to come, and to go, without holding a worker."""

from datetime import timedelta
from typing import Any

from airflow.sdk import BaseOperator, Context

from albacore.errors import NodeError, PlatformError, UserError
from albacore_airflow import campaign_tasks, opening, renting
from albacore_airflow.triggers import GoneTrigger, ThereTrigger

PATIENCE = timedelta(minutes=20)
"""How long machines may take to come, or to go; usually a few minutes."""
RAISED = {error.__name__: error for error in (NodeError, PlatformError, UserError)}


class ProvisionOperator(BaseOperator):
    """Have the run's nodes, and fix the space by their facts; nodes that are made for the run are waited for deferred.

    Machines that fail are deleted before the task fails: what can heal is tried again.

    Args:
        run_id: The campaign run.
    """

    template_fields = ("run_id",)

    def __init__(self, *, run_id: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run_id = run_id

    def execute(self, context: Context) -> list[str]:
        """Return the names of the nodes."""
        if not renting.is_rented(self.run_id):
            return opening.provision(self.run_id, context["dag_run"].run_id)
        renting.request(self.run_id, context["dag_run"].run_id)
        return self.arrived(context, None)

    def arrived(self, context: Context, event: Any) -> list[str]:
        """Go on once no machine is waited for any more."""
        found = renting.progress(self.run_id)
        if not found.is_settled:
            self.defer(trigger=ThereTrigger(run_id=self.run_id), method_name="arrived", timeout=PATIENCE)
        if found.error is None:
            return opening.provision(self.run_id, context["dag_run"].run_id)
        told = {"raised": type(found.error).__name__, "said": found.error.message}
        return self.cleared(context, None, nodes=sorted(found.faults), **told)

    def cleared(self, context: Context, event: Any, *, nodes: list[str], raised: str, said: str) -> list[str]:
        """Fail once the machines that failed are gone."""
        told = {"nodes": nodes, "raised": raised, "said": said}
        if renting.sweep(self.run_id, nodes):
            self.defer(
                trigger=GoneTrigger(run_id=self.run_id, nodes=nodes),
                method_name="cleared",
                kwargs=told,
                timeout=PATIENCE,
            )
        raise RAISED[raised](said)


class ReleaseOperator(BaseOperator):
    """End what still runs on the nodes, give back every lease, and delete the machines that were made for the run.

    Args:
        run_id: The campaign run; None when none was opened.
    """

    template_fields = ("run_id",)

    def __init__(self, *, run_id: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run_id = run_id

    def execute(self, context: Context) -> list[str]:
        """Return what had to be ended."""
        if not self.run_id:
            return []
        if not renting.is_rented(self.run_id):
            return campaign_tasks.release(self.run_id)
        try:
            ended = campaign_tasks.release(self.run_id)
        except NodeError as error:  # whatever runs there goes with the machine
            self.log.warning("%s", error.message)
            ended = []
        return self.gone(context, None, ended=ended)

    def gone(self, context: Context, event: Any, *, ended: list[str]) -> list[str]:
        """Go on once nothing of the run is left."""
        if left := renting.sweep(self.run_id):
            self.log.info("not gone yet: %s", ", ".join(left))
            self.defer(
                trigger=GoneTrigger(run_id=self.run_id, nodes=None),
                method_name="gone",
                kwargs={"ended": ended},
                timeout=PATIENCE,
            )
        return ended
