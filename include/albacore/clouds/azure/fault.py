"""Faults: what the service says went wrong, by its own code, and what to do next.

Neither the HTTP status nor the class of the SDK's exception says it: a quota that is used up, a size that is not
offered and a change that is not allowed are all 409, and an allocation that fails inside a long-running operation
arrives with status 200.
"""

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from albacore.errors import AlbacoreError, NodeError, PlatformError, UserError

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError


class Kind(enum.StrEnum):
    """Name what went wrong; the value is what people read."""

    QUOTA = "quota"
    SKU = "size not offered"
    ALLOCATION = "no capacity"
    CONFLICT = "conflict"
    STALE = "another machine of this name"
    THROTTLING = "throttled"
    EVICTION = "evicted"
    ACCESS = "no permission"
    MISSING = "not there"
    REQUEST = "refused"
    SERVICE = "the service failed"


NEXT = {
    Kind.QUOTA: "Ask for more quota of this family in this region, or take fewer or smaller nodes.",
    Kind.SKU: "Choose another size, zone or region in [nodes.azure]; 'az vm list-skus' lists what is offered.",
    Kind.ALLOCATION: "It is tried again; if that does not help, choose another zone, region or size.",
    Kind.CONFLICT: "Another operation goes on there; it is tried again.",
    Kind.STALE: "It was made by another order and is deleted and made anew.",
    Kind.THROTTLING: "The subscription sends too many requests; it is tried again later.",
    Kind.EVICTION: "The sample goes to another node; 'spot = false' is not evicted.",
    Kind.ACCESS: "Give the identity of the Airflow connection the role in docs/tutorial/07-azure.md.",
    Kind.MISSING: "Check resource_group, subnet and image in [nodes.azure].",
    Kind.REQUEST: "Correct [nodes.azure].",
    Kind.SERVICE: "It is tried again.",
}
TRANSIENT = {Kind.ALLOCATION, Kind.CONFLICT, Kind.STALE, Kind.THROTTLING, Kind.SERVICE}
CODES = {
    "QuotaExceeded": Kind.QUOTA,
    "SkuNotAvailable": Kind.SKU,
    "NotAvailableForSubscription": Kind.SKU,
    "ZoneNotAvailable": Kind.SKU,
    "AvailabilityZoneNotSupported": Kind.SKU,
    "AllocationFailed": Kind.ALLOCATION,
    "ZonalAllocationFailed": Kind.ALLOCATION,
    "OverconstrainedAllocationRequest": Kind.ALLOCATION,
    "OverconstrainedZonalAllocationRequest": Kind.ALLOCATION,
    "Conflict": Kind.CONFLICT,
    "AnotherOperationInProgress": Kind.CONFLICT,
    "OperationPreempted": Kind.CONFLICT,
    "AttachDiskWhileBeingDetached": Kind.CONFLICT,
    "PropertyChangeNotAllowed": Kind.STALE,
    "TooManyRequests": Kind.THROTTLING,
    "OperationPreemptedBySpotEviction": Kind.EVICTION,
    "VMEvicted": Kind.EVICTION,
    "AuthorizationFailed": Kind.ACCESS,
    "LinkedAuthorizationFailed": Kind.ACCESS,
    "AuthenticationFailed": Kind.ACCESS,
    "InvalidAuthenticationToken": Kind.ACCESS,
    "ResourceNotFound": Kind.MISSING,
    "ResourceGroupNotFound": Kind.MISSING,
    "NotFound": Kind.MISSING,
    "PlatformImageNotFound": Kind.MISSING,
    "InternalExecutionError": Kind.SERVICE,
    "InternalServerError": Kind.SERVICE,
    "RetryableError": Kind.SERVICE,
    "ServerTimeout": Kind.SERVICE,
}
STATUSES = {401: Kind.ACCESS, 403: Kind.ACCESS, 404: Kind.MISSING, 429: Kind.THROTTLING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the service refused, in its own words, and of which kind it is.

    Attributes:
        code: The service's code, such as "AllocationFailed".
    """

    kind: Kind
    code: str
    message: str

    @property
    def is_transient(self) -> bool:
        """Whether it can heal without anybody doing something."""
        return self.kind in TRANSIENT

    def error(self, where: str) -> AlbacoreError:
        """Return what is raised: the class says who has to act.

        Args:
            where: What was tried, on which machine.
        """
        said = f"{where}: Azure says {self.code}: {self.message.rstrip('. ')} ({self.kind}). {NEXT[self.kind]}"
        if self.kind is Kind.EVICTION:
            return NodeError(said, code=self.code, kind=self.kind)
        raised = PlatformError if self.is_transient else UserError
        return raised(said, code=self.code, kind=self.kind)


def of_code(code: str, message: str, status: int = 0) -> Fault:
    """Return the fault that a code stands for; a code that is not known is judged by the HTTP status."""
    kind = CODES.get(code)
    if code == "OperationNotAllowed":  # what the service says of quotas, and of other things
        kind = Kind.QUOTA if re.search(r"\bquota\b", message, re.IGNORECASE) else Kind.CONFLICT
    if kind is None:
        kind = STATUSES.get(status, Kind.REQUEST if 400 <= status < 500 else Kind.SERVICE)
    return Fault(kind=kind, code=code, message=" ".join(message.split())[:400])


def of_error(error: "AzureError") -> Fault:
    """Return the fault of an exception of the SDK."""
    told: Any = getattr(error, "error", None)
    status = int(getattr(error, "status_code", None) or 0)
    code, message = getattr(told, "code", None), getattr(told, "message", None)
    if type(error).__name__ == "ClientAuthenticationError":
        return Fault(kind=Kind.ACCESS, code=str(code or "ClientAuthenticationError"), message=str(error)[:400])
    return of_code(str(code or type(error).__name__), str(message or getattr(error, "message", error)), status)
