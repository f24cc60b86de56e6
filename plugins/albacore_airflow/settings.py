"""The composition root: which store, which cloud, which optimizer, for the process at hand."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from albacore import recorded
from albacore.campaign import Campaign
from albacore.clouds import Cloud
from albacore.clouds.local import LocalCloud
from albacore.nodes import Node
from albacore.optimizers import Optimizer
from albacore.replay import Scene
from albacore.store import CampaignRun, NodeRecord, Store, address
from albacore.store.leases import Leases
from albacore.store.leases import run_resource as run_resource
from albacore.store.run_log import RunLog

STORE_CONNECTION = "albacore_store"
RUN_LEASE_S = 180.0
"""A campaign run whose watcher has been gone this long is over: its lanes end."""


def home() -> Path:
    """Return AIRFLOW_HOME, the clone."""
    return Path(os.environ["AIRFLOW_HOME"]).absolute()


def campaigns_dir() -> Path:
    """Return where campaign files are; ALBACORE_CAMPAIGNS moves it."""
    return Path(os.environ.get("ALBACORE_CAMPAIGNS") or home() / "include" / "campaigns")


def histories_dir() -> Path:
    """Return where the files of histories are; ALBACORE_HISTORIES moves it."""
    return Path(os.environ.get("ALBACORE_HISTORIES") or home() / "include" / "histories")


def benchmarks_dir() -> Path:
    """Return where benchmark folders are; ALBACORE_BENCHMARKS moves it."""
    return Path(os.environ.get("ALBACORE_BENCHMARKS") or home() / "include" / "benchmarks")


def store_url() -> str:
    """Return the store's URL: the Airflow connection `albacore_store`, else a file in AIRFLOW_HOME."""
    if os.environ.get(address.CONNECTION):
        return address.find(os.environ)
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

    try:
        connection = BaseHook.get_connection(STORE_CONNECTION)
    except (AirflowNotFoundException, AirflowRuntimeError):
        return address.find(os.environ)
    return address.of_parts(
        connection.conn_type or "",
        host=connection.host or "",
        login=connection.login,
        password=connection.password,
        port=connection.port,
        schema=connection.schema,
    )


@cache
def store() -> Store:
    """Return the store of this process."""
    return Store(store_url())


def run_log(run_id: str) -> RunLog:
    """Return the log of a campaign run."""
    return RunLog(store(), run_id)


def leases() -> Leases:
    """Return the leases of nodes and host slots."""
    return Leases(store())


def run_leases() -> Leases:
    """Return the leases of campaign runs, which end sooner."""
    return Leases(store(), lease_s=RUN_LEASE_S)


def scene(run_id: str, *, until: int | None = None, telemetry: bool = False) -> Scene:
    """Return a campaign run as the decisions see it: see `albacore.recorded.scene`."""
    return recorded.scene(store(), store().run(run_id), until=until, telemetry=telemetry)


def optimizer(chosen: Campaign) -> Optimizer:
    """Return the campaign's optimizer."""
    return chosen.optimizer_of()


def cloud(kind: str) -> Cloud:
    """Return the cloud that a campaign names."""
    kinds: dict[str, Any] = {"local": LocalCloud}
    return kinds[kind](home=home())


def node(run: CampaignRun, record: NodeRecord) -> Node:
    """Return a node of a run's fleet."""
    return cloud(recorded.campaign(run).nodes.cloud).find(record.name, record.address)


def host_slots(run: CampaignRun) -> int:
    """Return how many samples, suggestions and fits may run on one host at once."""
    return slots_of(recorded.campaign(run))


def slots_of(chosen: Campaign) -> int:
    """Return a campaign's slots per host: what it says, else one per two cores of this machine."""
    return chosen.nodes.slots or max(1, (os.cpu_count() or 2) // 2)
