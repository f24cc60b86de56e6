"""The node's agent: starts, watches and ends detached jobs, one short command at a time.

    python agent.py start|poll|renew|kill|forget JOB      (start reads the job's spec from standard input)
    python agent.py sweep | facts | ports | unpack SYSTEM

Answers with one JSON object on standard output; `{"error": …, "blame": "node" | "platform"}` and exit code 1 when it
cannot. The node's directory is the parent of the agent's; `node.json` beside this file says {"name", "port", "uid",
"seed"}.

It is copied to the node with the modules it imports, runs on any Python >= 3.11 on Linux, and imports nothing of
Albacore.
"""

# Loading pathlib takes longer than most commands:

import contextlib
import fcntl
import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator

import leasing
import process
from job_files import get_json, own_directory, put_json
from supervision import Supervisor, supervise

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JOBS = f"{HOME}/jobs"
JOB_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
START_LIMIT_S = 10.0
PORTS = 10
STOP_ONLY = {"workload": "", "verbs": [], "timeouts_s": {"stop": 30}, "term_grace_s": 5.0}


class RefusalError(Exception):
    """Carry an error to the caller, and who is to blame for it."""

    def __init__(self, message: str, blame: str = "platform", **facts: object) -> None:
        super().__init__(message)
        self.answer = {"error": message, "blame": blame, **facts}


def job_directory(job_id: str) -> str:
    """Return a job's directory, its id checked."""
    if not JOB_ID.fullmatch(job_id):
        raise RefusalError(f"job id: expected {JOB_ID.pattern}, got {job_id!r}")
    return f"{JOBS}/{job_id}"


def poll(job: str) -> dict:
    """Say where a job is: starting, running, done, lost or unknown."""
    if os.path.exists(f"{job}/result.json"):
        return {"state": "done"}
    who = get_json(f"{job}/proc.json")
    if who is None:
        return _before_supervisor(job)
    if process.is_alive(who):
        children = get_json(f"{job}/children.json", [])
        return {"state": "running", "detail": children[-1]["verb"] if children else ""}
    if os.path.exists(f"{job}/result.json"):  # written between the two looks
        return {"state": "done"}
    return {"state": "lost", "detail": "rebooted" if who["boot"] != process.boot_id() else "supervisor died"}


def renew(job: str) -> dict:
    """Say where a job is, and let one that runs go on: somebody watches it."""
    state = poll(job)
    if state["state"] in ("starting", "running"):
        leasing.renew(job)
    return state


def _before_supervisor(job: str) -> dict:
    """Say where a job is that has no supervisor on record: one that is too old will never have any."""
    spec = f"{job}/spec.json"
    try:
        age_s = time.time() - os.stat(spec if os.path.exists(spec) else job).st_mtime
    except FileNotFoundError:
        return {"state": "unknown"}
    return {"state": "starting"} if age_s < START_LIMIT_S else {"state": "lost", "detail": "never started"}


def start(job: str, spec: dict) -> dict:
    """Start a job unless its id exists; the directory is the lock, so it happens once."""
    with _node_lock():
        _raise_epoch(int(spec.get("epoch", 0)))
        own_directory(JOBS, _uid())
        own_directory(f"{HOME}/tmp", _uid())  # noqa: S108 -- below the node's own directory
        try:
            os.mkdir(job)
        except FileExistsError:
            return {**renew(job), "resumed": True}
        own_directory(job, _uid())
        for name, content in (("spec", spec), ("config", spec["config"]), ("params", spec["params"])):
            put_json(f"{job}/{name}.json", content)
            os.chmod(f"{job}/{name}.json", 0o644)
        if spec.get("lease_s"):
            leasing.grant(job, float(spec["lease_s"]))
    _detach(job, spec)
    return poll(job)


