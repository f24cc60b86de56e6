"""What is wrong with a running Airflow, from what its health endpoint says: pure, the time is passed in.

An old heartbeat is a finding even where Airflow still says "healthy": its own threshold is checked by the process that
answers, and a component can hang for long before.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

COMPONENTS = ("scheduler", "dag_processor", "triggerer")
OLD_HEARTBEAT_S = 60.0


def unhealthy(health: Mapping[str, Any]) -> list[str]:
    """Return the names of what is not healthy by Airflow's own word, the metadata database included."""
    names = ("metadatabase", *COMPONENTS)
    return [name for name in names if (health.get(name) or {}).get("status") != "healthy"]


def heartbeat_age_s(health: Mapping[str, Any], component: str, now: datetime) -> float | None:
    """Return the age of a component's last heartbeat in seconds, None when it never had one."""
    text = (health.get(component) or {}).get(f"latest_{component}_heartbeat")
    return None if not text else (now - datetime.fromisoformat(text)).total_seconds()


def findings(health: Mapping[str, Any], now: datetime) -> list[str]:
    """Return one sentence for everything that is wrong, none when all is well.

    Args:
        health: The answer of `GET /api/v2/monitor/health`.
        now: The time, with a time zone.
    """
    sentences = []
    if "metadatabase" in unhealthy(health):
        sentences.append("metadatabase: Airflow cannot reach its database; see .state/logs/api-server.log")
    for component in COMPONENTS:
        log = f".state/logs/{component.replace('_', '-')}.log"
        age_s = heartbeat_age_s(health, component, now)
        if age_s is None:
            sentences.append(f"{component}: no heartbeat yet; see {log}")
        elif age_s > OLD_HEARTBEAT_S:
            sentences.append(
                f"{component}: last heartbeat {age_s:.0f} s ago, at most {OLD_HEARTBEAT_S:.0f} s expected; see {log}"
            )
        elif component in unhealthy(health):
            sentences.append(f"{component}: Airflow calls it unhealthy; see {log}")
    return sentences
