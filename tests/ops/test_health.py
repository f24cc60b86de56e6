"""Laws of the doctor: an old heartbeat is told, whatever the component calls itself."""

from datetime import UTC, datetime, timedelta

import pytest

from albacore_ops import health

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def answer(**ages_s: float | None) -> dict:
    """Return a healthy answer whose heartbeats are this old; None: never."""
    facts: dict = {"metadatabase": {"status": "healthy"}}
    for name in health.COMPONENTS:
        age_s = ages_s.get(name, 1.0)
        beat = None if age_s is None else (NOW - timedelta(seconds=age_s)).isoformat()
        facts[name] = {"status": "healthy", f"latest_{name}_heartbeat": beat}
    return facts


def test_a_healthy_airflow_has_no_findings():
    """Nothing is said when nothing is wrong."""
    assert health.findings(answer(), NOW) == []
    assert health.unhealthy(answer()) == []


@pytest.mark.parametrize("component", health.COMPONENTS)
def test_an_old_heartbeat_is_told_with_its_age_and_its_log(component):
    """Also while the component still counts as healthy."""
    (finding,) = health.findings(answer(**{component: 61.0}), NOW)

    assert finding.startswith(f"{component}: last heartbeat 61 s ago")
    assert f".state/logs/{component.replace('_', '-')}.log" in finding


def test_a_heartbeat_of_exactly_the_limit_is_not_old():
    """The limit itself is allowed."""
    assert health.findings(answer(scheduler=health.OLD_HEARTBEAT_S), NOW) == []


def test_a_component_that_never_beat_is_told():
    """A process that hangs in its start has no heartbeat at all."""
    (finding,) = health.findings(answer(triggerer=None), NOW)

    assert finding.startswith("triggerer: no heartbeat yet")


def test_what_airflow_itself_calls_unhealthy_is_told():
    """With a fresh heartbeat too, and the database first."""
    facts = answer()
    facts["scheduler"]["status"] = "unhealthy"
    facts["metadatabase"]["status"] = "unhealthy"

    assert [finding.split(":")[0] for finding in health.findings(facts, NOW)] == ["metadatabase", "scheduler"]


def test_a_missing_component_is_unhealthy():
    """An answer without a component, e.g. null for the DAG processor, is not a healthy one."""
    facts = answer() | {"dag_processor": None}

    assert health.unhealthy(facts) == ["dag_processor"]
    assert len(health.findings(facts, NOW)) == 1
