"""One connection of this process to one machine, on fabric: the only door to it.

Fabric accepts every host key that it does not know (`AutoAddPolicy` is hard-coded in 3.2); here the key is pinned
before the first packet, and any other one is refused, on the bastion too. What can heal is tried again; a wrong host
key and a refused login never are.
"""

import base64
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any

from albacore.errors import NodeError

if TYPE_CHECKING:
    from fabric import Connection
    from paramiko import PKey, SFTPClient, SSHClient

CONNECT_S = 10
KEEPALIVE_S = 15
ANSWER_S = 30.0
"""Without a packet for so long while a file travels, a connection is dead."""
IDLE_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An sshd, who it has to be, and who logs in.

    Attributes:
        host_key: The pinned public key, "ssh-ed25519 AAAA…".
        key_name: What the private key is called: a file or a connection; told in errors.
        key: Returns the private key's text; called only when a connection is made, so that nothing keeps the secret.
    """

    address: str
    port: int
    user: str
    host_key: str
    key_name: str
    key: Callable[[], str] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.user}@{self.address}:{self.port}"

    @property
    def known_as(self) -> str:
        """The name under which host keys of this sshd are looked up."""
        return self.address if self.port == 22 else f"[{self.address}]:{self.port}"


class Link:
    """A connection that is opened when it is needed, and opened again when it has died."""

    def __init__(self, node: str, endpoint: Endpoint, bastion: Endpoint | None) -> None:
        self.node, self.endpoint, self.bastion = node, endpoint, bastion
        self.lock = threading.RLock()
        self.used_at = time.monotonic()
        self.made: set[str] = set()
        self._connection: Connection | None = None
        self._sftp: SFTPClient | None = None

    @property
    def is_open(self) -> bool:
        """Whether the connection has been made and has not died, as far as this end knows."""
        return self._connection is not None and self._connection.is_connected

    def open(self, patience_s: float) -> None:
        """Connect unless connected; try again for `patience_s` what can heal.

        Raises:
            NodeError: When the host key is another one or the login is refused (at once), or nobody answers in time.
        """
        from paramiko import AuthenticationException, BadHostKeyException, SSHException

        self.used_at = time.monotonic()
        ends_at, pause_s = time.monotonic() + patience_s, 0.2
        while not self.is_open:
            self.close()
            try:
                self._connect()
            except BadHostKeyException as error:
                raise NodeError(self._told(_other_key(error)), node=self.node) from error
            except AuthenticationException as error:
                said = f"login refused with {self._keys()}: {error} Put its public half into authorized_keys there."
                raise NodeError(self._told(said), node=self.node) from error
            except (SSHException, OSError, EOFError) as error:
                if time.monotonic() + pause_s > ends_at:
                    self.close()
                    said = f"no SSH connection within {patience_s:g} s: {error}. Is the machine up, and its port open?"
                    raise NodeError(self._told(said), node=self.node) from error
                time.sleep(pause_s)
                pause_s = min(pause_s * 2, 5.0)

    def _connect(self) -> None:
        """Connect, through the bastion if there is one."""
        gateway = _connection(self.bastion, None) if self.bastion else None
        self._connection = _connection(self.endpoint, gateway)
        self._connection.open()
        for hop in filter(None, (gateway, self._connection)):
            if hop.transport is not None:
                hop.transport.set_keepalive(KEEPALIVE_S)

    def close(self) -> None:
        """Close what is open; nothing is raised by what is dead already."""
        if self._connection is not None:
            gateway = self._connection.gateway
            self._connection.close()
            if gateway is not None:
                gateway.close()
        self._connection, self._sftp = None, None
        self.made.clear()

    @property
    def _live(self) -> "Connection":
        """The connection; `open` comes first."""
        if self._connection is None:
            raise EOFError("not connected")
        return self._connection

    @property
    def files(self) -> "SFTPClient":
        """The file transfer of this connection."""
        if self._sftp is None:
            self._sftp = _client(self._live).open_sftp()
            channel = self._sftp.get_channel()
            if channel is not None:
                channel.settimeout(ANSWER_S)
        return self._sftp

    def execute(self, command: str, stdin: bytes, timeout_s: float) -> tuple[int, bytes, bytes]:
        """Run a fixed command line; return its code (-1 when the connection died), its output and its errors.

        Raises:
            TimeoutError: When it is not done after `timeout_s`.
        """
        ends_at = time.monotonic() + timeout_s
        channel = self._live.create_session()
        try:
            channel.settimeout(timeout_s)
            channel.exec_command(command)
            channel.sendall(stdin)
            channel.shutdown_write()
            out = bytearray()
            while chunk := channel.recv(1 << 16):
                out += chunk
                channel.settimeout(max(0.001, ends_at - time.monotonic()))
            err = channel.recv_stderr(4000) if channel.recv_stderr_ready() else b""
            return channel.recv_exit_status(), bytes(out), err
        finally:
            channel.close()

    def _told(self, what: str) -> str:
        """Return a message with the node and the way to it."""
        way = f"{self.endpoint} through {self.bastion}" if self.bastion else f"{self.endpoint}"
        return f"node {self.node}: {way}: {what}"

    def _keys(self) -> str:
        """Return the names of the private keys that were offered."""
        return " and ".join(hop.key_name for hop in (self.endpoint, self.bastion) if hop)


_links: dict[tuple[Any, ...], Link] = {}
_links_lock = threading.Lock()


def link_to(node: str, endpoint: Endpoint, bastion: Endpoint | None) -> Link:
    """Return this process's link to a node; those that nobody has used for five minutes are closed.

    A process that was forked has links of its own: two must not speak on one connection.
    """
    key = (os.getpid(), node, endpoint, bastion)
    with _links_lock:
        for other, link in list(_links.items()):
            if other != key and other[0] == os.getpid() and time.monotonic() - link.used_at > IDLE_S:
                link.close()
                del _links[other]
        return _links.setdefault(key, Link(node, endpoint, bastion))


def _connection(endpoint: Endpoint, gateway: "Connection | None") -> "Connection":
    """Return a connection, not opened yet, that accepts the pinned host key only."""
    from fabric import Config, Connection

    logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # what goes wrong is told by our own errors
    made = Connection(
        endpoint.address,
        user=endpoint.user,
        port=endpoint.port,
        gateway=gateway,
        config=Config(overrides={"load_ssh_configs": False}, lazy=True),
        connect_timeout=CONNECT_S,
        connect_kwargs={
            "pkey": private_key(endpoint.key(), endpoint.key_name),
            "allow_agent": False,
            "look_for_keys": False,
            "banner_timeout": CONNECT_S,
            "auth_timeout": CONNECT_S,
        },
    )
    pinned = public_key(endpoint.host_key)
    client = _client(made)
    client.set_missing_host_key_policy(_refusing(pinned))
    client.get_host_keys().add(endpoint.known_as, pinned.get_name(), pinned)
    return made


def _client(connection: "Connection") -> "SSHClient":
    """Return a connection's client, which fabric types as if there might be none."""
    client: Any = connection.client
    return client


