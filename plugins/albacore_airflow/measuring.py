"""One slot of a trial, from the lease to the recorded Sample or Failure.

Everything here may be done again by another process: taking the lease one holds, starting the job that runs,
recording what is recorded are no-ops. So a killed worker costs nothing: its retry goes on where the job is.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable

from albacore import recorded
from albacore.errors import NodeError, PlatformError
from albacore.nightly import admission
from albacore.nodes import Node, job
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job import JobSpec
from albacore.nodes.relay import Relay
from albacore.sample import Blame, Failure, Sample
from albacore.store import CampaignRun
from albacore.store.leases import Grant, Leases, Want
from albacore_airflow import fitness, renting, settings
from albacore_airflow.slots import Running, Slot

ATTEMPTS = 3
"""Times that one slot may fail before its task does; a later ask for it has them anew."""
LOOK_S = 0.2
"""Between two looks at a lease or at a result."""
ASK_AGENT_S = 10.0
"""Between two questions to a node's agent whether the job still lives."""
RENEW_S = 60.0


class Measurement:
    """Work on one slot with the store and the nodes of this process."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.run: CampaignRun = settings.store().run(slot.run)
        self.log = settings.run_log(slot.run)
        self.leases = Leases(settings.store(), lease_s=recorded.campaign(self.run).nodes.lease_s)
        self.records = {record.name: record for record in settings.store().nodes(slot.run)}
        self.host_slots = settings.host_slots(self.run)

    def answer(self) -> Sample | Failure | None:
        """Return what the slot ended in, if it has: a sample, or the config's own failure."""
        for fact in self._facts():
            if isinstance(fact, Sample) or fact.blame is Blame.CONFIG:
                return fact
        return None

    def attempt(self) -> int:
        """Return the number of the next attempt: the failures so far."""
        return sum(isinstance(fact, Failure) for fact in self._facts())

    def exhausted(self) -> str | None:
        """Return why no further attempt is made, or None."""
        failures = [fact for fact in self._facts() if isinstance(fact, Failure)]
        if len(failures) - self.slot.failed < ATTEMPTS:
            return None
        last = failures[-1]
        return f"slot {self.slot.key}: {ATTEMPTS} attempts failed; the last on {last.node}: {last.message}"

    def take(self) -> Grant | None:
        """Lease a node that this slot has not failed on, and a slot of its host; None while there is none."""
        names = self._candidates()
        return self.leases.take(
            Want(
                run_id=self.slot.run,
                slot=self.slot.key,
                config_id=self.slot.config,
                purpose=self.slot.purpose,
                repeat=self.slot.repeat,
                nodes=[(name, self.records[name].host) for name in names],
                host_slots=self.host_slots,
            )
        )

    def _candidates(self) -> list[str]:
        """Return the nodes that the slot may wait for: those it has not failed on, else those it has.

        A node that another slot of the config was measured on is never free for this one: waiting for it would not end.
        """
        failed = {fact.node for fact in self._facts() if isinstance(fact, Failure)}
        if not failed:
            return list(self.slot.nodes)
        mine = self.slot
        samples = [s for s in self.log.read().recorded(Sample) if s.config_id == mine.config]
        taken = {
            s.node for s in samples if s.purpose is mine.purpose and s.slot != mine.slot and s.repeat == mine.repeat
        }
        open_nodes = [name for name in self.slot.nodes if name not in taken]
        return [name for name in open_nodes if name not in failed] or open_nodes

    def start(self, grant: Grant) -> Running:
        """Start the slot's job on the leased node; one that was started is found again."""
        attempt = self.attempt()
        config = recorded.configs(settings.store(), self.run)[self.slot.config]
        spec = JobSpec.sample(
            recorded.workload(self.run),
            self.slot.job_id(attempt),
            recorded.space(self.run).text(config),
            params=recorded.campaign(self.run).params,
            epoch=grant.epoch,
        )
        spec = dataclasses.replace(
            spec,
            lease_s=self.leases.lease_s,
            canary=self._bounds(grant.node),
            waits_for_load=self.relay(grant.node) is not None,
        )
        job.start(self.node(grant.node), spec)
        return Running(
            node=grant.node, host=grant.host, epoch=grant.epoch, attempt=attempt, started_at=settings.store().clock()
        )

    def _bounds(self, node: str) -> dict[str, dict[str, float]] | None:
        """Return what the node's canary may be at most before the sample; None where none sings."""
        if not settings.has_canary(self.run, self.records[node]):
            return None
        return fitness.bounds(self.run, self.log, node)

    def is_over(self, running: Running) -> bool:
        """Whether the job has left a result; where the load is another node's, its next step is taken."""
        job_id, relay = self.slot.job_id(running.attempt), self.relay(running.node)
        is_over = self.node(running.node).get(f"jobs/{job_id}/result.json") is not None
        if not is_over and relay is not None:
            relay.advance(job_id)
        return is_over

    def is_alive(self, running: Running) -> bool:
        """Whether the job's agent says that it still runs; renews the job's lease on its node."""
        job_id, relay = self.slot.job_id(running.attempt), self.relay(running.node)
        if relay is not None:
            relay.renew(job_id)
        return not job.renew(self.node(running.node), job_id).is_over

    def known(self, running: Running) -> Sample | Failure | None:
        """Return what an attempt was recorded to have ended in; None while it goes on."""
        facts = self._facts()
        return facts[running.attempt] if len(facts) > running.attempt else None

    def relay(self, node: str) -> Relay | None:
        """Return what takes samples with the load of another node; None when it runs beside the system."""
        return settings.relay(self.run, self.records[node])

    def record(self, running: Running) -> Sample | Failure:
        """Write down what the job ended in and give the lease back; once, whoever of trigger and task comes first.

        A job that was lost is ended with all it started; the node is to blame.
        """
        if (known := self.known(running)) is not None:
            self.leases.release(self.slot.key)
            return known
        node, job_id = self.node(running.node), self.slot.job_id(running.attempt)
        status = job.poll(node, job_id)
        if status.state != "done":
            job.kill(node, job_id)
        if (relay := self.relay(running.node)) is not None:
            with contextlib.suppress(NodeError):  # what it still runs ends with its lease, or before its next job
                relay.end(job_id)
        placement = Placement.on(
            node,
            config_id=self.slot.config,
            purpose=self.slot.purpose,
            repeat=self.slot.repeat,
            started_at=running.started_at,
            is_burstable=bool(self.records[running.node].facts.get("burstable")),
        )
        fact = sample_or_failure(job.outcome(node, job_id), recorded.workload(self.run), placement)
        fact = dataclasses.replace(fact, slot=self.slot.slot)
        self._append(fact, running.attempt)
        self.leases.release(self.slot.key)
        if isinstance(fact, Sample):
            job.forget(node, job_id)
        return fact

    def blame_node(self, where: Grant | Running, error: NodeError) -> Failure:
        """Write down that a node could not be asked, and give the lease back."""
        failure = Failure(
            config_id=self.slot.config,
            node=where.node,
            host=where.host,
            purpose=self.slot.purpose,
            slot=self.slot.slot,
            repeat=self.slot.repeat,
            blame=Blame.NODE,
            message=error.message + renting.why_lost(self.slot.run, where.node),
            started_at=settings.store().clock(),
        )
        self._append(failure, self.attempt())
        self.leases.release(self.slot.key)
        return failure

    def renew(self) -> bool:
        """Renew the slot's leases and the campaign's lock; False when the former are gone."""
        admission.renew(settings.store(), self.slot.run)
        return self.leases.renew(self.slot.key)

    @property
    def renew_s(self) -> float:
        """Seconds between two renewals in the store."""
        return min(RENEW_S, self.leases.lease_s / 3)

    @property
    def ask_s(self) -> float:
        """Seconds between two questions to the node's agent, which renew the job's lease there."""
        return min(ASK_AGENT_S, self.leases.lease_s / 3)

    def node(self, name: str) -> Node:
        """Return a node of the run's fleet."""
        return settings.node(self.run, self.records[name])

    def wait_for_lease(self, until: float, clock: Callable[[], float] = time.monotonic) -> Grant | None:
        """Look for a lease again and again; None when `until` has come."""
        while (grant := self.take()) is None and clock() < until:
            time.sleep(LOOK_S)
        return grant

    def wait_for_result(self, running: Running, until: float, clock: Callable[[], float] = time.monotonic) -> bool:
        """Look for the result again and again, renewing the lease; False when `until` has come and the job runs on."""
        renew_at, ask_at = clock() + self.renew_s, clock() + self.ask_s
        if self.known(running) is not None:  # the trigger that saw it has written it down
            return True
        while not self.is_over(running):
            now = clock()
            if now >= until:
                return False
            if now >= renew_at:
                self.renew()
                renew_at = now + self.renew_s
            if now >= ask_at:
                if not self.is_alive(running):
                    return True
                ask_at = now + self.ask_s
            time.sleep(LOOK_S)
        return True

    def _facts(self) -> list[Sample | Failure]:
        return self.log.slot_facts(self.slot.config, self.slot.purpose, self.slot.slot, self.slot.repeat)

    def _append(self, fact: Sample | Failure, attempt: int) -> None:
        if isinstance(fact, Sample):
            self.log.append_sample(fact)
        elif isinstance(fact, Failure):
            if fact.blame is not Blame.CONFIG:
                # Before the failure is known: two slots that failed on each other's next node would wait for ever.
                self.leases.forsake(self.slot.run, self.slot.key)
            self.log.append_failure(fact, attempt=attempt)
        else:
            raise PlatformError(f"slot {self.slot.key}: expected a Sample or a Failure, got {type(fact).__name__}.")
