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
def in_airflow(home: Path) -> Callable[..., Any]:
    """Return what runs a script of this folder in a fresh process and reads the JSON of its last line."""

    def ran(script: str, *arguments: str, **environment: str) -> Any:
        plain = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        library = os.pathsep.join(str(REPOSITORY / name) for name in ("include", "plugins"))
        done = subprocess.run(
            [sys.executable, "-P", str(Path(__file__).parent / script), *arguments],
            env={**plain, "AIRFLOW_HOME": str(home), "PYTHONPATH": library, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return ran


@pytest.fixture(scope="session")
def parse(in_airflow: Callable[..., Any]) -> Parse:
    """Return what parses the DAG files for a folder of campaign files, in a fresh process."""
    return lambda campaigns: in_airflow("parsing.py", ALBACORE_CAMPAIGNS=str(campaigns))


@pytest.fixture(scope="session")
def shipped(parse: Parse) -> dict[str, Any]:
    """Return what the campaigns of this clone become."""
    return parse(REPOSITORY / "include" / "campaigns")
