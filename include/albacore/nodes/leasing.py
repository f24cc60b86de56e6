"""Runs on the node: how long a job may go on without being watched, on the node's own monotonic clock.

Whoever watches a job renews its lease; a job whose watcher has vanished ends itself, so that no load is left on a node
that nobody asks for. Standard library only: this file is copied to every node beside the agent.
"""

import json
import os
import time


def grant(job: str, lease_s: float) -> None:
    """Let a job go on for so many seconds from now."""
    fresh = f"{job}/.lease.json.{os.getpid()}"
    with open(fresh, "w", encoding="utf-8") as file:
        json.dump({"lease_s": lease_s, "ends_at": time.monotonic() + lease_s}, file)
    os.replace(fresh, f"{job}/lease.json")


def renew(job: str) -> None:
    """Begin a job's lease anew; one that has none goes on without."""
    if lease := _read(job):
        grant(job, lease["lease_s"])


def ends_at(job: str) -> float:
    """Return when a job's lease ends, in seconds of `time.monotonic()`; never when it has none."""
    lease = _read(job)
    return lease["ends_at"] if lease else float("inf")


def _read(job: str) -> dict | None:
    """Return a job's lease."""
    try:
        with open(f"{job}/lease.json", encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None
