"""What the contract suite does to each benchmark, as its folder says in `cases.toml`, and the node it is done on.

Every case is a table that says how, or `none = "why not"`. A workload's own `cases.toml` replaces its system's tables.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from nodes import places

from albacore.benchmark import Benchmark, Workload
from albacore.nodes import job, process
from albacore.nodes.blame import Placement, sample_or_failure
from albacore.nodes.job_spec import JobSpec
from albacore.nodes.local import LocalNode
from albacore.nodes.preparation import prepare
from albacore.sample import BLAME_OF_EXIT_CODE, Blame, Failure, Sample

CASES = ("bad_config", "hang", "crash", "load_error", "restore", "golden")
STUCK = "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Hold how a verb ended: whom its exit code blames (None: nobody), and its words."""

    blame: Blame | None
    words: str


@dataclass(slots=True, kw_only=True)
class Bench:
    """A workload on a prepared node, and its cases; `verbs_as` runs the verbs by hand (None: whoever tests)."""

    node: LocalNode
    workload: Workload
    cases: Mapping[str, Any]
    params: Mapping[str, Any]
    jobs: int = 0
    verbs_as: int | None = None

    def case(self, name: str) -> Mapping[str, Any]:
        """Return a case; a workload that cannot have it passes, for its folder says why."""
        found = self.cases[name]
        if "none" in found:
            pytest.xfail(f"{self.workload.id}: {found['none']}")
        return found

    def begin(self, case: Mapping[str, Any], limits: Mapping[str, float] | None = None) -> str:
        """Start a sample's job with the config and parameters of a case, and return its id."""
        self.jobs += 1
        config, params = case.get("config", {}), {**self.params, **case.get("params", {})}
        spec = JobSpec.sample(self.workload, f"case-{self.jobs}", config, params=params)
        spec = replace(spec, timeouts_s={**spec.timeouts_s, **(limits or {})}, term_grace_s=0.3)
        job.start(self.node, spec)
        return spec.job_id

    def finish(self, job_id: str) -> Sample | Failure:
        """Wait for a job, check that it left nothing, and judge it."""
        assert job.wait(self.node, job_id, within_s=120).state == "done"
        outcome = job.outcome(self.node, job_id)
        self.wait_for_supervisor(job_id)
        self.assert_clean()
        return sample_or_failure(outcome, self.workload, Placement.on(self.node, config_id="c", started_at=0.0))

    def verb(self, name: str, config: Mapping[str, str] | None = None, **params: Any) -> Told:
        """Run one executable by itself, with the environment of the contract."""
        home, system = self.node.directory, self.node.directory / "benchmarks" / self.workload.system
        place = home / "jobs" / "by-hand"
        place.mkdir(parents=True, exist_ok=True)
        if self.verbs_as is not None:
            os.chown(place, self.verbs_as, self.verbs_as)
        elif self.node.uid is not None:
            os.chown(place, 0, self.node.uid)
            place.chmod(0o1770)
        workload = system / "workloads" / self.workload.name
        values = self.workload.params_with({**self.params, **params})
        for file, content in (("config.json", config or {}), ("params.json", dict(values))):
            (place / file).write_text(json.dumps(content))
        environment = {
            **self.node._environment(),
            "TMPDIR": str(home / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ALBACORE_NODE": self.node.name,
            "ALBACORE_NODE_DIR": str(home),
            "ALBACORE_SYSTEM_DIR": str(system),
            "ALBACORE_WORKLOAD_DIR": str(workload),
            "ALBACORE_JOB_DIR": str(place),
            "ALBACORE_PORT": str(self.node.port),
            "ALBACORE_UID": "" if self.node.uid is None or self.verbs_as is not None else str(self.node.uid),
            "ALBACORE_SEED": str(self.node.seed),
            "ALBACORE_CONFIG": str(place / "config.json"),
            "ALBACORE_PARAMS": str(place / "params.json"),
            "ALBACORE_PYTHON": self.node.python,
        }
        program = (workload if name in ("load", "run") else system) / name
        who = {} if self.verbs_as is None else {"user": self.verbs_as, "group": self.verbs_as, "extra_groups": []}
        with (place / "words").open("w+") as words:  # a file: a server that inherits a pipe would keep it open
            done = subprocess.run([program], env=environment, cwd=place, stdout=words, stderr=words, timeout=60, **who)
            words.seek(0)
            return Told(
                blame=BLAME_OF_EXIT_CODE.get(done.returncode, Blame.PLATFORM) if done.returncode else None,
                words=words.read(),
            )

    def disown(self) -> None:
        """Take away all but the programs, and let an unprivileged user own the node and run its verbs."""
        for place in self.node.directory.iterdir():
            if place.name not in ("agent", "benchmarks", "install", "jobs", "tmp"):
                shutil.rmtree(place) if place.is_dir() else place.unlink()
        if self.node.uid is not None:
            self.verbs_as = pwd.getpwnam("nobody").pw_uid
            subprocess.run(["chown", "-R", f"{self.verbs_as}:{self.verbs_as}", self.node.directory], check=True)

    def command(self, text: str) -> str:
        """Run a shell command of a case as the system's uid; `{node}` and `{port}` are filled in."""
        text = text.replace("{node}", str(self.node.directory)).replace("{port}", str(self.node.port))
        who = {} if self.node.uid is None else {"user": self.node.uid, "group": self.node.uid, "extra_groups": []}
        done = subprocess.run(["sh", "-ec", text], capture_output=True, text=True, cwd="/", timeout=60, **who)
        assert done.returncode == 0, f"{text}: {done.stdout} {done.stderr}"
        return done.stdout

    def processes(self) -> dict[int, str]:
        """Return pid -> command line of everything that belongs to the node."""
        found = process.belonging(f"ALBACORE_NODE_DIR={self.node.directory}", [])
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                uid, home = os.stat(f"/proc/{name}").st_uid, os.readlink(f"/proc/{name}/cwd")
                if (self.node.uid is not None and uid == self.node.uid) or home.startswith(f"{self.node.directory}/"):
                    found.add(int(name))
        return {pid: process.describe(pid) for pid in found if process.born(pid)}

    def kill(self, pattern: str) -> None:
        """Kill the system's processes, those whose command line matches."""
        found = [pid for pid, line in self.processes().items() if re.search(pattern, line)]
        assert found, f"no process like {pattern!r} among {self.processes()}"
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)

    def wait_for_run(self, job_id: str) -> None:
        """Wait until a job has begun to measure, and a moment longer."""
        began = self.node.directory / "jobs" / job_id / "run.err"
        deadline = time.monotonic() + 30
        while not began.exists():
            assert time.monotonic() < deadline, "run did not begin"
            time.sleep(0.02)
        time.sleep(0.7)

    def wait_for_supervisor(self, job_id: str) -> None:
        """Wait until a job's supervisor has ended: it writes the result last, and is one of the node's processes."""
        pid = json.loads((self.node.directory / "jobs" / job_id / "proc.json").read_text())["pid"]
        deadline = time.monotonic() + 5
        while process.born(pid):
            assert time.monotonic() < deadline, "the supervisor outlived its result"
            time.sleep(0.02)

    def assert_clean(self) -> None:
        """Expect no process of the node and all of its ports free."""
        assert self.processes() == {}
        assert not job.ask(self.node, "ports")["busy"]

    @contextlib.contextmanager
    def replaced(self, path: str, *, by: str) -> Iterator[None]:
        """Put something into a file's place for a while: a program that is stuck, a pipe nobody writes to, nothing."""
        target = self.node.directory / path
        kept = target.with_name(f"{target.name}.kept")
        target.rename(kept)
        try:
            if by == "program":
                target.write_text(STUCK)
                target.chmod(0o755)
            if by == "pipe":
                os.mkfifo(target, 0o644)
                os.chmod(target, 0o644)
            yield
        finally:
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
            kept.rename(target)


