"""Speak the protocol of Redis, as far as an administrator's questions need it.

Source: https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

from __future__ import annotations

import os
import socket
from typing import Any

HOST = os.environ.get("ALBACORE_HOST") or "127.0.0.1"
"""Where the server answers: another node's address when the load runs here alone."""


class ReplyError(Exception):
    """Say what the server answered instead of a result; its first word is the kind of error."""


def encode(*words: str | bytes) -> bytes:
    """Give the bytes of a command."""
    parts = [word if isinstance(word, bytes) else word.encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)


class Connection:
    """Keep one blocking connection; a command goes in, its reply comes out."""

    def __init__(self, port: int, timeout_s: float = 10.0) -> None:
        """Connect.

        Raises:
            OSError: When nobody listens.
        """
        self._socket = socket.create_connection((HOST, port), timeout=timeout_s)
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Connection:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self._file.close()
        self._socket.close()

    def ask(self, *words: str | bytes) -> Any:
        """Send one command and return its reply.

        Raises:
            ReplyError: When the reply is an error.
            OSError: When the connection breaks.
        """
        self._socket.sendall(encode(*words))
        return self._reply()

    def ask_many(self, commands: list[bytes]) -> None:
        """Send encoded commands together and wait for all of their replies.

        Raises:
            ReplyError: When one of them is an error.
            OSError: When the connection breaks.
        """
        self._socket.sendall(b"".join(commands))
        for _ in commands:
            self._reply()

    def _reply(self) -> Any:
        """Read one reply."""
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionResetError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise ReplyError(rest.decode(errors="replace"))
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self._file.read(int(rest) + 2)[:-2].decode(errors="replace")
        return [self._reply() for _ in range(int(rest))]
