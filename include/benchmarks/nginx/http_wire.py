"""Be one HTTP/1.1 connection that never waits: send a request, take the answer as it comes.

Source: RFC 9112, sections 6 and 7.1 (the length of a message; chunks).
"""

from __future__ import annotations

import gzip
import re
import socket
from typing import Any

from contract import BlamedError, ConfigError, LoadError

END_OF_CHUNKS = b"\r\n0\r\n\r\n"
RECEIVE_BYTES = 1 << 18
LENGTH = re.compile(rb"\r\nContent-Length: (\d+)", re.IGNORECASE)
HEAD = "GET {} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"


def request(path: str) -> bytes:
    """Give the bytes of a request."""
    return HEAD.format(path).encode()


class Wire:
    """Hold a connection and the answer that is on its way."""

    def __init__(self, port: int) -> None:
        """Connect.

        Raises:
            OSError: When the server does not take the connection.
        """
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.answers = 0
        self.job: Any = None
        self._begin(0)

    def _begin(self, size: int) -> None:
        """Expect the head of a new answer."""
        self._size, self._left, self._chunked = size, -1, False
        self._came: list[bytes] = []
        self.is_last = False

    @property
    def has_begun(self) -> bool:
        """Tell whether a part of the answer has come."""
        return bool(self._came)

    def ask(self, command: bytes, size: int) -> None:
        """Send a request; `size` is how many bytes the file has.

        Raises:
            OSError: When the connection is broken.
        """
        self._begin(size)
        if self.socket.send(command) != len(command):
            raise LoadError("a request of some hundred bytes did not fit into an idle connection.")

    def receive(self) -> bool:
        """Take what has come, and tell whether the answer is whole.

        Raises:
            OSError: When the connection broke, or was closed too early.
            BlamedError: When the answer is an error or has another size.
        """
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return False
        if not data:
            raise ConnectionResetError("the server closed the connection in mid-answer")
        self._came.append(data)
        if self._left < 0 and not self._chunked and not self._head():
            return False
        if self._chunked:
            is_whole = b"".join(self._came[-7:])[-7:] == END_OF_CHUNKS
        else:
            self._left -= len(data) if len(self._came) > 1 else 0
            is_whole = self._left <= 0
        if is_whole:
            self.answers += 1
            self._check()
        return is_whole

    def _head(self) -> bool:
        """Read the head of the answer once it is whole.

        Raises:
            BlamedError: When it is an error.
        """
        data = b"".join(self._came)
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return False
        self._came = [data]
        head = data[:end]
        if not head.startswith(b"HTTP/1.1 200"):
            raise blame_of(head.split(b"\r\n", 1)[0].decode(errors="replace"))
        self.is_last = b"\r\nConnection: close" in head
        self._head_bytes = end + 4
        if length := LENGTH.search(head):
            self._left = int(length[1]) + self._head_bytes - len(data)
        else:
            self._chunked = True
        self._is_packed = b"\r\nContent-Encoding: gzip" in head
        return True

    def _check(self) -> None:
        """Compare the answer's size with the file's; packed ones are unpacked now and then, which takes long."""
        whole = sum(map(len, self._came)) - self._head_bytes
        if self._is_packed:
            if self.answers % 40:
                return
            body = b"".join(self._came)[self._head_bytes :]
            whole = len(gzip.decompress(_unchunked(body) if self._chunked else body))
        elif self._chunked:
            whole = len(_unchunked(b"".join(self._came)[self._head_bytes :]))
        if whole != self._size:
            raise ConfigError(f"expected a file of {self._size} bytes, the answer has {whole}.")


def _unchunked(body: bytes) -> bytes:
    """Put the chunks of a body together."""
    parts, at = [], 0
    while at < len(body):
        line_end = body.index(b"\r\n", at)
        size = int(body[at:line_end], 16)
        parts.append(body[line_end + 2 : line_end + 2 + size])
        at = line_end + 4 + size
        if not size:
            break
    return b"".join(parts)


def blame_of(status: str) -> BlamedError:
    """Decide from a status line who is to blame: 4xx is a request of ours, anything else the server's."""
    is_ours = status.split(" ")[1:2] and status.split(" ")[1].startswith("4")
    return (LoadError if is_ours else ConfigError)(f"the server answered: {status}")
