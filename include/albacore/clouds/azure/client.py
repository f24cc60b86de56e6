"""Client: the SDK's client, from a credential or for a server on this machine, and its errors in our words."""

import ipaddress
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from albacore.clouds.azure import fault
from albacore.errors import UserError

if TYPE_CHECKING:
    from azure.mgmt.compute import ComputeManagementClient

RESOURCES_API, NETWORK_API = "2021-04-01", "2024-05-01"
"""Versions of what is asked beside machines and disks: resources by tag, and addresses."""
ANSWER_S = 60


def of_credential(credential: Any, subscription: str) -> "ComputeManagementClient":
    """Return a client of the public cloud."""
    from azure.mgmt.compute import ComputeManagementClient

    quiet()
    return ComputeManagementClient(credential, subscription)


def of_default_credential(subscription: str) -> "ComputeManagementClient":
    """Return a client for whoever is logged in here: environment, managed identity, `az login`."""
    from azure.identity import DefaultAzureCredential

    return of_credential(DefaultAzureCredential(), subscription)


def of_loopback(endpoint: str, subscription: str) -> "ComputeManagementClient":
    """Return a client of a server on this machine, to which no credential is ever sent.

    Raises:
        UserError: When the endpoint is anywhere else: whoever can set it could have tokens sent there.
    """
    from azure.core.credentials import AccessToken
    from azure.core.pipeline.policies import SansIOHTTPPolicy
    from azure.mgmt.compute import ComputeManagementClient

    class NoCredential:
        def get_token(self, *scopes: str, **_: Any) -> AccessToken:
            return AccessToken("none", 2**40)

    class Unsigned(SansIOHTTPPolicy[Any, Any]):
        """Replaces the policy that refuses to sign what is not encrypted."""

    if not is_loopback(endpoint):
        raise UserError(f"arm_endpoint: expected http://127.0.0.1:PORT or another loopback address, got {endpoint!r}.")
    quiet()
    return ComputeManagementClient(
        NoCredential(),
        subscription,
        base_url=endpoint,
        credential_scopes=[f"{endpoint}/.default"],
        authentication_policy=Unsigned(),
        polling_interval=0.1,
        retry_backoff_factor=0.05,
    )


def is_loopback(endpoint: str) -> bool:
    """Whether an address is plain HTTP to this very machine."""
    parts = urlsplit(endpoint)
    try:
        return parts.scheme == "http" and ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def quiet() -> None:
    """Keep the SDK from writing ten lines about each request."""
    logging.getLogger("azure").setLevel(logging.WARNING)


@contextmanager
def told(where: str) -> Iterator[None]:
    """Raise what the SDK raises inside as an error that says who has to act.

    Args:
        where: What is tried, on which machine.
    """
    from azure.core.exceptions import AzureError

    try:
        yield
    except AzureError as error:
        raise fault.of_error(error).error(where) from error


def get(
    found: "ComputeManagementClient", path: str, version: str, query: Mapping[str, str] | None = None
) -> Mapping[str, Any] | None:
    """Return a resource of any provider by its id, or None when there is none."""
    answer = _send(found, "GET", path, version, query or {})
    return None if answer.status_code == 404 else answer.json()


def delete(found: "ComputeManagementClient", path: str, version: str) -> None:
    """Have a resource of any provider deleted; none is as good."""
    _send(found, "DELETE", path, version, {})


def listed(
    found: "ComputeManagementClient", path: str, version: str, query: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the elements of a list, page after page."""
    page = get(found, path, version, query)
    while page is not None:
        yield from page["value"]
        following = page.get("nextLink")
        page = _send(found, "GET", following, "", {}).json() if following else None


def _send(found: "ComputeManagementClient", method: str, path: str, version: str, query: Mapping[str, str]) -> Any:
    """Send one request through the client's own pipeline: signed, and tried again when it is throttled."""
    from azure.core.rest import HttpRequest

    parameters = {**query, "api-version": version} if version else None
    answer = found.send_request(HttpRequest(method, path, params=parameters), timeout=ANSWER_S)
    if answer.status_code != 404:
        answer.raise_for_status()
    return answer
