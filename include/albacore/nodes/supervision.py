"""Run one job's verbs on a node, each in its own process group and time limit, and write one result.

Runs detached from whoever started it; all that is known of it is in the job's directory. Standard library only and no
import of Albacore: this file is copied to every node beside the agent.

Files in the job's directory: `spec.json` (what to do), `proc.json` (the supervisor), `children.json` (each verb's
process), `killed` (there when the job has to end), `<verb>.out`, `<verb>.err`, `telemetry.jsonl`, and at the very end
`result.json`.
"""

# Loading pathlib takes longer than most commands:

import contextlib
import json
import os
import signal
import sys
import time

import canary
import leasing
import process
import telemetry  # on the node it lies beside this file
from job_files import get_json, put_json, tail

KILL_WITHIN_S = 5.0
RELAY_S = 120.0
LOAD_LOOK_S = 0.1
AWAY_S = 5.0
"""Whoever wakes up by more than this too late was not late: the machine stood still, or its clock jumped."""
FEWEST_READINGS = 3
READING_EVERY_S = 1.0
WATCHED = {signal.SIGCHLD, signal.SIGTERM}


class Telemetry:
    """Write one raw reading per second while a verb runs, and at least three."""

    def __init__(self, path: str, reader: telemetry.Reader) -> None:
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115 -- closed by `close`
        self.count = 0
        self.reader, self.next_at = reader, time.monotonic()
        self.tick()

    def tick(self) -> float:
        """Take a reading when one is due, and return when the next one is."""
        now = time.monotonic()
        if now >= self.next_at:
            self.next_at = max(self.next_at + READING_EVERY_S, now)
            self.read()
        return self.next_at

    def read(self) -> None:
        """Take a reading now."""
        self.count += 1
        self.file.write(json.dumps(self.reader.read()) + "\n")

    def close(self) -> None:
        """Take the last reading; a verb too short for three gets the others at once."""
        self.read()
        while self.count < FEWEST_READINGS:
            time.sleep(0.01)
            self.read()
        self.file.close()


