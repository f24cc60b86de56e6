"""Lend the tests a loaded PostgreSQL node, whose verbs are called as the node agent calls them."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "include" / "benchmarks" / "postgres"
NOBODY = 61999
"""A uid that no system has a name for, as those of local nodes."""
DEFAULTS = tomllib.loads((FOLDER / "workloads/reporting/workload.toml").read_text())["params"]
SMALL = {**DEFAULTS, "scale": 0.05, "warmup_s": 0.0, "measure_s": 0.0}
# Imports what the executables need, drops root for good, then becomes the executable: nobody may be unable to enter the
# interpreter's home, exactly as on a user's machine.
DROPPED = """
import __future__, os, pkgutil, runpy, sys
import contextlib, ctypes, dataclasses, hashlib, json, math, pathlib, re, resource, shutil, signal, statistics
import subprocess, threading, time, tomllib
import concurrent.futures.thread, encodings.idna
uid = int(sys.argv[1]); os.setgroups([]); os.setgid(uid); os.setuid(uid)
runpy.run_path(sys.argv[2], run_name="__main__")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Hold what a verb left: its exit code, its words and its job's directory."""

    code: int
    words: str
    job: Path

    def json(self, name: str) -> dict:
        """Read one of the files it wrote."""
        return json.loads((self.job / name).read_text())


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresNode:
    """Call the executables with the environment of the contract."""

    root: Path
    folder: Path
    port: int
    as_nobody: bool = False

    def begin(self, verb: str, config: dict[str, str] | None = None, **params: object) -> tuple[subprocess.Popen, Path]:
        """Start a verb and return its process and its job's directory."""
        job = Path(tempfile.mkdtemp(prefix="job-", dir=self.root))
        (job / "config").write_text(json.dumps(config or {}))
        (job / "params").write_text(json.dumps({**SMALL, **params}))
        if self.as_nobody and os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(self.root)], check=True)
        workload = self.folder / "workloads" / "reporting"
        program = str((workload if verb in ("load", "run") else self.folder) / verb)
        is_dropped = self.as_nobody and os.geteuid() == 0
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ALBACORE_NODE_DIR": str(self.root),
            "ALBACORE_SYSTEM_DIR": str(self.folder),
            "ALBACORE_WORKLOAD_DIR": str(workload),
            "ALBACORE_JOB_DIR": str(job),
            "ALBACORE_PORT": str(self.port),
            "ALBACORE_UID": str(NOBODY) if os.geteuid() == 0 and not is_dropped else "",
            "ALBACORE_SEED": "7",
            "ALBACORE_CONFIG": str(job / "config"),
            "ALBACORE_PARAMS": str(job / "params"),
            "ALBACORE_PYTHON": sys.executable,
        }
        command = [sys.executable, "-c", DROPPED, str(NOBODY), program] if is_dropped else [program]
        with (job / "err").open("w") as err:
            return subprocess.Popen(command, env=environment, cwd=job, stdout=err, stderr=err), job

    def call(self, verb: str, config: dict[str, str] | None = None, **params: object) -> Told:
        """Run a verb to its end."""
        process, job = self.begin(verb, config, **params)
        return Told(code=process.wait(timeout=60), words=(job / "err").read_text(), job=job)

    def pids(self) -> list[int]:
        """List every process whose working directory lies below the node's."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(f"{self.root}/"):
                    found.append(int(entry.name))
        return found

    def sql(self, text: str) -> str:
        """Run SQL on the running server."""
        program = self.root / "install/postgres/pgserver/pginstall/bin/psql"
        command = [
            str(program),
            "-XqAt",
            "-h",
            str(self.root / "s"),
            "-p",
            str(self.port),
            "-U",
            "albacore",
            "postgres",
        ]
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        said = subprocess.run([*command, "-c", text], capture_output=True, text=True, check=True, cwd="/", **who)
        return said.stdout.strip()

    def assert_clean(self) -> None:
        """Check that nothing of the server is left: no process, no socket, no listener on the port."""
        assert self.pids() == []
        assert list((self.root / "s").glob(".s.PGSQL*")) == []
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", self.port))


def free_port() -> int:
    """Ask the kernel for a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def loaded_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresNode]:
    """Install and load one node, from a folder with spaces in a home that nobody else may enter."""
    home = tmp_path_factory.mktemp("a private home")
    home.chmod(0o700)
    folder = home / "albacore clone" / "postgres"
    shutil.copytree(FOLDER, folder)
    root = Path(tempfile.mkdtemp(prefix="albacore-test-", dir="/var/tmp"))
    if os.geteuid() == 0:  # as a local node's directory is
        os.chown(root, 0, NOBODY)
        root.chmod(0o1770)
    driver = PostgresNode(root=root, folder=folder, port=free_port())
    for verb in ("install", "load"):
        told = driver.call(verb)
        assert told.code == 0, told.words
    yield driver
    driver.call("stop")
    shutil.rmtree(root)


@pytest.fixture
def postgres(loaded_postgres: PostgresNode) -> Iterator[PostgresNode]:
    """Lend the loaded node; its server is stopped before and after."""
    yield loaded_postgres
    told = loaded_postgres.call("stop")
    assert told.code == 0, told.words
    loaded_postgres.assert_clean()


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import the folder's modules by name, for one test only: their names are short and not ours to keep."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield importlib.import_module
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)
