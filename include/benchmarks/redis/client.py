"""Send requests when they are due, whether or not the answers to earlier ones have come, and log every latency.

An open loop: a latency counts from the moment the request was due, so a server that stalls is charged for everything
that queues up behind the stall. Sending never waits for the server; a request that is sent late is the client's own
fault, and one that is far behind gives no figures.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from dataclasses import dataclass, field

from contract import BlamedError, ConfigError, LoadError
from resp import HOST
from ycsb import read_reply_bytes

TOO_LATE_S = 1.0
SATURATED, BUSY = 0.9, 0.5  # shares of the time: no figures at all; too busy to blame the server for being late
MOST_AT_ONCE = 200  # then answers are looked at
RECEIVE_BYTES = 1 << 18
WHOLE = b"*20\r\n"
# Kinds of errors that a config brings about; any other is the load's own.
CONFIG_ERRORS = ("OOM", "MISCONF", "BUSY", "READONLY", "NOREPLICAS", "LOADING", "MASTERDOWN", "NOAUTH")


@dataclass(slots=True)
class Wire:
    """Be one connection: what is still to be sent, what was asked, and the bytes of an unfinished reply."""

    socket: socket.socket
    unsent: bytes = b""
    asked: deque[tuple[bool, float]] = field(default_factory=deque)
    rest: bytes = b""

    def send(self, command: bytes) -> None:
        """Send what can be sent without waiting."""
        self.unsent += command
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            return

    def receive(self) -> bytes:
        """Return the bytes that have come, with those of an unfinished reply before them.

        Raises:
            ConnectionResetError: When the server has closed the connection.
        """
        try:
            came = self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return b""
        if not came:
            raise ConnectionResetError("the server closed the connection")
        return self.rest + came


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Log one request: what it was, when it was due in s from the beginning, and how long it took in ms."""

    is_update: bool
    due_s: float
    ms: float


class Client:
    """Hold the connections; drive a plan through them."""

    def __init__(self, port: int, connections: int) -> None:
        """Connect.

        Raises:
            OSError: When the server does not take a connection.
        """
        self._wires = [Wire(socket.create_connection((HOST, port), timeout=10)) for _ in range(connections)]
        for wire in self._wires:
            wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire.socket.setblocking(False)
        self._by_socket = {wire.socket: wire for wire in self._wires}
        self._reply_bytes = read_reply_bytes()
        self.core_share, self._waited_s = 0.0, 0.0
        self.lags_ms: list[float] = []

    def drive(self, due: list[float], plan: list[tuple[bool, bytes]], within_s: float) -> list[Answered]:
        """Send the whole plan and wait for every answer.

        Args:
            due: When each request is due, in s from now, ascending.
            plan: The requests.
            within_s: How long everything may take.

        Raises:
            ConfigError: When answers are errors or missing.
            LoadError: When the client cannot keep up.
            OSError: When a connection breaks.
        """
        log: list[Answered] = []
        if not plan:
            return log
        self.lags_ms, sent = [], 0
        used, began, self._waited_s = time.process_time(), time.perf_counter(), 0.0
        while len(log) < len(plan):
            now = time.perf_counter() - began
            burst = sent + MOST_AT_ONCE
            while sent < min(len(plan), burst) and due[sent] <= now:
                wire = self._wires[sent % len(self._wires)]
                wire.asked.append((plan[sent][0], due[sent]))
                wire.send(plan[sent][1])
                self.lags_ms.append(1000.0 * (now - due[sent]))
                sent += 1
                now = time.perf_counter() - began
            self._check_pace(due[sent - 1] if sent else 0.0, now, within_s)
            wait_s = max(0.0, due[sent] - now) if sent < len(plan) else 0.2
            full = [wire.socket for wire in self._wires if wire.unsent]
            waits_from = time.perf_counter()
            readable, writable, _ = select.select(self._by_socket, full, [], wait_s)
            self._waited_s += time.perf_counter() - waits_from
            for each in writable:
                self._by_socket[each].send(b"")
            for each in readable:
                self._read(self._by_socket[each], began, log)
        self.core_share = (time.process_time() - used) / (time.perf_counter() - began)
        self._check_busy(time.perf_counter() - began, SATURATED)
        return log

    def _check_pace(self, due: float, now: float, within_s: float) -> None:
        """Give up when the last request went out much too late, or answers do not come."""
        if self.lags_ms and self.lags_ms[-1] > 1000.0 * TOO_LATE_S:
            raise LoadError(f"the client was {self.lags_ms[-1]:.0f} ms late with a request. Lower `rate`.")
        if now > within_s:
            self._check_busy(now, BUSY)
            raise ConfigError(f"requests due until {due:.1f} s were not answered within {within_s:g} s.")

    def _check_busy(self, elapsed_s: float, most: float) -> None:
        """Give no figures when the client, running or wanting to run, had no time to wait for the server."""
        busy = 1.0 - self._waited_s / elapsed_s
        if busy > most:
            raise LoadError(f"the client was busy {busy:.0%} of the time. Lower `rate`.")

    def _read(self, wire: Wire, began: float, log: list[Answered]) -> None:
        """Take whole replies off a connection."""
        data, at = wire.receive(), 0
        now = time.perf_counter() - began
        while at < len(data):
            size = self._reply_size(data, at)
            if not size or at + size > len(data):
                break
            is_update, due = wire.asked.popleft()
            log.append(Answered(is_update=is_update, due_s=due, ms=1000.0 * (now - due)))
            at += size
        wire.rest = data[at:]

    def _reply_size(self, data: bytes, at: int) -> int:
        """Give the size of the reply that begins at a place; 0 when that cannot be said yet.

        Raises:
            BlamedError: When the reply is an error, or the record is not there.
        """
        if data.startswith(WHOLE, at):
            return self._reply_bytes
        line_end = data.find(b"\r\n", at)
        if line_end < 0:
            return 0
        line = data[at:line_end].decode(errors="replace")
        if line[0] == "-":
            raise blame_of(line[1:])
        if line[0] == "*":
            raise ConfigError(f"a record is lost: expected {WHOLE[1:3].decode()} parts of it, given {line[1:]}.")
        return line_end + 2 - at

    def close(self) -> None:
        """Close all connections."""
        for wire in self._wires:
            wire.socket.close()


def blame_of(said: str) -> BlamedError:
    """Decide from an error reply who is to blame."""
    kind = ConfigError if said.split(" ", 1)[0] in CONFIG_ERRORS else LoadError
    return kind(f"the server answered: {said}")