@contextlib.contextmanager
def _node_lock() -> Iterator[None]:
    """Let one command at a time start jobs or raise the epoch."""
    with open(f"{HOME}/agent/lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _raise_epoch(epoch: int) -> None:
    """Refuse an epoch lower than one seen; at a higher one, end the jobs of lower ones first."""
    seen = get_json(f"{HOME}/agent/epoch", 0)
    if epoch < seen:
        raise RefusalError(
            f"epoch {epoch} is over: this node has seen {seen}. Another controller owns it now", epoch=seen
        )
    if epoch > seen:
        for job in _unfinished():
            if get_json(f"{job}/spec.json", {}).get("epoch", 0) < epoch:
                kill(job)
        put_json(f"{HOME}/agent/epoch", epoch, is_durable=True)


def _unfinished() -> list[str]:
    """Return the directories of jobs that have no result."""
    names = os.listdir(JOBS) if os.path.isdir(JOBS) else []
    return [f"{JOBS}/{name}" for name in sorted(names) if not os.path.exists(f"{JOBS}/{name}/result.json")]


def _uid() -> int | None:
    """Return the uid of the system under tune; None when it is our own."""
    return get_json(f"{HOME}/agent/node.json", {}).get("uid")


def _detach(job: str, spec: dict) -> None:
    """Start the supervisor as nobody's child, and return when it is on record."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        os.read(reader, 1)
        os.waitpid(child, 0)
        return
    os.close(reader)
    os.setsid()
    if os.fork():
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # an open stream would keep the caller's connection waiting
        os.dup2(nowhere, stream)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.chdir(job)
        put_json(f"{job}/proc.json", process.identity(os.getpid()))
        os.close(writer)
        supervise(HOME, job, spec)
    finally:
        os._exit(0)


def kill(job: str) -> dict:
    """End a job with everything it started; a lost one is cleaned up and gets a result that says so."""
    if poll(job)["state"] in ("done", "unknown"):
        return poll(job)
    spec = get_json(f"{job}/spec.json", {})
    with open(f"{job}/killed", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two kills of a lost job do not clean up at once
        _end_supervisor(job, spec)
        if poll(job)["state"] != "done":
            _clean_up_lost(job, spec)
    return poll(job)


def _end_supervisor(job: str, spec: dict) -> None:
    """Tell a live supervisor to end its job and wait for the result; one that does not obey is killed."""
    limit_s = float(spec.get("timeouts_s", {}).get("stop", 30)) + 25
    ends_at, is_told = time.monotonic() + limit_s, False
    while (state := poll(job)["state"]) in ("starting", "running") and time.monotonic() < ends_at:
        if state == "running" and not is_told:
            process.send(get_json(f"{job}/proc.json"), signal.SIGTERM)
            is_told = True
        time.sleep(0.02)
    if state == "running":
        process.send(get_json(f"{job}/proc.json"), signal.SIGKILL)


def _clean_up_lost(job: str, spec: dict) -> None:
    """End what a dead supervisor left, run `stop`, and write the result that it owes."""
    why = poll(job).get("detail", "")
    leaders = get_json(f"{job}/children.json", [])
    for who in leaders:
        if process.is_alive(who):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(who["pid"], signal.SIGKILL)
    worker = Supervisor(HOME, job, {**STOP_ONLY, **spec}) if "system" in spec else None
    if worker and os.path.exists(worker.verb_path("stop")):
        worker.step("stop", is_shielded=True)
        lost = {"lost": why, "leftovers": worker.clean(), "started_at": os.stat(f"{job}/spec.json").st_mtime}
        worker.is_killed = True
        worker.finish(lost)
    else:
        put_json(f"{job}/result.json", {"lost": why, "killed": True, "steps": []})


def forget(job: str) -> dict:
    """Delete a job's directory, unless it is still at work."""
    state = poll(job)
    if state["state"] in ("starting", "running"):
        return state
    _remove(job)
    return {"state": "unknown"}


def _remove(job: str) -> None:
    """Delete a job's directory."""
    import shutil

    shutil.rmtree(job, ignore_errors=True)


def sweep() -> dict:
    """End every job, stop every system, kill what is left of either, and say what that was."""
    ended = [os.path.basename(job) for job in _unfinished() if kill(job)["state"] == "done"]
    systems = f"{HOME}/benchmarks"
    for system in sorted(os.listdir(systems)) if os.path.isdir(systems) else []:
        if os.access(f"{systems}/{system}/stop", os.X_OK):
            _stop(system)
    return {"ended": ended, "leftovers": process.kill_belonging(f"ALBACORE_NODE_DIR={HOME}", [])}


def _stop(system: str) -> None:
    """Run a system's `stop` outside any job."""
    job = f"{JOBS}/.stop-{system}"
    own_directory(JOBS, _uid())
    own_directory(job, _uid())
    for name in ("config", "params"):
        put_json(f"{job}/{name}.json", {})
    worker = Supervisor(HOME, job, {"system": system, **STOP_ONLY})
    worker.step("stop", is_shielded=True)
    _remove(job)


def unpack(system: str, packed: bytes) -> dict:
    """Replace a benchmark folder by an archive's content, unless it has that content, and return its digest."""
    from pathlib import Path

    import folder

    if not re.fullmatch(r"[a-z][a-z0-9_-]*", system):
        raise RefusalError(f"system: expected a folder's name, got {system!r}")
    target = Path(HOME, "benchmarks", system)
    target.parent.mkdir(exist_ok=True)
    if packed:
        folder.unpack(packed, target)
    return {"digest": folder.digest(target) if target.is_dir() else ""}


def tell(command: str) -> dict:
    """Return the node's facts, or which of its ports are in use."""
    import facts

    node = get_json(f"{HOME}/agent/node.json", {})
    return facts.facts(HOME) if command == "facts" else {"busy": facts.busy_ports(int(node["port"]), PORTS)}


def answer(command: str, argument: str) -> dict:
    """Do one command."""
    if command == "sweep":
        return sweep()
    if command in ("facts", "ports"):
        return tell(command)
    if command == "unpack":
        return unpack(argument, sys.stdin.buffer.read())
    job = job_directory(argument)
    if command == "start":
        return start(job, json.load(sys.stdin))
    return {"poll": poll, "renew": renew, "kill": kill, "forget": forget}[command](job)


def main() -> int:
    """Answer the command line."""
    os.umask(0o022)
    try:
        said = answer(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    except RefusalError as refusal:
        said = refusal.answer
    except OSError as error:
        said = {"error": f"{error}", "blame": "node"}
    print(json.dumps(said))
    return 1 if "error" in said else 0


if __name__ == "__main__":
    sys.exit(main())
