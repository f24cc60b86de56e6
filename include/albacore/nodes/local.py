"""Local nodes: a directory and ten ports each, on this machine.

Several of them share the machine, so only one sample at a time may run per host slot; that is the leases' business, not
theirs. As root, verbs run as root and the system under tune as an unprivileged uid of the node's own; otherwise
everything runs as the caller.

Directories: as root the parents are 0711 and the node's directory is root's, with the uid's group, 1770: the uid can
pass through and make files there, but cannot replace the agent, which runs as root. Otherwise all are 0700.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from albacore.errors import NodeError, UserError
from albacore.nodes import PORTS_PER_NODE, Result, check_name, relative_path
from albacore.nodes.facts import facts
from albacore.nodes.job import AGENT

# The kernel's limit is 107 bytes for a socket's path; 30 are left for what a system appends to the node's directory.
MAX_DIRECTORY_BYTES = 70
# systemd keeps this range for users that exist for a while only, so no account has one of these numbers.
FIRST_UID, UIDS = 61184, 4336
SWEEP_WITHIN_S = 300.0
PUBLIC_ROOT = Path("/var/tmp")  # noqa: S108 -- what is below is checked to be ours


def state_root(home: Path, environ: Mapping[str, str] | None = None) -> Path:
    """Return `${XDG_STATE_HOME or /var/tmp}/albacore-<uid>/<first 8 hex digits of home's digest>`; nothing is made.

    As root, an XDG_STATE_HOME that other users cannot reach (inside a 0700 home) is passed over for /var/tmp, because
    the system under tune runs as another uid there.

    Args:
        home: The clone or AIRFLOW_HOME that the nodes belong to.
        environ: Instead of the process's own environment.
    """
    uid = os.geteuid()
    wanted = (os.environ if environ is None else environ).get("XDG_STATE_HOME", "")
    base = Path(wanted) if wanted.startswith("/") else PUBLIC_ROOT
    if uid == 0 and not _is_reachable(base):
        base = PUBLIC_ROOT
    return base / f"albacore-{uid}" / hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:8]


def _is_reachable(path: Path) -> bool:
    """Say whether every user may pass through all of a path that exists."""
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents) if folder.exists())


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNode:
    """A directory on this machine that stands for a machine.

    Attributes:
        directory: The node's directory; made at the first use.
        shared: The directory that all nodes of one owner are below; it and what is between are made passable, nothing
            above.
        port: The first of ten consecutive ports.
        uid: The uid and gid of the system under tune; None unless the caller is root.
        seed: Differs between nodes.
    """

    name: str
    directory: Path
    shared: Path
    port: int
    uid: int | None
    seed: int
    host: str = "localhost"

    @property
    def python(self) -> str:
        """The interpreter that runs this program."""
        return sys.executable

    def make(self) -> None:
        """Make the directory with its modes and the file that tells the agent which node it is; idempotent.

        Raises:
            NodeError: When it cannot be made, or belongs to another user.
        """
        try:
            for folder in self._parents():
                folder.mkdir(parents=True, exist_ok=True)
                self._own(folder, 0o711 if self.uid is not None else 0o700)
            (self.directory / "agent").mkdir(parents=True, exist_ok=True)
            self._own(self.directory, 0o1770 if self.uid is not None else 0o700)
            if self.uid is not None:
                os.chown(self.directory, 0, self.uid)
        except OSError as error:
            raise NodeError(
                f"node {self.name}: cannot make {self.directory}: {error}. Free or choose another place."
            ) from error
        about = {"name": self.name, "port": self.port, "uid": self.uid, "seed": self.seed}
        self._write(self.directory / "agent" / "node.json", json.dumps(about).encode(), 0o644)

    def _parents(self) -> list[Path]:
        """Return the directories from the shared one down to the node's parent."""
        between = [self.shared, *(p for p in reversed(self.directory.parents) if self.shared in p.parents)]
        return between

    def _own(self, folder: Path, mode: int) -> None:
        """Set a directory's mode; one that somebody else made first is not trusted."""
        if folder.stat().st_uid != os.geteuid():
            raise NodeError(f"{folder}: expected it to be ours, it belongs to uid {folder.stat().st_uid}. Remove it.")
        folder.chmod(mode)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30) -> Result:
        """See `Node.run`."""
        self._ensure()
        begun = time.monotonic()
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.directory,
                env=self._environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise NodeError(f"node {self.name}: cannot run {argv[0]!r}: {error}.", node=self.name) from error
        out, err = self._communicate(process, argv, stdin, timeout_s)
        return Result(
            argv=tuple(argv),
            returncode=process.returncode,
            stdout=out.decode(errors="replace"),
            stderr=err.decode(errors="replace"),
            wall_s=time.monotonic() - begun,
        )

    def _communicate(
        self, process: subprocess.Popen[bytes], argv: Sequence[str], stdin: bytes, timeout_s: float
    ) -> tuple[bytes, bytes]:
        """Return what a command said; one that takes too long is killed with its group."""
        try:
            return process.communicate(stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            said = f"node {self.name}: expected {argv[0]!r} to end within {timeout_s:g} s. It was killed."
            raise NodeError(said, node=self.name, argv=tuple(argv)) from error

    def _environment(self) -> dict[str, str]:
        """Return a clean environment: what Airflow or the user has in theirs is nobody's business on a node."""
        path = f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        return {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": str(self.directory)}

    def _ensure(self) -> None:
        """Make the directory when it is not there."""
        if not (self.directory / "agent" / "node.json").exists():
            self.make()

    def put(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """See `Node.put`."""
        target = self.directory / relative_path(path)
        self._ensure()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._write(target, content, 0o755 if executable else 0o644)
        except OSError as error:
            raise NodeError(f"node {self.name}: cannot write {target}: {error}.", node=self.name) from error

    def _write(self, target: Path, content: bytes, mode: int) -> None:
        """Replace a file in one step."""
        fresh = target.with_name(f".{target.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(fresh, flags, 0o600), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        fresh.replace(target)

    def get(self, path: str, *, max_bytes: int = 8_000_000) -> bytes | None:
        """See `Node.get`."""
        source = self.directory / relative_path(path)
        try:
            with source.open("rb") as file:
                content = file.read(max_bytes + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise NodeError(f"node {self.name}: cannot read {source}: {error}.", node=self.name) from error
        if len(content) > max_bytes:
            raise NodeError(f"node {self.name}: {source} is larger than {max_bytes} bytes.", node=self.name)
        return content

    def facts(self) -> Mapping[str, Any]:
        """See `Node.facts`. All local nodes have the same, because they are one machine."""
        self._ensure()
        return facts(str(self.directory))


def local_nodes(root: Path, deployment: str, names: Sequence[str], first_port: int) -> tuple[LocalNode, ...]:
    """Return the nodes `<root>/<deployment>/<name>`; nothing is made or checked on disk.

    Ports, uids and seeds follow from the arguments: pass all names of a deployment in one call and in the same order
    every time.

    Args:
        root: What `state_root` returns: its parent is made passable by the nodes as well.
        deployment: Names the fleet; "" puts the nodes right below the root.
        names: All names of the fleet.
        first_port: The first node's first port; each has ten.

    Raises:
        UserError: When a name is illegal or given twice, ports leave 1024-65535, or a socket path would be too long.
    """
    last_port = first_port + PORTS_PER_NODE * len(names) - 1
    if not 1024 <= first_port <= last_port <= 65535:
        raise UserError(f"local nodes: expected ports in 1024-65535, {len(names)} nodes need {first_port}-{last_port}.")
    if len(set(names)) != len(names):
        raise UserError(f"local nodes: expected each name once, got {', '.join(names)}. Rename some.")
    fleet = root / deployment
    first_uid = _number(str(fleet)) % (UIDS - len(names) if len(names) < UIDS else 1)
    return tuple(
        LocalNode(
            name=check_name(name),
            directory=_checked(fleet / name),
            shared=root.parent,
            port=first_port + PORTS_PER_NODE * index,
            uid=FIRST_UID + first_uid + index if os.geteuid() == 0 else None,
            seed=_number(f"{deployment}/{name}") % 2**31,
        )
        for index, name in enumerate(names)
    )


def _number(text: str) -> int:
    """Return a number that depends on a text alone, unlike `hash`."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _checked(directory: Path) -> Path:
    """Return a node's directory when the sockets of a system fit below it."""
    length = len(os.fsencode(directory))
    if length > MAX_DIRECTORY_BYTES:
        raise UserError(
            f"node directory {directory}: expected at most {MAX_DIRECTORY_BYTES} bytes, "
            f"because a socket's path has to fit below it; got {length}. Set XDG_STATE_HOME to "
            "a shorter path, or shorten the names.",
            directory=directory,
        )
    return directory


def stop_all(root: Path) -> tuple[str, ...]:
    """End every job and every server of all nodes below a root, and return one line for each thing that was ended.

    Only processes that a node's own files or its environment name are ended. Nodes that were never prepared are passed
    over.
    """
    ended: list[str] = []
    for agent in sorted({*root.glob(f"*/{AGENT}"), *root.glob(f"*/*/{AGENT}")}):
        home = agent.parents[1]
        swept = _sweep(home)
        ended += [f"{home.name}: {what}" for key in ("ended", "leftovers") for what in swept.get(key, [])]
        if "error" in swept:
            ended.append(f"{home.name}: cannot be stopped: {swept['error']}")
    return tuple(ended)


def _sweep(home: Path) -> Mapping[str, Any]:
    """Run a node's agent to end everything, whoever made the node, and return its answer."""
    argv = [sys.executable, "-E", "-s", AGENT, "sweep"]
    clean = {"LC_ALL": "C.UTF-8"}
    try:
        said = subprocess.run(argv, cwd=home, env=clean, capture_output=True, check=False, timeout=SWEEP_WITHIN_S)
    except (subprocess.TimeoutExpired, OSError) as error:
        return {"error": str(error)}
    try:
        return json.loads(said.stdout)
    except ValueError:
        return {"error": said.stderr.decode(errors="replace").strip()[-300:]}
