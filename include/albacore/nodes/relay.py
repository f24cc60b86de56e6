"""Relay: a sample whose load runs on another node than the system (BestConfig's B09).

Two jobs of one id. The system's job starts the system, writes `ready` and waits; then the load's job runs on the load
node; then its figures are put into the system's job, which stops the system and ends as any other. What has been done
is told by files on the two nodes alone, so whoever looks next goes on where the last one was killed.

| file in the job's directory | where | says |
|---|---|---|
| `ready` | system | the system answers |
| `spec.json`, `result.json` | load | the load was started; it has ended |
| `load.json` | system | how the load ended, as a step; the figures lie beside it |
"""

import dataclasses
import json

from albacore.benchmark import Workload
from albacore.nodes import Node, job
from albacore.nodes.blame import find
from albacore.nodes.job import JobOutcome
from albacore.nodes.job_spec import JobSpec
from albacore.sample import BLAME_OF_EXIT_CODE, Blame

FIGURES = ("metrics.json", "notes.json")
LOST = next(code for code, blame in BLAME_OF_EXIT_CODE.items() if blame is Blame.LOAD)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """A system's node, the node that loads it, and the workload.

    Attributes:
        target: `host` and `port` at which the load node reaches the system.
    """

    system: Node
    load: Node
    workload: Workload
    target: tuple[str, int]

    def advance(self, job_id: str) -> None:
        """Take the next step that is due, if one is; cheap while nothing is.

        Raises:
            NodeError: When one of the two nodes cannot be reached.
        """
        place = f"jobs/{job_id}"
        if self.system.get(f"{place}/ready") is None or self.system.get(f"{place}/load.json") is not None:
            return
        if self.load.get(f"{place}/spec.json") is None:
            job.start(self.load, self._spec(json.loads(self.system.get(f"{place}/spec.json") or b"{}")))
        elif self.load.get(f"{place}/result.json") is not None:
            self._hand_over(place, job.outcome(self.load, job_id))

    def renew(self, job_id: str) -> None:
        """Begin the lease of the load's job anew; of one that is lost its system's job is told."""
        place = f"jobs/{job_id}"
        if self.load.get(f"{place}/spec.json") is None or self.system.get(f"{place}/load.json") is not None:
            return
        if job.renew(self.load, job_id).state in ("lost", "unknown"):
            job.kill(self.load, job_id)

    def end(self, job_id: str) -> None:
        """End the load's job if it still runs, and remove it."""
        job.kill(self.load, job_id)
        job.forget(self.load, job_id)

    def _spec(self, system: dict) -> JobSpec:
        """Return the load's half of a system's job."""
        known = {field.name for field in dataclasses.fields(JobSpec)}
        told = {name: value for name, value in system.items() if name in known}
        mine = {"verbs": ("run",), "canary": None, "waits_for_load": False, "target": self.target}
        return JobSpec(**{**told, **mine})

    def _hand_over(self, place: str, outcome: JobOutcome) -> None:
        """Put figures and step into the system's job, the step last."""
        run = next((step for step in outcome.steps if step.verb == "run"), None)
        found = find(outcome, self.workload)
        step = {"rc": LOST, "wall_s": 0.0, "timed_out": False, "stderr_tail": found.message if found else ""}
        if run is not None and not (outcome.lost or outcome.was_killed or outcome.digest != self.workload.digest):
            step = dataclasses.asdict(run)
            for name, content in zip(FIGURES, (outcome.metrics, outcome.notes), strict=True):
                if content is not None:
                    self.system.put(f"{place}/{name}", json.dumps(content).encode())
        self.system.put(f"{place}/load.json", json.dumps({**step, "verb": "run"}).encode())
