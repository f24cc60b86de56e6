"""Machines for the faults: each with an address, an sshd and a small disk of its own.

As root on Linux each is a network namespace behind a bridge, and its disk is a tmpfs of 64 MB; otherwise each is a port
of loopback, and what needs the other way is done differently or not at all (`driver.py` says which).
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from node_python import PYTHON
from nodes import sshd

from albacore.nodes import process

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
DISK = "64m"


@dataclass(slots=True, kw_only=True)
class Machine:
    """A machine: its sshd, its disk, and its link if it has one.

    Attributes:
        link: The host's end of its cable; "" on loopback.
        clock: The file that says by how much the agent's clock is wrong; None where there is no libfaketime.
    """

    name: str
    server: sshd.SshServer
    disk: Path
    link: str = ""
    python: str = PYTHON
    clock: Path | None = None

    @property
    def home(self) -> Path:
        """The node's directory."""
        return self.disk / self.name

    def inventory(self) -> str:
        """Return the machine's entry in an inventory."""
        access = self.server.endpoint()
        return f"""
[[hosts]]
name = "{self.name}"
address = "{access.address}"
port = {access.port}
user = "{access.user}"
host_key = "{access.host_key}"
key_file = "{self.server.key}"
directory = "{self.disk}"
python = "{self.python}"
"""

    def set_clock(self, by_s: int) -> None:
        """Let the agent's clocks jump."""
        assert self.clock is not None
        self.clock.write_text(f"{by_s:+d}\n")

    def cut(self, *, off: bool) -> None:
        """Take the link down or up; without one, stop the sshd with its sessions, or let them go on."""
        if self.link:
            _ip("link", "set", self.link, "down" if off else "up")
            return
        assert self.server.process is not None
        for pid in [*self.server.sessions(), self.server.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP if off else signal.SIGCONT)

    def fill_disk(self) -> Path:
        """Fill the disk to its last byte, and return what has to be removed again."""
        filler = self.disk / "filler"
        with filler.open("wb", buffering=0) as file:
            for block in (1 << 20, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(block)):
                        pass
        return filler

    def unfinished(self) -> list[Path]:
        """Return the directories of the jobs that have no result."""
        return [job for job in self.home.glob("jobs/[a-z0-9]*") if not (job / "result.json").exists()]

    def agents(self) -> list[dict]:
        """Return the supervisors of the jobs that run."""
        found = []
        for job in self.unfinished():
            with contextlib.suppress(OSError, ValueError):
                found.append(json.loads((job / "proc.json").read_text()))
        return [who for who in found if process.is_alive(who)]

    def processes(self) -> set[int]:
        """Return the pids of everything that runs for the node, the agents included."""
        entry = f"ALBACORE_NODE_DIR={self.home}"
        return process.belonging(entry, []) | {who["pid"] for who in self.agents()}

    def reboot(self) -> None:
        """Do what a power cut and a start do: everything is gone at once, and the boot has another id."""
        self.server.kill()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for job in self.unfinished():
            with contextlib.suppress(OSError, ValueError):
                who = json.loads((job / "proc.json").read_text())
                (job / "proc.json").write_text(json.dumps({**who, "boot": str(uuid.uuid4())}))


def has_namespaces() -> bool:
    """Whether this machine gives out network namespaces."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    name = f"albtry{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode == 0
    if made:
        _ip("netns", "del", name)
    return made


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextlib.contextmanager
def fleet(count: int) -> Iterator[list[Machine]]:
    """Give machines w1, w2 …; everything is taken down afterwards."""
    sshd.program()
    with contextlib.ExitStack() as stack:
        place = Path(tempfile.mkdtemp(prefix="albf-", dir="/var/tmp"))
        place.chmod(0o711)
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        bridge = stack.enter_context(_bridge()) if has_namespaces() else None
        made = []
        for i in range(1, count + 1):
            folder, disk = place / f"s{i}", place / f"d{i}"
            folder.mkdir()
            disk.mkdir()
            disk.chmod(0o711)
            fields = stack.enter_context(_behind(bridge, i, disk)) if bridge else {}
            link = fields.pop("link", "")
            server = sshd.make_server(folder, 22 if bridge else sshd.free_port(), **fields)
            machine = Machine(name=f"w{i}", server=server, disk=disk, link=link)
            stack.callback(server.kill)
            server.start()
            made.append(machine)
        _give_a_wrong_clock(made[0], place)
        yield made


@contextlib.contextmanager
def _bridge() -> Iterator[str]:
    """Give a bridge with an address; its network is one that nobody else on the machine is likely to use."""
    name = f"albf{os.getpid() % 10000}"
    _ip("link", "add", name, "type", "bridge")
    try:
        _ip("addr", "add", f"{_network()}.1/24", "dev", name)
        _ip("link", "set", name, "up")
        yield name
    finally:
        _ip("link", "del", name)


def _network() -> str:
    return f"10.231.{os.getpid() % 250}"


@contextlib.contextmanager
def _behind(bridge: str, i: int, disk: Path) -> Iterator[dict]:
    """Give a namespace behind the bridge and a disk of its own, as what an sshd in it needs."""
    space, link = f"{bridge}n{i}", f"{bridge}v{i}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0711", "tmpfs", str(disk)], check=True)
    _ip("netns", "add", space)
    try:
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", link, "master", bridge)
        _ip("link", "set", link, "up")
        for words in (("addr", "add", f"{_network()}.{10 + i}/24", "dev", "eth0"), ("link", "set", "eth0", "up")):
            _ip("-n", space, *words)
        _ip("-n", space, "link", "set", "lo", "up")
        yield {"address": f"{_network()}.{10 + i}", "prefix": ("ip", "netns", "exec", space), "link": link}
    finally:
        _ip("netns", "del", space)
        subprocess.run(["umount", "-l", str(disk)], check=False)


def faketime() -> Path | None:
    """Return the library that makes clocks lie; where there is none, root installs it, and others do without."""
    if not FAKETIME.exists() and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=True, capture_output=True, timeout=300)
        subprocess.run(["apt-get", "install", "-y", "-qq", "faketime"], check=True, capture_output=True, timeout=300)
    return FAKETIME if FAKETIME.exists() else None


def _give_a_wrong_clock(machine: Machine, place: Path) -> None:
    """Let a machine's agent read its clocks from libfaketime, right at first; nothing where there is none.

    The monotonic clock jumps with the wall clock, which no real one does: without it libfaketime 0.9.10 breaks `sleep`
    of Python 3.11 (clock_nanosleep gives EINVAL).
    """
    if (library := faketime()) is None:
        return
    machine.clock = place / "clock"
    machine.clock.write_text("+0\n")
    wrapper = place / "python"
    wrapper.write_text(
        f"#!/bin/sh\nexport LD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={machine.clock} FAKETIME_NO_CACHE=1 "
        "FAKETIME_DISABLE_SHM=1\n"
        f'exec {PYTHON} "$@"\n'
    )
    wrapper.chmod(0o755)
    machine.python = str(wrapper)
