"""Tags: whose a machine is, for which run, and until when; nothing is adopted or deleted without asking them."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

OWNER, CAMPAIGN, RUN = "albacore-owner", "albacore-campaign", "albacore-run"
DAG_RUN, EXPIRES, NODE = "albacore-dag-run", "albacore-expires", "albacore-node"
PARTS = ("-nic", "-os", "-data", "-ip")
"""What belongs to a machine is called after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Which run of which campaign a machine is for.

    Attributes:
        run: The campaign run's id.
        dag_run: The DAG run that works on it, as Airflow calls it; "" outside Airflow.
        expires: Seconds since the epoch after which nobody should need it.
    """

    owner: str
    campaign: str
    run: str
    dag_run: str = ""
    expires: float

    def tags(self, name: str) -> dict[str, str]:
        """Return the tags of a machine and of everything that belongs to it."""
        return {
            OWNER: self.owner,
            CAMPAIGN: self.campaign,
            RUN: self.run,
            DAG_RUN: self.dag_run[:256],
            EXPIRES: f"{self.expires:.0f}",
            NODE: name,
        }

    def owns(self, tags: Mapping[str, str] | None) -> bool:
        """Whether these are the tags of something of this run."""
        found = tags or {}
        return found.get(OWNER) == self.owner and found.get(RUN) == self.run


def node_names(run: str, count: int) -> list[str]:
    """Return the names of a run's machines: legal in Azure and as nodes, and no other run's."""
    return [f"{stem_of(run)}-{i + 1}" for i in range(count)]


def stem_of(run: str) -> str:
    """Return what the names of all machines of a run begin with."""
    start = re.sub(r"[^a-z0-9]+", "-", run)[:8].strip("-")
    return f"{start}-{hashlib.sha256(run.encode()).hexdigest()[:8]}"


def node_of_part(name: str) -> str:
    """Return the name of the machine that a disk, an interface or an address is called after."""
    return re.sub(rf"({'|'.join(PARTS)})$", "", name)


def index_of(name: str) -> int:
    """Return which of its run's machines a name stands for, from 0."""
    return int(name.rsplit("-", 1)[1]) - 1


def expiry(tags: Mapping[str, str]) -> float | None:
    """Return until when something was wanted, seconds since the epoch; None when that cannot be read."""
    try:
        found = float(tags[EXPIRES])
    except (KeyError, ValueError):
        return None
    return found if math.isfinite(found) else None
