"""Triggers: what waits while no worker does. Their state is names only, so any triggerer can go on with them."""

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from albacore.errors import AlbacoreError, FailureError, PlatformError
from albacore_airflow import lanes, renting, retuning, settings
from albacore_airflow.measuring import Measurement
from albacore_airflow.slots import Running, Slot

LEASE_LOOK_S = 0.5
RESULT_LOOK_S = 1.0
LANES_LOOK_S = 2.0
TURN_LOOK_S = 10.0
MACHINES_LOOK_S = 5.0


class LeaseTrigger(BaseTrigger):
    """Wait until a slot's node is leased to it, and start its job: the node need not wait for the task to come back.

    The event carries nothing: the task takes the lease it holds and finds the job that runs.
    """

    def __init__(self, slot: dict[str, Any]) -> None:
        super().__init__()
        self.slot = slot

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how another triggerer makes this trigger again."""
        return "albacore_airflow.triggers.LeaseTrigger", {"slot": self.slot}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look for a free node until there is one."""
        measurement = await asyncio.to_thread(Measurement, Slot.of(self.slot))
        while (grant := await asyncio.to_thread(measurement.take)) is None:
            await asyncio.sleep(LEASE_LOOK_S)
        with contextlib.suppress(FailureError):  # the task meets it again, and knows whom to blame
            await asyncio.to_thread(measurement.start, grant)
        yield TriggerEvent({"leased": True})


class ResultTrigger(BaseTrigger):
    """Wait until a job has a result or is lost, renewing its lease; write it down, so that the node is free at once."""

    def __init__(self, slot: dict[str, Any], running: dict[str, Any]) -> None:
        super().__init__()
        self.slot = slot
        self.running = running

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how another triggerer makes this trigger again."""
        return "albacore_airflow.triggers.ResultTrigger", {"slot": self.slot, "running": self.running}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look for the result; ask the agent and renew the lease now and then."""
        measurement = await asyncio.to_thread(Measurement, Slot.of(self.slot))
        running = Running(**self.running)
        ask_at, renew_at = time.monotonic() + measurement.ask_s, time.monotonic() + measurement.renew_s
        with contextlib.suppress(FailureError):  # the task meets it again, and knows whom to blame
            while not await asyncio.to_thread(measurement.is_over, running):
                now = time.monotonic()
                if now >= renew_at:
                    await asyncio.to_thread(measurement.renew)
                    renew_at = now + measurement.renew_s
                if now >= ask_at:
                    if not await asyncio.to_thread(measurement.is_alive, running):
                        break
                    ask_at = now + measurement.ask_s
                await asyncio.sleep(RESULT_LOOK_S)
            await asyncio.to_thread(measurement.record, running)
        yield TriggerEvent({"running": dataclasses.asdict(running)})


class LanesTrigger(BaseTrigger):
    """Watch a campaign run: renew its lease, wake the task when all lanes have ended, and at times to count them."""

    def __init__(self, run_id: str, check_s: float) -> None:
        super().__init__()
        self.run_id = run_id
        self.check_s = check_s

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how another triggerer makes this trigger again."""
        return "albacore_airflow.triggers.LanesTrigger", {"run_id": self.run_id, "check_s": self.check_s}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Renew, look, sleep."""
        check_at = time.monotonic() + self.check_s
        while time.monotonic() < check_at:
            await asyncio.to_thread(
                settings.run_leases().take_resource, settings.run_resource(self.run_id), self.run_id
            )
            if await asyncio.to_thread(lanes.all_ended, self.run_id):
                break
            await asyncio.sleep(LANES_LOOK_S)
        yield TriggerEvent({"run_id": self.run_id})


class TurnTrigger(BaseTrigger):
    """Wait until a past run may be measured again: nothing else of the campaign goes on."""

    def __init__(self, campaign: str, owner: str) -> None:
        super().__init__()
        self.campaign = campaign
        self.owner = owner

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how another triggerer makes this trigger again."""
        return "albacore_airflow.triggers.TurnTrigger", {"campaign": self.campaign, "owner": self.owner}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look for the turn until it is there."""
        while not await asyncio.to_thread(retuning.take_turn, self.campaign, self.owner):
            await asyncio.sleep(TURN_LOOK_S)
        yield TriggerEvent({"turn": True})


class ThereTrigger(BaseTrigger):
    """Wait until the machines of a run are there, or one of them cannot be had; the task looks again which."""

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how another triggerer makes this trigger again."""
        return "albacore_airflow.triggers.ThereTrigger", {"run_id": self.run_id}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look until there is nothing to wait for; of what cannot be asked the task is to judge."""
        while not await asyncio.to_thread(self._is_settled):
            await asyncio.sleep(MACHINES_LOOK_S)
        yield TriggerEvent({"run_id": self.run_id})

    def _is_settled(self) -> bool:
        try:
            return renting.progress(self.run_id).is_settled
        except PlatformError:
            return False
        except AlbacoreError:
            return True


class GoneTrigger(BaseTrigger):
    """Wait until machines of a run are gone with all that is theirs, deleting again what did not go."""

    def __init__(self, run_id: str, nodes: list[str] | None) -> None:
        super().__init__()
        self.run_id = run_id
        self.nodes = nodes

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how another triggerer makes this trigger again."""
        return "albacore_airflow.triggers.GoneTrigger", {"run_id": self.run_id, "nodes": self.nodes}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Sweep until nothing is left; of what may not be deleted the task is to judge."""
        while not await asyncio.to_thread(self._is_gone):
            await asyncio.sleep(MACHINES_LOOK_S)
        yield TriggerEvent({"run_id": self.run_id})

    def _is_gone(self) -> bool:
        try:
            return not renting.sweep(self.run_id, self.nodes)
        except PlatformError:
            return False
        except AlbacoreError:
            return True
