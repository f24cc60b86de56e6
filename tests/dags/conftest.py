"""An AIRFLOW_HOME for parsing: links to this clone's files, and a place for what Airflow writes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
Parse = Callable[[Path], dict[str, Any]]


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """Return a folder that looks like a clone to Airflow."""
    made = tmp_path_factory.mktemp("airflow home")
    for name in ("dags", "plugins", "include", "config", "airflow.cfg"):
        (made / name).symlink_to(REPOSITORY / name)
    secrets = made / ".state" / "secrets"
    secrets.mkdir(parents=True)
    for name in ("jwt_secret", "api_secret_key", "fernet_key"):
        (secrets / name).write_text("")
    return made


@pytest.fixture(scope="session")
def parse(home: Path) -> Parse:
    """Return what parses the DAG files for a folder of campaign files, in a fresh process."""

    def parsed(campaigns: Path) -> dict[str, Any]:
        plain = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        done = subprocess.run(
            [sys.executable, "-P", str(Path(__file__).parent / "parsing.py")],
            env={**plain, "AIRFLOW_HOME": str(home), "ALBACORE_CAMPAIGNS": str(campaigns)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return parsed


@pytest.fixture(scope="session")
def shipped(parse: Parse) -> dict[str, Any]:
    """Return what the campaigns of this clone become."""
    return parse(REPOSITORY / "include" / "campaigns")
