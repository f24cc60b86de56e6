"""What the tests of ops/ share: the stand-in of Airflow's REST API."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


def load_neighbour(name: str):
    """Import a module that lies beside this file."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


api_server = load_neighbour("api_server")


@pytest.fixture
def api() -> Iterator["api_server.ApiServer"]:
    """Serve an empty API; the test fills in the answers."""
    with api_server.serving() as server:
        yield server
