"""How long Airflow takes to parse the DAG files for 50 campaigns, in a fresh process without its own start-up."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CAMPAIGNS = 50


def figures() -> dict[str, dict[str, object]]:
    """Return the wall time of a DagBag with 50 campaigns of the system `noop`, the best of three."""
    return {f"parse of {CAMPAIGNS} campaigns": {"value": min(parse_s() for _ in range(3)), "unit": "s"}}


def parse_s() -> float:
    """Return the seconds that one fresh process takes."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name in ("dags", "plugins", "include", "config", "airflow.cfg"):
            (home / name).symlink_to(ROOT / name)
        for name in ("jwt_secret", "api_secret_key", "fernet_key"):
            (home / ".state" / "secrets").mkdir(parents=True, exist_ok=True)
            (home / ".state" / "secrets" / name).touch()
        campaigns = home / "campaigns"
        campaigns.mkdir()
        text = (ROOT / "include" / "campaigns" / "noop.toml").read_text()
        for i in range(CAMPAIGNS):
            (campaigns / f"c{i}.toml").write_text(text)
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "PYTHON"))}
        done = subprocess.run(
            [sys.executable, "-P", str(ROOT / "tests" / "dags" / "parsing.py")],
            env={**plain, "AIRFLOW_HOME": str(home), "ALBACORE_CAMPAIGNS": str(campaigns)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    return round(json.loads(done.stdout.splitlines()[-1])["wall_s"], 2)
