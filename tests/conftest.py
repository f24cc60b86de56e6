"""What every test may use."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # scenes.py, clone.py and their like


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Show the ends of a clone's logs beside a failure in it."""
    report = (yield).get_result()
    if report.failed:
        for value in getattr(item, "funcargs", {}).values():
            if hasattr(value, "tails"):
                report.sections.append(("logs of the clone", value.tails()))


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The store of this process, as Airflow's tasks find it."""
    from albacore_airflow import settings

    file = tmp_path / "store.db"
    monkeypatch.setenv("AIRFLOW_CONN_ALBACORE_STORE", json.dumps({"conn_type": "sqlite", "host": str(file)}))
    settings.store.cache_clear()
    opened = settings.store()
    opened.migrate()
    yield opened
    opened.close()
    settings.store.cache_clear()
