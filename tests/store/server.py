"""A real PostgreSQL out of the pgserver wheel for tests of the store: on loopback, as an unprivileged uid if root."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

UID = 65534
"""`nobody`: PostgreSQL refuses to be root, and initdb to be a uid without a name."""


def _programs() -> Path:
    """Return the folder of the wheel's binaries; the wheel itself is not imported, because it starts threads."""
    spec = find_spec("pgserver")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "pginstall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that runs: its database's URL, its port, and the way to do something to it."""

    url: str
    port: int
    ctl: Callable[..., None]
    options: str

    def start(self) -> None:
        """Start it after a stop."""
        self.ctl("-o", self.options, "start")

    def restart(self) -> None:
        """Have it crash as by a power cut, and start again."""
        self.ctl("-m", "immediate", "restart")


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Give the URL of an empty database; the server is stopped afterwards."""
    with running() as server:
        yield server.url


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Give a server with an empty database; it is stopped afterwards."""
    who = {"user": UID, "group": UID, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="alb-pg-", dir="/var/tmp") as place, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        # A copy, because the uid may not be able to pass through to the environment; of the same layout, for RPATH.
        bins = Path(place, "pgserver", "pginstall")
        shutil.copytree(_programs(), bins, symlinks=True)
        libraries = _programs().parents[1] / "pgserver.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, Path(place, "pgserver.libs"))
        data = Path(place, "data")
        data.mkdir()
        if who:
            Path(place).chmod(0o755)
            os.chown(data, UID, UID)
        quiet = {"check": True, "cwd": place, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **who}
        subprocess.run([bins / "bin/initdb", "-D", data, "-U", "albacore", "-A", "trust", "-N"], **quiet)
        options = f"-p {port} -k {data} -c listen_addresses=127.0.0.1 -c fsync=off"

        def ctl(*arguments: str) -> None:
            subprocess.run([bins / "bin/pg_ctl", "-D", data, "-w", "-l", data / "log", *arguments], **quiet)

        ctl("-o", options, "start")
        try:
            yield Server(
                url=f"postgresql+psycopg2://albacore@127.0.0.1:{port}/postgres", port=port, ctl=ctl, options=options
            )
        finally:
            ctl("-m", "immediate", "stop")
