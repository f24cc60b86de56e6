"""What every test may use."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # scenes.py, clone.py, law.py


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Show the ends of a clone's logs beside a failure in it."""
    report = (yield).get_result()
    if report.failed:
        for value in getattr(item, "funcargs", {}).values():
            if hasattr(value, "tails"):
                report.sections.append(("logs of the clone", value.tails()))
