"""Nodes that are really elsewhere: a directory on a machine, reached over SSH.

No value ever passes a shell: the one command line is fixed but for the path of the node's Python, which is checked;
what to do comes as JSON on its standard input (`albacore.nodes.remote`), files travel over SFTP. When the login is
root, the system under tune runs as an unprivileged uid of the node's own, as on local nodes.
"""

import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from albacore.errors import NodeError
from albacore.nodes import Result, relative_path
from albacore.nodes.ssh_link import Endpoint, Link, link_to

T = TypeVar("T")
SAFE_PATH = re.compile(r"/[A-Za-z0-9._+-]+(/[A-Za-z0-9._+-]+)*")
"""Paths that need no quoting in any shell."""
MAX_DIRECTORY_BYTES = 70
"""The kernel's limit is 107 bytes for a socket's path; the rest is left for what a system appends."""
HERE = Path(__file__).parent
BOOT = "import sys;s=sys.stdin.buffer;exec(s.read(int(s.readline())))"
PROGRAM = (HERE / "remote.py").read_bytes()
TELL_FACTS = b"\nimport json, sys\nprint(json.dumps(facts(sys.argv[1])))\n"
SLACK_S = 15.0
"""What a command may take longer than its limit before the connection is given up: the node itself ends it in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SshNode:
    """A directory on a machine that is reached over SSH.

    Attributes:
        endpoint: The machine's sshd.
        bastion: The sshd that is passed on the way.
        directory: Absolute; made at the first use.
        port: The first of ten consecutive ports for the system under tune.
        uid: The uid and gid of the system under tune; None unless the login is root.
        seed: Differs between nodes.
        listen: The address on which its system has to answer.
        patience_s: How long a connection that cannot be made is tried again.
    """

    name: str
    host: str
    python: str
    endpoint: Endpoint
    bastion: Endpoint | None = None
    directory: PurePosixPath
    port: int
    uid: int | None
    seed: int
    listen: str = "127.0.0.1"
    patience_s: float = 30.0

    def __post_init__(self) -> None:
        for path in (self.python, str(self.directory)):
            if not SAFE_PATH.fullmatch(path) or ".." in path.split("/"):
                raise NodeError(f"node {self.name}: expected a path like {SAFE_PATH.pattern}, got {path!r}. Change it.")
        if (length := len(str(self.directory))) > MAX_DIRECTORY_BYTES:
            raise NodeError(
                f"node {self.name}: expected at most {MAX_DIRECTORY_BYTES} bytes of directory, because a socket's path "
                f"has to fit below it; {self.directory} has {length}. Shorten 'directory'."
            )

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30) -> Result:
        """See `Node.run`; not tried again when the connection dies, because the command may have begun."""
        begun = time.monotonic()
        ask = {"argv": list(argv), "timeout_s": timeout_s}
        said = self._with_link(lambda link: self._ask(link, ask, stdin, timeout_s), is_repeatable=False)
        return Result(
            argv=tuple(argv),
            returncode=said["returncode"],
            stdout=said["stdout"],
            stderr=said["stderr"],
            wall_s=time.monotonic() - begun,
        )

    def put(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """See `Node.put`."""
        target = str(self.directory / relative_path(path))
        mode = 0o755 if executable else 0o644
        self._with_link(lambda link: self._put(link, target, content, mode))

    def get(self, path: str, *, max_bytes: int = 8_000_000) -> bytes | None:
        """See `Node.get`; costs one packet each way when there is no file."""
        source = str(self.directory / relative_path(path))
        return self._with_link(lambda link: self._get(link, source, max_bytes))

    def facts(self) -> Mapping[str, Any]:
        """See `Node.facts`; works on a machine where nothing has been installed yet."""
        program = (HERE / "facts.py").read_bytes() + TELL_FACTS
        told = self.run([self.python, "-I", "-S", "-", str(self.directory)], stdin=program)
        if not told.is_ok:
            raise NodeError(f"node {self.name}: cannot tell its facts: {told.stderr.strip()[-300:]}.", node=self.name)
        return json.loads(told.stdout)

    def _with_link(self, act: Callable[[Link], T], *, is_repeatable: bool = True) -> T:
        """Do something over this process's connection; on a dead one, once more over a new one if that is harmless."""
        from paramiko import SSHException

        link = link_to(self.name, self.endpoint, self.bastion)
        with link.lock:
            for is_last in (False, True) if is_repeatable else (True,):
                link.open(self.patience_s)
                try:
                    return act(link)
                except (SSHException, OSError, EOFError) as error:
                    is_lost = not link.is_open or isinstance(error, TimeoutError)
                    if is_lost:
                        link.close()
                    if is_last or not is_lost:
                        said = "the SSH connection was lost" if is_lost else "failed"
                        raise NodeError(f"node {self.name}: {said}: {error or type(error).__name__}.") from error
        raise NodeError(f"node {self.name}: unreachable.")

    def _ask(self, link: Link, ask: Mapping[str, Any], stdin: bytes, timeout_s: float) -> dict[str, Any]:
        """Have the node do one thing, in a directory that has been made, and return its answer."""
        self._make(link)
        return self._exchange(link, ask, stdin, timeout_s)

    def _make(self, link: Link) -> None:
        """Make the directory, once per connection."""
        if str(self.directory) in link.made:
            return
        about = {"name": self.name, "port": self.port, "uid": self.uid, "seed": self.seed, "listen": self.listen}
        self._exchange(link, {"about": about}, b"", 30.0)
        link.made.add(str(self.directory))

    def _exchange(self, link: Link, ask: Mapping[str, Any], stdin: bytes, timeout_s: float) -> dict[str, Any]:
        """Send the program and the question, and return the answer."""
        question = json.dumps({**ask, "directory": str(self.directory)}).encode()
        sent = b"%d\n%s%d\n%s%s" % (len(PROGRAM), PROGRAM, len(question), question, stdin)
        code, out, err = link.execute(f"{self.python} -I -S -c '{BOOT}'", sent, timeout_s + SLACK_S)
        try:
            answer = json.loads(out)
        except ValueError as error:
            if code == -1:
                raise EOFError("it ended in the middle of a command") from error
            said = err.decode(errors="replace").strip()[-300:] or out.decode(errors="replace").strip()[-300:]
            raise NodeError(
                f"node {self.name}: expected {self.python} to be Python 3.11 or newer, got exit code {code}: {said}. "
                "Install one, or set 'python' in the inventory.",
                node=self.name,
            ) from error
        if "error" in answer:
            raise NodeError(f"node {self.name}: {answer['error']}", node=self.name)
        return answer

    def _put(self, link: Link, target: str, content: bytes, mode: int) -> None:
        """Replace a file in one step; its parents are made when they are missing."""
        self._make(link)
        folder, name = os.path.split(target)
        fresh = f"{folder}/.{name}.{os.getpid()}.{time.monotonic_ns()}"
        try:
            self._write(link, fresh, content, mode)
        except FileNotFoundError:
            self._make_parents(link, PurePosixPath(folder))
            self._write(link, fresh, content, mode)
        link.files.posix_rename(fresh, target)

    def _write(self, link: Link, fresh: str, content: bytes, mode: int) -> None:
        """Write a new file; a link that lies in its place is not followed. What cannot be written whole is removed."""
        with link.files.open(fresh, "wx") as file:
            try:
                file.set_pipelined(True)
                file.write(content)
                file.chmod(mode)
                file.close()  # waits for the answers to all packets
                written = link.files.stat(fresh).st_size
                if written != len(content):
                    raise OSError(errno.ENOSPC, f"{written} of {len(content)} bytes were written: is the disk full?")
            except OSError:
                if link.is_open:
                    link.files.remove(fresh)
                raise

    def _make_parents(self, link: Link, folder: PurePosixPath) -> None:
        """Make the directories between the node's own and a file."""
        for parent in reversed([folder, *folder.parents]):
            if self.directory in parent.parents:
                try:
                    link.files.mkdir(str(parent), 0o755)
                except OSError:
                    if not stat.S_ISDIR(link.files.stat(str(parent)).st_mode or 0):
                        raise

    def _get(self, link: Link, source: str, max_bytes: int) -> bytes | None:
        """Return a file's content; None when there is none."""
        try:
            with link.files.open(source, "r") as file:
                size, content = file.stat().st_size or 0, b""
                if size <= max_bytes:
                    file.prefetch(size)
                    content = file.read(max_bytes + 1)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            raise
        if size > max_bytes or len(content) > max_bytes:
            raise NodeError(f"node {self.name}: {source} is larger than {max_bytes} bytes.", node=self.name)
        return content
