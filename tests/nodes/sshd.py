"""A real sshd on loopback for tests, with host keys and a user key made per run; root is not needed."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from node_python import PYTHON
from nodes import places

from albacore.nodes.local import FIRST_UID
from albacore.nodes.ssh import SshNode
from albacore.nodes.ssh_link import Endpoint

CONFIG = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host_{kind}
PidFile none
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AllowTcpForwarding yes
MaxStartups 100
LogLevel ERROR
Subsystem sftp internal-sftp
"""


def program() -> str:
    """Return sshd's path; as root it is installed when it is missing."""
    search = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    if found := shutil.which("sshd", path=search):
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update"], check=False, timeout=300, **quiet)
        install = ["apt-get", "install", "-y", "--no-install-recommends", "openssh-server"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(install, check=False, timeout=300, env=environment, **quiet)
    if found := shutil.which("sshd", path=search):
        return found
    pytest.fail("no sshd on this machine: install openssh-server")


def make_key(path: Path, kind: str = "ed25519") -> Path:
    """Make a key pair and return the private half's path."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(path)], check=True, stdin=subprocess.DEVNULL)
    return path


@dataclass(slots=True, kw_only=True)
class SshServer:
    """An sshd that can be stopped, killed and started again on the same port.

    Attributes:
        prefix: What its command line begins with, such as `ip netns exec NAME`.
    """

    folder: Path
    port: int
    kind: str = "ed25519"
    address: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()
    process: subprocess.Popen | None = field(default=None, repr=False)

    @property
    def key(self) -> Path:
        """The private key that may log in."""
        return self.folder / "user_key"

    @property
    def host_key(self) -> str:
        """The public host key, to be pinned."""
        return " ".join((self.folder / f"host_{self.kind}.pub").read_text().split()[:2])

    def start(self) -> None:
        """Start, and wait until it listens."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        arguments = [*self.prefix, program(), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        ends_at = time.monotonic() + 10
        while True:
            with socket.socket() as probe:
                probe.settimeout(1.0)
                if probe.connect_ex((self.address, self.port)) == 0:
                    return
            assert self.process.poll() is None and time.monotonic() < ends_at, (self.folder / "log").read_text()
            time.sleep(0.02)

    def kill(self) -> None:
        """End it with every session, as a machine that is switched off does."""
        if self.process is not None:
            for pid in [*self.sessions(), self.process.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait(10)
            self.process = None

    def sessions(self) -> list[int]:
        """Return the pids of the processes of sshd that serve a connection."""
        assert self.process is not None
        found, parents = [], {self.process.pid}
        for _ in range(2):  # with privilege separation, a session is a child's child
            parents = {pid for pid in _all_pids() if _parent(pid) in parents and "sshd" in _command(pid)}
            found += sorted(parents)
        return found

    def endpoint(self, key: Path | None = None, host_key: str | None = None) -> Endpoint:
        """Return how this sshd is reached."""
        path = key or self.key
        return Endpoint(
            address=self.address,
            port=self.port,
            user=getpass.getuser(),
            host_key=host_key or self.host_key,
            key_name=f"key file {path}",
            key=path.read_text,
        )


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return 0


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_server(folder: Path, port: int, *, kind: str = "ed25519", **fields: Any) -> SshServer:
    """Return an sshd with keys of its own in a folder; it is not started."""
    made = SshServer(folder=folder, port=port, kind=kind, **fields)
    make_key(folder / f"host_{kind}", kind)
    make_key(folder / "user_key")
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    (folder / "sshd_config").write_text(CONFIG.format(port=port, folder=folder, kind=kind, address=made.address))
    return made


@contextlib.contextmanager
def server(kind: str = "ed25519") -> Iterator[SshServer]:
    """Give a running sshd; it is ended afterwards."""
    program()
    with tempfile.TemporaryDirectory(prefix="alb-sshd-") as place:
        made = make_server(Path(place), free_port(), kind=kind)
        made.start()
        try:
            yield made
        finally:
            made.kill()


def node(endpoint: Endpoint, directory: Path, name: str = "n1", **changed) -> SshNode:
    """Return a node of this machine behind an sshd."""
    fields = {
        "name": name,
        "host": "localhost",
        "python": PYTHON,
        "endpoint": endpoint,
        "directory": PurePosixPath(directory / name),
        "port": places.free_port(),  # of a row; an ephemeral one may be another connection's a moment later
        "uid": FIRST_UID if os.geteuid() == 0 else None,
        "seed": 1,
        "patience_s": 1.0,
    }
    return SshNode(**{**fields, **changed})
