"""Ask for pages when they are due, whether or not earlier ones have come, and log how long each whole page took.

An open loop: a page's time counts from the moment it was due to the last byte of its last medium, so a server that
stalls is charged for everything that queues up. As in a browser, the media are asked for when the page itself is there.
"""

from __future__ import annotations

import select
import time
from collections import deque
from dataclasses import dataclass

from contract import ConfigError, LoadError
from http_wire import Wire, request
from pages import Page

TOO_LATE_S = 1.0
SATURATED, BUSY = 0.9, 0.5  # shares of the time: no figures at all; too busy to blame the server for being late


@dataclass(slots=True)
class Visit:
    """Be one visit to a page: when it was due, and how many of its files are still missing."""

    page: Page
    due_s: float
    missing: int
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """Ask for one file of a visit."""

    visit: Visit
    part: int


class Browser:
    """Hold the connections; visit pages through them."""

    def __init__(self, port: int, connections: int) -> None:
        """Connect.

        Raises:
            OSError: When the server does not take a connection.
        """
        self._port = port
        self._idle: list[Wire] = []
        self._busy: dict[object, Wire] = {}
        self._waiting: deque[Request] = deque()
        self.reconnects = -connections
        self.files, self.core_share, self._waited_s, self.lags_ms = 0, 0.0, 0.0, [0.0]
        for _ in range(connections):
            self._idle.append(self._connected())

    def _connected(self) -> Wire:
        """Give a new connection."""
        self.reconnects += 1
        return Wire(self._port)

    def visit(self, due: list[float], plan: list[Page], within_s: float) -> list[Visit]:
        """Visit all pages of a plan and wait for every file.

        Args:
            due: When each page is due, in s from now, ascending.
            plan: The pages.
            within_s: How long everything may take.

        Raises:
            BlamedError: When answers are errors, or the browser cannot keep up.
            OSError: When a connection breaks.
        """
        visits = [Visit(page, at, len(page.parts)) for page, at in zip(plan, due, strict=True)]
        if not visits:
            return visits
        self.lags_ms, self.files, begun, done = [0.0], 0, 0, 0
        used, began, self._waited_s = time.process_time(), time.perf_counter(), 0.0
        while done < len(visits):
            now = time.perf_counter() - began
            while begun < len(visits) and visits[begun].due_s <= now:
                self.lags_ms.append(1000.0 * (now - visits[begun].due_s))
                self._waiting.append(Request(visits[begun], 0))
                begun += 1
            self._check_pace(now, within_s)
            self._send()
            wait_s = max(0.0, visits[begun].due_s - now) if begun < len(visits) else 0.2
            waits_from = time.perf_counter()
            readable = select.select(self._busy, [], [], wait_s)[0]
            self._waited_s += time.perf_counter() - waits_from
            for each in readable:
                done += self._take(self._busy[each], began)
        self.core_share = (time.process_time() - used) / (time.perf_counter() - began)
        self._check_busy(time.perf_counter() - began, SATURATED)
        return visits

    def _check_pace(self, now: float, within_s: float) -> None:
        """Give up when the last page was asked for much too late, or answers do not come."""
        if self.lags_ms[-1] > 1000.0 * TOO_LATE_S:
            raise LoadError(f"the browser was {self.lags_ms[-1]:.0f} ms late with a page. Lower `rate`.")
        if now > within_s:
            self._check_busy(now, BUSY)
            raise ConfigError(f"the pages were not there within {within_s:g} s.")

    def _check_busy(self, elapsed_s: float, most: float) -> None:
        """Give no figures when the client, running or wanting to run, had no time to wait for the server."""
        busy = 1.0 - self._waited_s / elapsed_s
        if busy > most:
            raise LoadError(f"the browser was busy {busy:.0%} of the time. Lower `rate`.")

    def _send(self) -> None:
        """Give waiting requests to idle connections."""
        while self._waiting and self._idle:
            self._ask(self._idle.pop(), self._waiting.popleft())

    def _ask(self, wire: Wire, what: Request) -> None:
        """Send a request; an idle connection that the server has closed meanwhile is replaced (RFC 9112, 9.3.1)."""
        path, size = what.visit.page.parts[what.part]
        try:
            wire.ask(request(path), size)
        except OSError:
            if not wire.answers:
                raise
            wire.socket.close()
            wire = self._connected()
            wire.ask(request(path), size)
        wire.job = what
        self._busy[wire.socket] = wire

    def _take(self, wire: Wire, began: float) -> int:
        """Take what has come on a connection, and return 1 when that completed a visit."""
        try:
            if not wire.receive():
                return 0
        except OSError:
            if wire.has_begun or not wire.answers:
                raise
            del self._busy[wire.socket]
            wire.socket.close()
            self._ask(self._connected(), wire.job)
            return 0
        del self._busy[wire.socket]
        visit, is_page = wire.job.visit, wire.job.part == 0
        if wire.is_last:
            wire.socket.close()
            wire = self._connected()
        self._idle.append(wire)
        self.files += 1
        visit.missing -= 1
        if is_page:
            self._waiting.extend(Request(visit, part) for part in range(1, len(visit.page.parts)))
        if visit.missing:
            return 0
        visit.ms = 1000.0 * (time.perf_counter() - began - visit.due_s)
        return 1

    def close(self) -> None:
        """Close all connections."""
        for wire in [*self._idle, *self._busy.values()]:
            wire.socket.close()
