"""Azure, authenticated by an Airflow connection: the only place where both are known.

Imported when a campaign's nodes are on Azure and not before: it loads the SDK.
"""

from functools import cache
from typing import Any

from airflow.providers.microsoft.azure.hooks.compute import AzureComputeHook

from albacore.clouds.azure import client
from albacore.clouds.azure.cloud import AzureCloud
from albacore.clouds.azure.order import AzureOrder
from albacore.clouds.azure.tag import Claim
from albacore.errors import UserError
from albacore_airflow import settings


class AlbacoreAzureHook(AzureComputeHook):
    """The provider's hook; `arm_endpoint` in the connection's extra puts a server on this machine in Azure's place."""

    def get_conn(self) -> Any:
        """Return the client that the connection authenticates.

        Raises:
            UserError: When `arm_endpoint` is another machine, or the connection names no subscription.
        """
        extra = self.get_connection(self.conn_id).extra_dejson
        subscription = extra.get("subscriptionId")
        if not subscription:
            raise UserError(f"connection {self.conn_id!r}: expected 'subscriptionId' in its extra. Add it there.")
        if endpoint := extra.get("arm_endpoint"):
            return client.of_loopback(str(endpoint), str(subscription))
        client.quiet()
        return super().get_conn()


def cloud(order: AzureOrder, run: str, *, dag_run: str = "", opened_at: float = 0.0) -> AzureCloud:
    """Return the cloud of a campaign run; Azure is asked nothing yet."""
    claim = Claim(
        owner=order.owner,
        campaign=run.rsplit("-", 2)[0],
        run=run,
        dag_run=dag_run,
        expires=opened_at + order.max_hours * 3600,
    )
    return AzureCloud(
        order=order,
        claim=claim,
        client=cache(lambda: connected(order.connection)),
        secret=settings.private_key,
        folder=settings.campaigns_dir(),
    )


def connected(connection_id: str) -> Any:
    """Return the client of an Airflow connection.

    Raises:
        UserError: When there is no such connection.
    """
    from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

    try:
        return AlbacoreAzureHook(connection_id).get_conn()
    except (AirflowNotFoundException, AirflowRuntimeError) as error:
        raise UserError(f"connection {connection_id!r}: there is none. Add it in Airflow under Admin.") from error
