"""`albacore smoke`: try a campaign's cloud with one machine of its own. It costs money."""

import argparse
import os
import time
from pathlib import Path
from typing import Any

from albacore.errors import UserError

ENDPOINT = "ALBACORE_ARM_ENDPOINT"
"""Puts a server on this machine in Azure's place."""


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    smoke = commands.add_parser("smoke", help="make, reach and delete one machine of a campaign on Azure; costs money")
    smoke.add_argument("campaign", type=Path, help="a campaign file with [nodes.azure]")
    smoke.set_defaults(command=_smoke)


def _smoke(arguments: argparse.Namespace) -> int:
    from albacore import campaign
    from albacore.checking import key_of_connection
    from albacore.clouds.azure import client, prices
    from albacore.clouds.azure.cloud import LOOK_S, AzureCloud
    from albacore.clouds.azure.smoke import smoke
    from albacore.clouds.azure.tag import Claim

    chosen, folder = campaign.read(arguments.campaign), arguments.campaign.absolute().parent
    order = chosen.nodes.azure
    if order is None:
        raise UserError(f"smoke: expected a campaign with [nodes.azure], {arguments.campaign} has none. Add it.")
    endpoint, now = os.environ.get(ENDPOINT), time.time()
    connected = (
        client.of_loopback(endpoint, order.subscription)
        if endpoint
        else client.of_default_credential(order.subscription)
    )
    run = time.strftime(f"smoke-{chosen.name}-%Y%m%dt%H%M%S", time.gmtime(now))
    cloud = AzureCloud(
        order=order,
        claim=Claim(owner=order.owner, campaign=chosen.name, run=run, expires=now + 3600),
        client=lambda: connected,
        secret=key_of_connection,
        folder=folder,
        look_s=0.05 if endpoint else LOOK_S,
    )
    for line in smoke(cloud, prices.read(folder / order.prices, order)):
        print(line, flush=True)
    return 0
