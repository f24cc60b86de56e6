"""Start Airflow and wait until it is healthy, or leave nothing running."""

import os
import shutil
import socket
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from albacore_ops import credential, down, health, process, rest, supervision
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError

FREE_BYTES = 500 * 1024**2
START_TIMEOUT_S = 300.0
PROGRESS_EVERY_S = 5.0


def run(layout: Layout) -> Layout:
    """Start what does not run yet; return the layout with the port that is in use.

    Raises:
        RefusalError: It cannot be started; nothing of ours is left running.
    """
    running = supervision.recall(layout)
    if running is not None:
        layout = replace(layout, port=running.port)
        wait_healthy(layout)
        print(f"albacore: Airflow already runs: {layout.url}", flush=True)
        return layout
    check(layout)
    started = time.monotonic()
    try:
        prepare(layout)
        start(layout)
        wait_healthy(layout)
    except BaseException:
        down.stop(layout, quiet=True)
        raise
    print(f"albacore: Airflow is up after {time.monotonic() - started:.0f} s: {layout.url}", flush=True)
    return layout


def check(layout: Layout) -> None:
    """Refuse a start that could not succeed; end what a supervisor that was killed has left behind."""
    left = process.marked(layout.root)
    if left:
        print(f"albacore: ending {len(left)} processes of a supervisor that is gone", flush=True)
        process.end(left, grace_s=10.0)
    free = shutil.disk_usage(layout.root).free
    if free < FREE_BYTES:
        raise RefusalError(
            f"{free / 1024**2:.0f} MB free on the disk of {layout.root}, {FREE_BYTES / 1024**2:.0f} MB needed: "
            "free some space, then run the same again"
        )
    check_port(layout.port)


def check_port(port: int) -> None:
    """Refuse a port that somebody else listens on."""
    with socket.socket() as probe:
        # As servers do: a port in TIME_WAIT is free, one that somebody listens on is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise RefusalError(
                f"port {port} on 127.0.0.1 is busy: stop what uses it, or choose another, "
                f"e.g. make up ALBACORE_PORT={port + 1}"
            ) from error


def prepare(layout: Layout) -> None:
    """Make folders, secrets and the database."""
    layout.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    layout.state.chmod(0o700)
    credential.ensure(layout)
    migrate(layout)


def migrate(layout: Layout) -> None:
    """Bring Airflow's database to the installed version, when it is not there yet."""
    pins = (layout.root / "requirements.txt").read_text().splitlines()
    wanted = next(line for line in pins if line.startswith("apache-airflow=="))
    stamp = layout.state / "migrated"
    if layout.database.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    print("albacore: preparing Airflow's database", flush=True)
    log = layout.logs / "migrate.log"
    command = [str(layout.python), "-P", "-m", "airflow", "db", "migrate"]
    with log.open("w") as file:
        code = subprocess.run(
            command,
            cwd=layout.root,
            env=layout.environment(os.environ),
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    if code != 0:
        last = (log.read_text().strip().splitlines() or ["no output"])[-1]
        raise RefusalError(f"airflow db migrate failed: {last} (all of it: {log})")
    stamp.write_text(wanted)


def start(layout: Layout) -> None:
    """Start the supervisor; it starts the rest."""
    supervision.make_socket_folder(layout.socket)
    layout.supervisor_config.write_text(supervision.configuration(layout, is_root=os.getuid() == 0))
    pid_file = layout.state / "supervisord.pid"
    pid_file.unlink(missing_ok=True)
    done = subprocess.run(
        [str(layout.python), "-P", "-m", "supervisor.supervisord", "-c", str(layout.supervisor_config)],
        cwd=layout.root,
        env=layout.environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    pid = _read_pid(pid_file)
    if done.returncode != 0 or pid is None:
        said = (done.stdout + done.stderr).strip().splitlines() or [f"see {layout.logs / 'supervisord.log'}"]
        raise RefusalError(f"the supervisor did not start: {said[-1]}")
    supervision.remember(layout, pid)


def _read_pid(pid_file: Path) -> int | None:
    """Return the pid in a file, waiting up to ten seconds for a daemon to write it."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            return int(pid_file.read_text())
        except (OSError, ValueError):
            time.sleep(0.1)
    return None


def wait_healthy(layout: Layout) -> None:
    """Wait until Airflow says that every component is healthy, telling which are not.

    Raises:
        RefusalError: It took too long, or the supervisor has ended.
    """
    deadline, told = time.monotonic() + START_TIMEOUT_S, time.monotonic()
    while missing := unhealthy_components(layout):
        now = time.monotonic()
        if supervision.recall(layout) is None:
            raise RefusalError(f"the supervisor ended: see {layout.logs / 'supervisord.log'}")
        if now > deadline:
            names = ", ".join(missing)
            raise RefusalError(f"not healthy after {START_TIMEOUT_S:.0f} s: {names}; see the logs in {layout.logs}")
        if now - told >= PROGRESS_EVERY_S:
            told = now
            print(f"albacore: waiting for {', '.join(missing)}", flush=True)
        time.sleep(0.3)


def unhealthy_components(layout: Layout) -> list[str]:
    """Return what is not healthy now; the API server when there is no answer."""
    try:
        return health.unhealthy(rest.request("GET", layout.url + "/api/v2/monitor/health", timeout_s=5.0))
    except (OSError, rest.ApiError, ValueError):
        return ["api-server"]
