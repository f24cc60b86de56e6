"""A server with the pages, and users of two roles who talk to it."""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import recorded_runs
from clone import free_port, wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
PASSWORD = "a password of a test"


@dataclass(slots=True)
class Answer:
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Server:
    """Airflow's API server with the pages."""

    url: str
    home: Path
    routes: list[dict[str, Any]]
    tokens: dict[str, str] = field(default_factory=dict)

    def ask(
        self, path: str, *, user: str | None = "adm", method: str = "GET", body: Any = None, cookie=False, **headers
    ) -> Answer:
        """Ask for a path of the pages; redirects are not followed."""
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        if user and cookie:
            own["Cookie"] = f"_token={self.token(user)}"
        elif user:
            own["Authorization"] = f"Bearer {self.token(user)}"
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            own.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(f"{self.url}/albacore{path}", data=data, method=method, headers=own)
        opener = urllib.request.build_opener(_Stay)
        try:
            with opener.open(request, timeout=30) as answer:
                return Answer(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, {k.lower(): v for k, v in error.headers.items()}, error.read())

    def token(self, user: str) -> str:
        """Return a session of a user."""
        if user not in self.tokens:
            body = json.dumps({"username": user, "password": PASSWORD}).encode()
            request = urllib.request.Request(
                f"{self.url}/auth/token", data=body, headers={"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                self.tokens[user] = json.load(answer)["access_token"]
        return self.tokens[user]


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follow no redirect."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@contextlib.contextmanager
def serving(home: Path, *, with_store: bool) -> Iterator[Server]:
    """Start the server in a home of its own, and stop it."""
    home.mkdir(exist_ok=True)
    for name in ("dags", "plugins", "include", "config", "airflow.cfg"):
        (home / name).symlink_to(REPOSITORY / name)
    secrets = home / ".state" / "secrets"
    secrets.mkdir(parents=True)
    for name in ("jwt_secret", "api_secret_key", "fernet_key"):
        (secrets / name).write_text("x" * 64 if name != "fernet_key" else "")
    (secrets / "passwords.json").write_text(json.dumps({"adm": PASSWORD, "view": PASSWORD}))
    store = home / "albacore.db"
    if with_store:
        recorded_runs.make(store, now=time.time()).close()
    port = free_port()
    plain = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {
        **plain,
        "AIRFLOW_HOME": str(home),
        "PYTHONPATH": f"{REPOSITORY / 'include'}:{REPOSITORY / 'plugins'}",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "adm:admin,view:viewer",
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW_CONN_ALBACORE_STORE": f"sqlite:///{store}".replace("sqlite:///", "sqlite:///"),
    }
    listing, log = home / "routes.json", home / "server.log"
    command = [sys.executable, "-P", str(Path(__file__).parent / "server.py"), str(port), str(listing)]
    with log.open("w") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: _answers(url) or process.poll() is not None, 90, "the server answers", pause_s=0.2)
        assert process.poll() is None, log.read_text()
        yield Server(url, home, json.loads(listing.read_text()))
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/v2/version", timeout=2):
            return True
    except OSError:
        return False


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """Return a server whose store has runs."""
    with serving(tmp_path_factory.mktemp("pages"), with_store=True) as found:
        yield found
