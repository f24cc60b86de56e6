"""The composition root: which store, which cloud, which optimizer, for the process at hand."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from albacore import recorded
from albacore.campaign import Campaign, Nodes
from albacore.clouds import Cloud, Rented
from albacore.clouds.local import LocalCloud
from albacore.errors import CampaignError, UserError
from albacore.nodes import Node
from albacore.nodes.relay import Relay
from albacore.optimizers import Optimizer
from albacore.replay import Scene
from albacore.store import CampaignRun, NodeRecord, Store, address
from albacore.store.leases import Leases
from albacore.store.leases import run_resource as run_resource
from albacore.store.run_log import RunLog

STORE_CONNECTION = "albacore_store"
CONTROLLER = "localhost"
"""The host that fits and suggestions run on; local nodes share it."""
RETRY_DELAY_S = 5.0
"""Before a task is tried again."""
RESTART_S = 60.0
"""What a scheduler that was killed may need to come back."""
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


def check_lease(lease_s: float) -> None:
    """Refuse a lease that a killed task could not renew in time: another slot would take its node meanwhile.

    Raises:
        CampaignError: Names what the lease has to exceed.
    """
    from airflow.sdk.configuration import conf

    heartbeat_s = conf.getint("scheduler", "task_instance_heartbeat_timeout")
    if lease_s <= (least_s := heartbeat_s + RETRY_DELAY_S + RESTART_S):
        raise CampaignError(
            f"nodes.lease_s: expected more than {least_s:g} s, got {lease_s:g}: a killed task is seen after "
            f"{heartbeat_s} s ([scheduler] task_instance_heartbeat_timeout), tried again after {RETRY_DELAY_S:g} s and "
            f"may need {RESTART_S:g} s to start. Raise nodes.lease_s, or lower the timeout in airflow.cfg."
        )


def run_leases() -> Leases:
    """Return the leases of campaign runs, which end sooner."""
    return Leases(store(), lease_s=RUN_LEASE_S)


def scene(run_id: str, *, until: int | None = None, telemetry: bool = False) -> Scene:
    """Return a campaign run as the decisions see it: see `albacore.recorded.scene`."""
    return recorded.scene(store(), store().run(run_id), until=until, telemetry=telemetry)


def optimizer(chosen: Campaign) -> Optimizer:
    """Return the campaign's optimizer."""
    return chosen.optimizer_of()


def cloud(nodes: Nodes, run: str = "", *, dag_run: str = "", opened_at: float = 0.0) -> Cloud:
    """Return the cloud that a campaign names.

    Args:
        nodes: The campaign's table [nodes].
        run: The campaign run's id, where nodes are made for it.
        dag_run: The DAG run that works on it, which says whether somebody still needs them.
        opened_at: When the run was opened, seconds since the epoch.
    """
    found: Any = LocalCloud(home=home())  # a cloud speaks of its own kind of nodes only
    if nodes.inventory is not None:
        from albacore.clouds.static import StaticCloud

        found = StaticCloud(path=campaigns_dir() / nodes.inventory, secret=private_key)
    if nodes.azure is not None:
        from albacore_airflow import azure_connection

        found = azure_connection.cloud(nodes.azure, run, dag_run=dag_run, opened_at=opened_at)
    return found


def quoted(chosen: Campaign) -> Nodes:
    """Return a campaign's nodes with what an hour of one costs.

    Raises:
        UserError: When nodes are rented and a price is missing, or a cap does not hold.
    """
    if not chosen.nodes.is_rented:
        return chosen.nodes
    from albacore.clouds.azure import prices

    return prices.quoted(chosen.nodes, hours=chosen.limits.hours, folder=campaigns_dir())


def rented(run: CampaignRun, dag_run: str = "") -> Rented | None:
    """Return the cloud of a run whose nodes are made for it, else None."""
    chosen = recorded.campaign(run).nodes
    found: Any = cloud(chosen, run.id, dag_run=dag_run, opened_at=run.opened_at) if chosen.is_rented else None
    return found


def private_key(connection_id: str) -> str:
    """Return the private key in an Airflow connection's extra; never to be stored, logged or handed on.

    Raises:
        UserError: When there is no such connection, or no key in it.
    """
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

    try:
        extra = BaseHook.get_connection(connection_id).extra_dejson
    except (AirflowNotFoundException, AirflowRuntimeError) as error:
        raise UserError(f"connection {connection_id!r}: there is none. Add it in Airflow under Admin.") from error
    if not isinstance(key := extra.get("private_key"), str):
        raise UserError(f"connection {connection_id!r}: expected 'private_key' in its extra. Add it there.")
    return key


def node(run: CampaignRun, record: NodeRecord) -> Node:
    """Return a node of a run's fleet."""
    return cloud(recorded.campaign(run).nodes, run.id).find(record.name, record.address)


def load_node(run: CampaignRun, record: NodeRecord) -> Node | None:
    """Return the node that loads a system's node; None when the load runs beside the system."""
    other = record.address.get("load")
    return cloud(recorded.campaign(run).nodes).find(other["name"], other) if other else None


def relay(run: CampaignRun, record: NodeRecord) -> Relay | None:
    """Return what takes a system's samples with the load of another node; None when it runs beside the system."""
    other = load_node(run, record)
    if other is None:
        return None
    target = (str(record.address["listen"]), int(record.address["port"]))
    return Relay(system=node(run, record), load=other, workload=recorded.workload(run), target=target)


def has_canary(run: CampaignRun, record: NodeRecord) -> bool:
    """Whether a canary sings on a node before a sample: as the campaign says, else on every machine but this one.

    Nodes of this machine share it with Airflow itself: a busy moment there says nothing of their health.
    """
    chosen = recorded.campaign(run).nodes.canary
    return record.host != CONTROLLER if chosen is None else chosen


def host_slots(run: CampaignRun) -> dict[str, int]:
    """Return host -> how many samples, suggestions and fits may run there at once.

    What the campaign says, else the inventory, else one per two of the host's own cores. The controller is among them,
    also when no node is on it.
    """
    chosen, found = recorded.campaign(run).nodes, dict[str, int]()
    for record in store().nodes(run.id):
        own = chosen.slots or record.address.get("slots") or max(1, int(record.facts.get("cores", 2)) // 2)
        found[record.host] = min(own, found.get(record.host, own))
    found.setdefault(CONTROLLER, _controller_slots())
    return found


def tasks_at_once(chosen: Campaign) -> int:
    """Return how many samples of a campaign may run at once, as far as its file says."""
    if chosen.nodes.cloud != "local":
        return chosen.nodes.tuning + chosen.nodes.validation
    return chosen.nodes.slots or _controller_slots()


def _controller_slots() -> int:
    """Return one slot per two cores of this machine."""
    return max(1, (os.cpu_count() or 2) // 2)
