"""A clone of its own for tests that need a real Airflow: made from the working tree, started and stopped by `make`."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import make_url
from working_tree import configure, copy_tree, lend_environment

from albacore.nodes.local import state_root
from albacore.store import Store
from albacore_ops import credential, process, supervision
from albacore_ops.campaign import ENDED, CampaignRun
from albacore_ops.layout import Layout
from albacore_ops.rest import Airflow, Json, path

T = TypeVar("T")


def wait_until(look: Callable[[], T | None], timeout_s: float, what: str, pause_s: float = 0.5) -> T:
    """Return the first truthy thing that is seen."""
    deadline = time.monotonic() + timeout_s
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {timeout_s:.0f} s still not: {what}")
        time.sleep(pause_s)
    return seen


@dataclass(slots=True, kw_only=True)
class Clone:
    """A copy of the working tree whose Airflow runs."""

    root: Path
    port: int
    extra: Mapping[str, str] = field(default_factory=dict)
    store_url: str = ""
    _airflow: Airflow | None = field(default=None, repr=False)

    @property
    def layout(self) -> Layout:
        return Layout(root=self.root, port=self.port)

    @property
    def airflow(self) -> Airflow:
        """Return a client of the REST API; it waits while a server that was killed starts again."""
        if self._airflow is None:
            password = credential.password(self.layout)
            self._airflow = Airflow(url=self.layout.url, user=credential.USER, password=password)
        return self._airflow

    @property
    def environment(self) -> dict[str, str]:
        """Return a user's environment: nothing of pytest's or of the outer make's."""
        plain = {k: os.environ[k] for k in ("PATH", "HOME", "LANG", "TMPDIR", "XDG_STATE_HOME") if k in os.environ}
        return {**plain, **self.extra, "ALBACORE_PORT": str(self.port)}

    def make(self, *arguments: str, timeout_s: float = 400.0, code: int = 0) -> str:
        """Run make to its end and return what it said."""
        done = subprocess.run(
            ["make", *arguments],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == code, f"make {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def albacore(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """Run the library's command in a fresh process on this clone's store."""
        done = subprocess.run(
            [sys.executable, "-m", "albacore.cli", *arguments],
            env={**self.environment, "PYTHONPATH": str(self.root / "include"), "AIRFLOW_HOME": str(self.root)}
            | environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == code, f"albacore {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def campaign(self, name: str, text: str) -> None:
        """Write a campaign file."""
        (self.root / "include" / "campaigns" / f"{name}.toml").write_text(text)

    def wait_known(self, *names: str, timeout_s: float = 120.0) -> None:
        """Wait until Airflow has read both DAGs of campaigns."""
        for dag in [dag for name in names for dag in (name, f"{name}.iteration")]:
            wait_until(lambda dag=dag: self.airflow.find(path("dags", dag)), timeout_s, f"Airflow knows {dag}")

    def start(self, campaign: str, **form: Any) -> "Followed":
        """Start a campaign run with values of its form."""
        self.wait_known(campaign)
        self.airflow.call("PATCH", path("dags", campaign), body={"is_paused": False})
        body = {"logical_date": None, "conf": form}
        answer = self.airflow.call("POST", path("dags", campaign, "dagRuns"), body=body)
        return Followed(clone=self, campaign=campaign, dag_run_id=answer["dag_run_id"])

    def store(self) -> Store:
        """Return the clone's store."""
        return Store(self.store_at)

    @property
    def store_at(self) -> str:
        """The address of the clone's store."""
        return self.store_url or f"sqlite:///{self.layout.store}"

    def processes(self, title: str) -> list[int]:
        """Return the pids of this clone's processes whose title or command line holds a text."""
        found = process.marked(self.root)
        return [each.pid for each in found if title in process.command_line(each.pid)]

    def component(self, name: str) -> int:
        """Return the pid of a process that the supervisor keeps, 0 while there is none."""
        return next(int(info["pid"]) for info in supervision.states(self.layout) if info["name"] == name)

    @property
    def nodes_root(self) -> Path:
        """Return the folder of the clone's local nodes."""
        return state_root(self.root)

    def node_processes(self) -> list[str]:
        """Return the command lines of everything that runs for a node of this clone."""
        mark = os.fsencode(self.nodes_root)
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    found.append(process.command_line(int(entry.name)))
        return found

    def tails(self, lines: int = 25) -> str:
        """Return the ends of the logs that say most: the components', and the last task logs that speak of errors."""
        logs = self.layout.logs
        tasks = sorted(logs.glob("dag_id=*/**/*.log"), key=lambda file: file.stat().st_mtime)
        wrong = [file for file in tasks if any(w in file.read_text(errors="replace") for w in ('"error"', "Traceback"))]
        chosen = [*sorted(logs.glob("*.log")), *wrong[-4:]]
        return "\n".join(
            f"--- {file.relative_to(logs)}\n" + "\n".join(quiet(file.read_text(errors="replace"))[-lines:])
            for file in chosen
        )


@dataclass(slots=True, kw_only=True)
class Followed:
    """A campaign run, seen over Airflow's REST API and in the store."""

    clone: Clone
    campaign: str
    dag_run_id: str

    @property
    def seen(self) -> CampaignRun:
        return CampaignRun(airflow=self.clone.airflow, campaign=self.campaign, run_id=self.dag_run_id)

    @property
    def id(self) -> str:
        """Return the id in the store, as soon as `open` has said it."""
        return wait_until(lambda: self.xcom("open"), 120.0, f"{self.campaign} is open")

    def xcom(self, task: str, key: str = "return_value") -> Any:
        """Return what a task of the campaign run pushed."""
        where = path("dags", self.campaign, "dagRuns", self.dag_run_id, "taskInstances", task, "xcomEntries", key)
        return (self.clone.airflow.find(where) or {}).get("value")

    def wait(self, timeout_s: float = 240.0, state: str = "success") -> "Followed":
        """Wait until the run has ended, and expect how."""
        wait_until(lambda: self.seen.state() in ENDED, timeout_s, f"{self.dag_run_id} has ended")
        failed = [(t["task_id"], t["map_index"]) for t in self.seen.failed_tasks()]
        assert self.seen.state() == state, f"{self.dag_run_id}: {self.seen.state()}, failed tasks: {failed}"
        return self

    def iterations(self) -> list[Json]:
        """Return the DAG runs that are this run's iterations, oldest first."""
        where, found = path("dags", f"{self.campaign}.iteration", "dagRuns"), []
        while True:
            page = self.clone.airflow.call("GET", where, query={"limit": 100, "offset": len(found), "order_by": "id"})
            found += page["dag_runs"]
            if not page["dag_runs"] or len(found) >= page["total_entries"]:
                return [run for run in found if run["dag_run_id"].startswith(f"{self.id}.l")]

    def tasks(self, dag_run_id: str) -> list[Json]:
        """Return the task instances of an iteration."""
        where = path("dags", f"{self.campaign}.iteration", "dagRuns", dag_run_id, "taskInstances")
        return self.clone.airflow.call("GET", where, query={"limit": 200})["task_instances"]

    def clear(self, dag_run_id: str) -> None:
        """Clear all tasks of an iteration, as the button in the UI does."""
        where = path("dags", f"{self.campaign}.iteration", "dagRuns", dag_run_id, "clear")
        self.clone.airflow.call("POST", where, body={"dry_run": False, "only_failed": False})

    def iteration_state(self, dag_run_id: str) -> str:
        """Return the state of an iteration's DAG run."""
        where = path("dags", f"{self.campaign}.iteration", "dagRuns", dag_run_id)
        return self.clone.airflow.call("GET", where)["state"]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(
    folder: Path, campaigns: Mapping[str, str], options: Mapping[str, str] | None = None, store_url: str = ""
) -> Iterator[Clone]:
    """Make a clone with these campaigns only, start it, and at the end stop it: nothing may be left of it.

    Args:
        folder: Where the clone is made.
        campaigns: Name -> file.
        options: Options of airflow.cfg.
        store_url: A store on PostgreSQL in place of the clone's file.
    """
    root = folder / "a clone"
    root.mkdir(parents=True)
    copy_tree(root)
    lend_environment(root)
    configure(root, options or {})
    for file in (root / "include" / "campaigns").glob("*.toml"):
        file.unlink()
    clone = Clone(root=root, port=free_port(), store_url=store_url, extra=store_connection(store_url))
    for name, text in campaigns.items():
        clone.campaign(name, text)
    try:
        clone.make("up")
        yield clone
    finally:
        clone.make("down")
        left = [process.command_line(each.pid) for each in process.marked(root)] + clone.node_processes()
        fleet, socket_folder = clone.nodes_root, clone.layout.socket.parent
        if not left:
            shutil.rmtree(fleet, ignore_errors=True)
    assert not left, f"make down has left {left}"
    assert not socket_folder.exists()


def store_connection(url: str) -> dict[str, str]:
    """Return the variable that has a store's URL as an Airflow connection; nothing for the clone's own file."""
    if not url:
        return {}
    at = make_url(url)
    fields = {"conn_type": "postgres", "host": at.host, "port": at.port, "login": at.username, "schema": at.database}
    return {"AIRFLOW_CONN_ALBACORE_STORE": json.dumps(fields)}


def quiet(text: str) -> list[str]:
    """Return the lines of a log without those that come many times a second."""
    return [line for line in text.splitlines() if "request finished" not in line and "next_dagrun" not in line]


def last_log(clone: Clone, text: str) -> list[str]:
    """Return the lines of all logs that hold a text."""
    found = []
    for file in clone.layout.logs.glob("**/*.log"):
        lines = file.read_text(errors="replace").splitlines()
        found += [f"{file.name}: {line}" for line in lines if text in line]
    return found


def pretty(value: Any) -> str:
    """Return data for an assertion's message."""
    return json.dumps(value, indent=1, default=str)
