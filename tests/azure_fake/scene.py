"""A campaign's order of small machines, and the cloud of one run, on a fake service."""

import getpass
import json
from pathlib import Path
from typing import Any

from azure_fake.arm import FakeArm
from azure_fake.group import GROUP, SUBSCRIPTION
from node_python import PYTHON
from nodes import sshd

from albacore.clouds.azure import client
from albacore.clouds.azure.cloud import AzureCloud
from albacore.clouds.azure.order import AzureOrder
from albacore.clouds.azure.tag import Claim

NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/lab/subnets/nodes"
ORDER: dict[str, Any] = {
    "owner": "lab-airflow",
    "resource_group": "lab",
    "location": "eastus",
    "zone": "1",
    "size": "Standard_D4s_v5",
    "image": "Canonical:ubuntu-24_04-lts:server:24.04.202511010",
    "subnet": NETWORK,
    "key_connection": "lab_ssh",
    "python": PYTHON,
    "prices": "../prices.toml",
    "max_nodes": 5,
    "max_hours": 2.0,
    "max_cost": 10.0,
}
PRICES = """
date = 2026-11-01
currency = "USD"

[eastus.sizes]
Standard_D4s_v5 = 0.20

[eastus.spot]
Standard_D4s_v5 = 0.04

[eastus.disks]
Premium_LRS = 0.146
"""
RUN = "demo-20261121t174225-ab12"


def order(**changed: Any) -> AzureOrder:
    """Return an order; what is None is left out."""
    plain = {"user": getpass.getuser(), **ORDER, **changed}
    return AzureOrder.model_validate({key: value for key, value in plain.items() if value is not None})


def nodes_table(tuning: int = 3, validation: int = 1, **changed: Any) -> str:
    """Return the table [nodes] of a campaign file, in one line; without canaries, as all machines are one."""
    fleet = f"tuning = {tuning}, validation = {validation}, canary = false"
    own = {**order().model_dump(mode="json", exclude_none=True), **changed}
    lines = ", ".join(f"{key} = {json.dumps(value)}" for key, value in own.items() if not isinstance(value, dict))
    return f'{{ cloud = "azure", {fleet}, azure = {{ {lines} }} }}'


def user_key(folder: Path) -> str:
    """Return the text of a private SSH key."""
    path = folder / "user"
    return (path if path.exists() else sshd.make_key(path)).read_text()


def cloud(arm: FakeArm, key: str, *, run: str = RUN, owner: str = "lab-airflow", **changed: Any) -> AzureCloud:
    """Return the cloud of a run, driven by the real SDK."""
    found = client.of_loopback(arm.url, SUBSCRIPTION)
    return AzureCloud(
        order=order(**changed),
        claim=Claim(owner=owner, campaign="demo", run=run, dag_run="manual__1", expires=2e9),
        client=lambda: found,
        secret=lambda _: key,
        look_s=0.02,
    )