def _refusing(pinned: "PKey") -> Any:
    """Return the policy for a host key of a kind that is not pinned: it is a wrong one."""
    from paramiko import BadHostKeyException, MissingHostKeyPolicy

    class Refuse(MissingHostKeyPolicy):
        def missing_host_key(self, client: Any, hostname: str, key: "PKey") -> None:
            raise BadHostKeyException(hostname, key, pinned)

    return Refuse()


def _other_key(error: Any) -> str:
    """Return what to do about a host key that is not the pinned one."""
    return (
        f"expected host key {error.expected_key.get_name()} {error.expected_key.fingerprint}, "
        f"{error.hostname} has {error.key.get_name()} {error.key.fingerprint}. Nothing was sent. If the machine is "
        "new, compare the fingerprint on its console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub) and pin it."
    )


def public_key(text: str) -> "PKey":
    """Return the key of "TYPE BASE64 …".

    Raises:
        ValueError: When it is not one.
    """
    from paramiko import PKey, SSHException

    try:
        kind, content = text.split()[:2]
        return PKey.from_type_string(kind, base64.b64decode(content, validate=True))
    except (SSHException, ValueError, IndexError) as error:
        raise ValueError(f"expected 'ssh-ed25519 AAAA…', got {text[:60]!r}") from error


def private_key(text: str, name: str) -> "PKey":
    """Return the private key of a text; neither the text nor a part of it is ever told.

    Raises:
        NodeError: When it is no private key, or has a passphrase.
    """
    from paramiko import ECDSAKey, Ed25519Key, PasswordRequiredException, RSAKey, SSHException

    for kind in (Ed25519Key, ECDSAKey, RSAKey):
        try:
            return kind.from_private_key(StringIO(text))
        except PasswordRequiredException:
            raise NodeError(f"private key {name}: expected one without a passphrase. Make one for Albacore.") from None
        except (SSHException, ValueError):
            continue
    raise NodeError(f"private key {name}: expected a private key of OpenSSH, got something else. Check what is there.")
