"""Laws of the first task of a history's DAG."""

from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowSkipException

from albacore_airflow import history_tasks


class Context(dict):
    """What Airflow gives to a task: the DAG run and the task instance."""

    def __init__(self, run_type, run_id):
        run = SimpleNamespace(run_type=SimpleNamespace(value=run_type), run_id=run_id, conf={}, logical_date=None)
        super().__init__(dag_run=run, ti=SimpleNamespace(xcom_push=lambda **_: None))


@pytest.mark.parametrize("run_type", ["scheduled", "manual", "asset_triggered"])
def test_only_a_backfill_looks_at_history_whatever_a_run_is_called(monkeypatch, run_type):
    """The type decides: an id that says backfill is a name that anybody can give."""
    context = Context(run_type, "backfill__2026-01-01T00:00:00+00:00")
    monkeypatch.setattr(history_tasks, "get_current_context", lambda: context)

    with pytest.raises(AirflowSkipException, match=f"type {run_type}"):
        history_tasks.find.function("demo")


def test_a_backfill_is_one_whatever_it_is_called(monkeypatch):
    """It gets past the type: here to the date that it does not have."""
    context = Context("backfill", "manual__2026-01-01T00:00:00+00:00")
    monkeypatch.setattr(history_tasks, "get_current_context", lambda: context)
    monkeypatch.setattr(history_tasks, "calendar_of", lambda name: None)
    monkeypatch.setattr(history_tasks.dates, "request_of", lambda conf, calendar: None)

    with pytest.raises(AirflowSkipException, match="no logical date"):
        history_tasks.find.function("demo")
