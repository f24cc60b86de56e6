"""Smoke: one real machine, made, reached and deleted; what only the service itself can show."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from albacore.clouds.azure import preflight
from albacore.clouds.azure.cloud import READY_S, AzureCloud
from albacore.clouds.azure.prices import HourlyPrice
from albacore.errors import NodeError

PATIENCE_S = 300.0
"""How long sshd may take after Azure calls a machine ready."""


def smoke(cloud: AzureCloud, price: HourlyPrice, clock: Callable[[], float] = time.monotonic) -> Iterator[str]:
    """Make one machine, log in with the pinned host key, delete it, and expect that nothing tagged is left.

    Whatever fails in between, what was made is deleted before the error is raised.

    Yields:
        A line for each step that is done.

    Raises:
        AlbacoreError: The first thing that went wrong.
    """
    order, begun = cloud.order, clock()
    preflight.caps(order, nodes=1, hours=min(1.0, order.max_hours), per_hour=price.per_hour)
    [name] = cloud.names(1)
    yield f"{name}: {order.size} in {order.location}, {price.per_hour:.4f} an hour ({price.source})"
    try:
        [node] = cloud.provision([name])
        yield f"made in {clock() - begun:.0f} s, at {node.endpoint.address}"
        ends_at = clock() + PATIENCE_S
        while clock() < ends_at:
            with suppress(NodeError):
                node.run(["true"])
                break
        facts = node.facts()
        yield f"reached with its pinned host key: {facts['cores']} cores, {facts['os']}, Python {facts['python']}"
        tagged = sorted(each.name for each in cloud.removal.left())
        yield f"tagged or called after it: {', '.join(tagged)}"
    finally:
        cloud.removal.wait(timeout_s=READY_S)
    left = cloud.removal.left()
    if left:
        raise NodeError(f"smoke: expected nothing to be left, there is {', '.join(each.id for each in left)}.")
    hours = (clock() - begun) / 3600
    yield f"deleted; nothing tagged is left; {clock() - begun:.0f} s in all, about {hours * price.per_hour:.4f}"