@contextlib.contextmanager
def prepared(workload_id: str) -> Iterator[Bench]:
    """Give a workload, small, on a node that it is installed and loaded on; what is missing is installed."""
    system, name = workload_id.split("/")
    benchmark = Benchmark.read(places.BENCHMARKS, system)
    workload = benchmark.workload(name)
    cases = read(benchmark, workload)
    params = small(workload, cases)
    with places.root() as place:
        (node,) = places.nodes(place, "n1")
        assert prepare(node, benchmark, workload, params=params).versions
        yield Bench(node=node, workload=workload, cases=cases, params=params)


def read(benchmark: Benchmark, workload: Workload) -> dict[str, Any]:
    """Return the cases of a workload, complete and of known names."""
    found: dict[str, Any] = {}
    for path in (benchmark.root / "cases.toml", benchmark.root / "workloads" / workload.name / "cases.toml"):
        if path.is_file():
            found.update(tomllib.loads(path.read_text()))
    missing = {"params", *CASES} ^ found.keys()
    assert not missing, f"{benchmark.root / 'cases.toml'}: expected params and {', '.join(CASES)}; see {missing}"
    return found


def small(workload: Workload, cases: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a small sample: those of the cases that the workload has."""
    return {name: value for name, value in cases["params"].items() if name in workload.params}


def all_workloads() -> list[str]:
    """Return every `<system>/<workload>` that there is."""
    return sorted(f"{p.parts[-4]}/{p.parts[-2]}" for p in Path(places.BENCHMARKS).glob("*/workloads/*/workload.toml"))
