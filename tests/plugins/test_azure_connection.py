"""Azure by an Airflow connection: the provider's hook authenticates, and no credential goes anywhere else."""

import pytest
from azure_fake.group import SUBSCRIPTION
from rented_runs import connection

from albacore.errors import UserError
from albacore_airflow import azure_connection

PRINCIPAL = {"tenantId": "00000000-0000-0000-0000-00000000000a", "subscriptionId": SUBSCRIPTION}


def test_a_connection_without_a_server_of_its_own_is_the_public_cloud(monkeypatch):
    """Without a stored secret, whoever Airflow is: a managed or workload identity. Nothing is sent yet."""
    connection(monkeypatch, "azure_default", "azure_compute", {"subscriptionId": SUBSCRIPTION})

    client = azure_connection.connected("azure_default")

    assert client._config.base_url.rstrip("/") == "https://management.azure.com"
    assert client._config.subscription_id == SUBSCRIPTION
    assert type(client._config.credential).__name__ == "DefaultAzureCredential"


def test_a_connection_needs_its_subscription(monkeypatch):
    """The error names the connection and the key."""
    connection(monkeypatch, "azure_default", "azure_compute", {"tenantId": "t"})
    with pytest.raises(UserError, match="'subscriptionId'"):
        azure_connection.connected("azure_default")


@pytest.mark.parametrize("endpoint", ["http://10.0.0.1:8080", "https://management.azure.example", "http://localhost"])
def test_a_connection_cannot_send_tokens_elsewhere(monkeypatch, endpoint):
    """Whoever may edit a connection could otherwise collect them."""
    connection(monkeypatch, "azure_default", "azure_compute", {**PRINCIPAL, "arm_endpoint": endpoint})
    with pytest.raises(UserError, match="loopback"):
        azure_connection.connected("azure_default")


def test_a_connection_that_is_not_there_is_said_to_be_missing(monkeypatch, tmp_path):
    """Somebody has to add it."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    with pytest.raises(UserError, match="none_of_ours"):
        azure_connection.connected("none_of_ours")
