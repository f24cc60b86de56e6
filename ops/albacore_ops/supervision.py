"""The supervisor's configuration, and the few questions asked of a running one.

supervisord restarts what dies: at once when it had run for `startsecs`, with a growing pause (1 s, 2 s, 3 s ...) when
it did not. It is reached through a socket in a folder that only its user can enter, never over TCP.
"""

import contextlib
import json
import os
import stat
import xmlrpc.client
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from albacore_ops import process
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError

# In the order in which they are started.
COMPONENTS = ("api-server", "dag-processor", "triggerer", "scheduler")
# A scheduler waits for its running tasks, which is longer than anybody wants; what it leaves is taken up at its next
# start.
STOP_S = 6

_HEAD = """\
; Written by `make up`; changes are lost.
[unix_http_server]
file={socket}
chmod=0600

[supervisord]
logfile={logs}/supervisord.log
logfile_maxbytes=5MB
logfile_backups=2
pidfile={state}/supervisord.pid
childlogdir={logs}
directory={root}
{user}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl=unix://{socket}
"""
# One group: supervisord stops groups one after the other, and the processes of a group at the same time.
_GROUP = """
[group:airflow]
programs={names}
"""
_PROGRAM = """
[program:{name}]
command="{python}" "{run}" launch {name}
priority={priority}
autostart=true
autorestart=true
startsecs=10
startretries=100
stopsignal=TERM
stopwaitsecs={stop_s}
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile={logs}/{name}.log
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=3
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Name a supervisor that was started: which process, and the port it was started for."""

    pid: int
    start_ticks: int
    port: int


def configuration(layout: Layout, *, is_root: bool) -> str:
    """Return supervisord's configuration file."""
    places = {"socket": layout.socket, "logs": layout.logs, "state": layout.state, "root": layout.root}
    # Running as root is the user's choice; naming the user says that it is known.
    head = _HEAD.format(**places, user="user=root\n" if is_root else "")
    programs = [
        _PROGRAM.format(
            name=name, python=layout.python, run=layout.run, logs=layout.logs, priority=number, stop_s=STOP_S
        )
        for number, name in enumerate(COMPONENTS, start=1)
    ]
    return head + _GROUP.format(names=",".join(COMPONENTS)) + "".join(programs)


def make_socket_folder(socket: Path) -> None:
    """Make the private folder of the socket.

    Raises:
        RefusalError: The folder exists and is not ours alone: in a shared /tmp somebody else could have made it.
    """
    with contextlib.suppress(FileExistsError):
        socket.parent.mkdir(mode=0o700)
    status = socket.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise RefusalError(f"{socket.parent} is not a private folder of this user: remove it, then run the same again")


def remember(layout: Layout, pid: int) -> None:
    """Write down which supervisor runs."""
    found = process.read(pid)
    if found is None:
        raise RefusalError(f"the supervisor ended at once: see {layout.logs / 'supervisord.log'}")
    running = Running(pid=pid, start_ticks=found.start_ticks, port=layout.port)
    layout.running.write_text(json.dumps(asdict(running)) + "\n")


def recall(layout: Layout) -> Running | None:
    """Return the supervisor that runs, None when there is none: the pid has to be the very process, with our mark."""
    try:
        running = Running(**json.loads(layout.running.read_text()))
    except (OSError, ValueError, TypeError):
        return None
    named = process.Process(pid=running.pid, start_ticks=running.start_ticks)
    return running if process.is_alive(named) and process.is_marked(running.pid, layout.root) else None


def states(layout: Layout) -> list[dict[str, Any]]:
    """Return name, state, pid and start time of every process, as the running supervisor says.

    Raises:
        OSError: The supervisor does not answer.
    """
    # The door to the supervisor's package: the only import of it, and only where .venv is known to be complete.
    from supervisor.xmlrpc import SupervisorTransport

    transport = SupervisorTransport(None, None, f"unix://{layout.socket}")
    server: Any = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)
    return sorted(server.supervisor.getAllProcessInfo(), key=lambda info: COMPONENTS.index(info["name"]))