class Supervisor:
    """Hold what a job needs while its verbs run."""

    def __init__(self, home: str, job: str, spec: dict) -> None:
        self.home, self.job, self.spec = home, job, spec
        self.node = get_json(f"{home}/agent/node.json", {})
        self.system = f"{home}/benchmarks/{spec['system']}"
        self.children = get_json(f"{job}/children.json", [])
        self.steps: list[dict] = []
        self.reader: telemetry.Reader | None = None
        self.ended: dict[int, int] = {}
        self.is_killed = False
        self.why_killed = ""
        self.away_s = 0.0
        self.lease_ends_at = leasing.ends_at(job)
        self.grace_s = float(spec["term_grace_s"])
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)

    def environment(self) -> dict[str, str]:
        """Return the whole environment of a verb: nothing of ours leaks into it."""
        workload = f"{self.system}/workloads/{self.spec['workload']}" if self.spec["workload"] else ""
        uid = self.node.get("uid")
        host, port = self.spec.get("target") or (self.node.get("listen", "127.0.0.1"), self.node.get("port", ""))
        return {
            "PATH": f"{os.path.dirname(sys.executable)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": self.home,
            "TMPDIR": f"{self.home}/tmp",  # noqa: S108 -- below the node's own directory
            "PYTHONDONTWRITEBYTECODE": "1",
            "ALBACORE_NODE": self.node.get("name", ""),
            "ALBACORE_NODE_DIR": self.home,
            "ALBACORE_SYSTEM_DIR": self.system,
            "ALBACORE_WORKLOAD_DIR": workload,
            "ALBACORE_JOB_DIR": self.job,
            "ALBACORE_HOST": host,
            "ALBACORE_PORT": str(port),
            "ALBACORE_UID": "" if uid is None else str(uid),
            "ALBACORE_SEED": str(self.node.get("seed", 0)),
            "ALBACORE_CONFIG": f"{self.job}/config.json",
            "ALBACORE_PARAMS": f"{self.job}/params.json",
            "ALBACORE_PYTHON": sys.executable,
        }

    def verb_path(self, verb: str) -> str:
        """Return the executable of a verb."""
        of_workload = verb in ("load", "run")
        return f"{self.system}/workloads/{self.spec['workload']}/{verb}" if of_workload else f"{self.system}/{verb}"

    def work(self) -> None:
        """Run the verbs in their order up to the first that fails; `stop` follows whatever happened after `start`."""
        for verb in self.spec["verbs"]:
            self.is_killed = self.is_killed or os.path.exists(f"{self.job}/killed")
            if self.is_killed or not self.step(verb):
                break
        if self.is_killed or any(step["verb"] == "start" for step in self.steps):
            self.step("stop", is_shielded=True)

    def step(self, verb: str, *, is_shielded: bool = False) -> bool:
        """Run one verb, record how it ended, and say whether it ended well; a shielded one is not ended by a kill."""
        if verb == "run" and self.spec.get("waits_for_load"):
            return self.await_load()
        self.away_s = 0.0
        begun, limit_s = time.monotonic(), float(self.spec["timeouts_s"][verb])
        readings = (
            Telemetry(f"{self.job}/telemetry.jsonl", self.reader or telemetry.Reader()) if verb == "run" else None
        )
        try:
            pid = self.spawn(verb)
            # Loading psutil takes as long as a short verb: done while the system starts, never while it is measured.
            self.reader = self.reader or (telemetry.Reader() if verb == "start" else None)
            rc = self.wait(pid, begun + limit_s, readings, is_shielded=is_shielded)
        except OSError as error:
            pid, rc = 0, 127
            with open(f"{self.job}/{verb}.err", "a", encoding="utf-8") as file:
                file.write(f"cannot execute {self.verb_path(verb)}: {error}\n")
        if readings:
            readings.close()
        is_over_time = rc is None and (is_shielded or not self.is_killed)
        if rc is None:
            rc = self.end_group(pid)
        wall_s = round(time.monotonic() - begun, 4)
        text = tail(f"{self.job}/{verb}.err")
        self.steps.append({"verb": verb, "rc": rc, "wall_s": wall_s, "timed_out": is_over_time, "stderr_tail": text})
        return rc == 0 and not is_over_time

    def await_load(self) -> bool:
        """Say that the system is ready, take readings until another node's load has ended, and record how it did.

        The load has a time limit of its own; here is only waited so long that it cannot be lost.
        """
        self.away_s = 0.0
        begun, limit_s = time.monotonic(), float(self.spec["timeouts_s"]["run"]) + RELAY_S
        readings = Telemetry(f"{self.job}/telemetry.jsonl", self.reader or telemetry.Reader())
        put_json(f"{self.job}/ready", {"at": time.time()})
        step = None
        while step is None and not self.is_killed and time.monotonic() < begun + limit_s + self.away_s:
            self.listen(max(0.0, min(readings.tick() - time.monotonic(), LOAD_LOOK_S)))
            if time.monotonic() >= self.lease_ends_at:
                self.look_at_lease()
            self.reap(0)
            step = get_json(f"{self.job}/load.json")
        readings.close()
        never = {"verb": "run", "rc": 1, "timed_out": False, "stderr_tail": "no other node's load was handed over"}
        self.steps.append({"wall_s": round(time.monotonic() - begun, 4), **(step or never)})
        return self.steps[-1]["rc"] == 0 and not self.steps[-1]["timed_out"]

    def spawn(self, verb: str) -> int:
        """Start a verb as the leader of its own process group, and put on record who it is."""
        path, new = self.verb_path(verb), os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, f"{self.job}/{verb}.out", new, 0o644),
            (os.POSIX_SPAWN_OPEN, 2, f"{self.job}/{verb}.err", new, 0o644),
        ]
        plain = [signal.SIGPIPE, signal.SIGHUP, signal.SIGINT]
        pid = os.posix_spawn(
            path, [path], self.environment(), file_actions=files, setpgroup=0, setsigmask=[], setsigdef=plain
        )
        self.children.append({"verb": verb, **process.identity(pid)})
        put_json(f"{self.job}/children.json", self.children)
        return pid

    def wait(self, pid: int, ends_at: float, readings: Telemetry | None, *, is_shielded: bool) -> int | None:
        """Return a verb's code, or None when its time is over or the job has to end.

        Time in which the machine was away is not the verb's: a paused machine is no slow config.
        """
        latest = ends_at
        while (rc := self.reap(pid)) is None:
            ends_at = latest + self.away_s
            due_at = min(ends_at, self.lease_ends_at, readings.tick() if readings else ends_at)
            now = time.monotonic()
            if now >= self.lease_ends_at:
                self.look_at_lease()
                continue
            if now >= ends_at or (self.is_killed and not is_shielded):
                return None
            self.listen(max(0.0, due_at - now))
        return rc

    def look_at_lease(self) -> None:
        """Read the lease again, now that the one on record is over; the job ends when nobody has renewed it."""
        self.lease_ends_at = leasing.ends_at(self.job)
        if time.monotonic() >= self.lease_ends_at:
            self.is_killed, self.lease_ends_at = True, float("inf")
            self.why_killed = "its lease ended: nobody watched it any more"

    def listen(self, within_s: float) -> None:
        """Sleep until a child ends, somebody wants the job to end, or the time is over; note if it took far longer."""
        due_at = time.monotonic() + within_s
        heard = signal.sigtimedwait(WATCHED, within_s)
        late_s = time.monotonic() - due_at
        self.away_s += late_s if late_s > AWAY_S else 0.0
        if heard and heard.si_signo == signal.SIGTERM:
            self.is_killed = True

    def reap(self, pid: int) -> int | None:
        """Collect every child that has ended, adopted ones too, and return the code of one of them."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self.ended[ended[0]] = os.waitstatus_to_exitcode(ended[1])
        return self.ended.get(pid)

    def end_group(self, pid: int) -> int:
        """End a verb's whole group: TERM, a grace, KILL; return the verb's code."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGTERM)
            for probe, grace_s in ((0, self.grace_s), (signal.SIGKILL, KILL_WITHIN_S)):
                ends_at = time.monotonic() + grace_s
                while time.monotonic() < ends_at:
                    self.reap(pid)
                    os.killpg(pid, probe)
                    self.listen(0.05)
        return self.ended.get(pid, -signal.SIGKILL)

    def clean(self) -> list[str]:
        """Kill what outlived `stop` and return it: empty when the benchmark keeps its promise."""
        killed = process.kill_belonging(f"ALBACORE_JOB_DIR={self.job}", self.children, os.getpid())
        self.reap(0)
        return killed

    def finish(self, result: dict) -> None:
        """Write the result, the last thing a job does."""
        if self.is_killed or any(step["rc"] or step["timed_out"] for step in self.steps):
            result["server_log_tail"] = tail(f"{self.job}/server.log")
        result.update(steps=self.steps, killed=self.is_killed, why_killed=self.why_killed, ended_at=time.time())
        put_json(f"{self.job}/result.json", result, is_durable=True)


def is_healthy(job: str, spec: dict, result: dict) -> bool:
    """Let the canary sing where it is asked for, put what it sang into the result, and say whether to go on."""
    bounds = spec.get("canary")
    if bounds is None:
        return True
    most = {name: float(bound["most"]) for name, bound in bounds.items()}
    result["canary"] = {**canary.check(job, most), "bounds": bounds}
    return not result["canary"]["out"]


def supervise(home: str, job: str, spec: dict) -> None:
    """Run a whole job; any error becomes part of the result, because nobody else would hear of it."""
    from pathlib import Path  # here, because the agent's short commands do without

    import folder

    process.adopt_orphans()
    supervisor = Supervisor(home, job, spec)
    result = {"started_at": time.time(), "load_before": os.getloadavg()}
    try:
        result["digest"] = folder.digest(Path(supervisor.system))
        if is_healthy(job, spec, result):
            supervisor.work()
    except Exception as error:  # noqa: BLE001 -- the boundary of the job: what is not in the result is lost
        result["error"] = repr(error)
    result["leftovers"] = supervisor.clean()
    supervisor.finish(result)
