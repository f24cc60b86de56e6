"""Where everything is: the one place that knows the paths, the port and the environment of this clone's Airflow.

Everything that is written lies in `.state/` inside the clone, except the supervisor's socket: socket paths end at 107
bytes and a clone may lie deeper, so it has a short private folder of its own.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from albacore_ops.refusal import RefusalError

DEFAULT_PORT = 18080
# In the environment of every process that `make up` starts, and inherited by all they start: how `make down` knows
# them.
MARK = "ALBACORE_CLONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Name the files of one clone.

    Attributes:
        root: The clone: AIRFLOW_HOME.
        port: Where the UI and the API listen, on 127.0.0.1.
    """

    root: Path
    port: int = DEFAULT_PORT

    def __post_init__(self) -> None:
        if not 1024 <= self.port <= 65535:
            raise RefusalError(f"port {self.port} is not in 1024..65535: set ALBACORE_PORT to one that is")

    @property
    def url(self) -> str:
        """Return the address of the UI."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def python(self) -> Path:
        """Return the interpreter that runs Airflow."""
        return self.root / ".venv" / "bin" / "python"

    @property
    def run(self) -> Path:
        """Return the script that runs this package."""
        return self.root / "ops" / "run.py"

    @property
    def state(self) -> Path:
        """Return the folder of everything that a running Airflow writes."""
        return self.root / ".state"

    @property
    def secrets(self) -> Path:
        """Return the folder of the secrets of this machine."""
        return self.state / "secrets"

    @property
    def passwords(self) -> Path:
        """Return the file with the password of the user `admin`."""
        return self.secrets / "passwords.json"

    @property
    def logs(self) -> Path:
        """Return the folder of all logs."""
        return self.state / "logs"

    @property
    def database(self) -> Path:
        """Return Airflow's own database."""
        return self.state / "airflow.db"

    @property
    def store(self) -> Path:
        """Return Albacore's store."""
        return self.root / "albacore.db"

    @property
    def supervisor_config(self) -> Path:
        """Return the configuration that the supervisor was started with."""
        return self.state / "supervisor.conf"

    @property
    def running(self) -> Path:
        """Return the file that says which supervisor was started, and on which port."""
        return self.state / "running.json"

    @property
    def socket(self) -> Path:
        """Return the supervisor's socket, in a short private folder."""
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:8]
        return Path("/tmp") / f"albacore-{os.getuid()}-{name}" / "supervisor.sock"  # noqa: S108 - checked to be ours

    def environment(self, outside: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of Airflow's processes.

        Args:
            outside: The user's environment. Its settings for another Airflow or another Python project are left out:
                with them, `airflow db migrate` could reach a database that is none of ours.
        """
        inside = {name: value for name, value in outside.items() if not _is_foreign(name)}
        inside |= {
            MARK: str(self.root),
            "AIRFLOW_HOME": str(self.root),
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__BASE_URL": self.url,
            # Process titles are written over the environment in /proc unless this is set, and MARK must stay readable.
            "SPT_NOENV": "1",
            "PYTHONUNBUFFERED": "1",
        }
        inside.setdefault("AIRFLOW_CONN_ALBACORE_STORE", store_connection(self.store))
        return inside


def store_connection(path: Path) -> str:
    """Return the Airflow connection of an SQLite store.

    JSON, not a URI: Airflow parses a URI's path as a schema name and drops its first slash, and a path may hold spaces.
    """
    return json.dumps({"conn_type": "sqlite", "host": str(path)})


def _is_foreign(name: str) -> bool:
    """Return whether a variable belongs to another Airflow or to another Python project."""
    if name.startswith(("AIRFLOW_CONN_", "AIRFLOW_VAR_")):
        return False
    return name.startswith(("AIRFLOW", "PYTHON", "_AIRFLOW", "SUPERVISOR_")) or name == "VIRTUAL_ENV"


def read_port(environment: Mapping[str, str]) -> int:
    """Return the port that the user asks for in ALBACORE_PORT, or the default."""
    text = environment.get("ALBACORE_PORT") or str(DEFAULT_PORT)
    if not (text.isascii() and text.isdigit()):
        raise RefusalError(
            f"ALBACORE_PORT is {text!r}, a port number is needed: unset it or set it to e.g. {DEFAULT_PORT}"
        )
    return int(text)
