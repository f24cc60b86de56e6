"""Slots: which sample a benchmark task is to take, and the job that takes it; both go from task to trigger and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from albacore.sample import Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Which sample: the campaign run, the config, why, and the nodes it may be taken on in order of preference.

    Attributes:
        failed: Attempts of earlier asks that failed.
    """

    run: str
    config: str
    purpose: Purpose
    slot: int
    repeat: int
    nodes: tuple[str, ...]
    failed: int = 0

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Slot":
        """Return the slot that XCom carries."""
        return cls(**{**data, "purpose": Purpose(data["purpose"]), "nodes": tuple(data["nodes"])})

    @property
    def key(self) -> str:
        """Owner of its leases: the same for every task that ever works on it.

        A slot that is asked for anew, after its sample was taken away, is another one; slots of the validation are
        numbered over all repeats.
        """
        again = f"/r{self.repeat}" if self.repeat and self.purpose is not Purpose.VALIDATE else ""
        return f"{self.run}/{self.config}/{self.purpose}/{self.slot}{again}"

    def job_id(self, attempt: int) -> str:
        """Id of the job that an attempt is."""
        return job_id(self.key, attempt)


def job_id(key: str, attempt: int) -> str:
    """Return the id of the job of a slot's attempt; legal on every node."""
    return f"{key}/{attempt}".replace("/", "-").replace("_", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A job that was started: what a retry or a trigger needs to find it again."""

    node: str
    host: str
    epoch: int
    attempt: int
    started_at: float
