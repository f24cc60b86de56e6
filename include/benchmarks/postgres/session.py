"""Talk to the server through one long-lived psql, so that no process start is inside a measured time."""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from contract import BlamedError, ConfigError, LoadError, NodeError
from postgres import Node

END = "@@end of answer@@"
TIMING = re.compile(r"Time: ([0-9.]+) ms")
SQLSTATE = re.compile(r"(?:ERROR|FATAL|PANIC): +([0-9A-Z]{5}):")
DISK_FULL_STATE = "53100"
# Classes of https://www.postgresql.org/docs/16/errcodes-appendix.html that a config can bring about: connection,
# insufficient resources, program limit, operator intervention (timeout, crash), system error, configuration, internal.
CONFIG_STATES = ("08", "53", "54", "57", "58", "F0", "XX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Hold what one statement returned."""

    rows: tuple[str, ...]
    ms: float

    @property
    def checksum(self) -> str:
        """Digest the rows in their order."""
        return hashlib.sha256("\n".join(self.rows).encode()).hexdigest()[:16]


def blame_of(said: str) -> BlamedError:
    """Decide from psql's last words who is to blame for a failed statement."""
    state = SQLSTATE.search(said)
    if state and state[1] == DISK_FULL_STATE and "shared memory" not in said:
        return NodeError(said)
    if state and not state[1].startswith(CONFIG_STATES):
        return LoadError(said)
    # Without an SQLSTATE the connection broke: the server crashed, or never was there.
    return ConfigError(said or "the server closed the connection")


@contextlib.contextmanager
def understood() -> Iterator[None]:
    """Blame the config when a dying server's last words stand where rows were expected.

    Raises:
        ConfigError: When what is read inside cannot be understood.
    """
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"expected rows, the server said something else: {error}") from None


class Session:
    """Keep one psql open; statements go in, rows and the time that psql measured come out."""

    def __init__(self, node: Node, *, statement_timeout_s: float) -> None:
        """Start psql and prepare it.

        Args:
            node: Where, and as whom.
            statement_timeout_s: After this time the server cancels a statement.
        """
        self._psql = subprocess.Popen(  # pyright: ignore[reportCallIssue]
            [node.program("psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            env=node.surroundings(),
            **node.identity(),  # pyright: ignore[reportArgumentType]
        )
        self.ask(f"SET statement_timeout = {round(statement_timeout_s * 1000)};\n\\timing on")

    def ask(self, sql: str) -> Answer:
        """Run a statement, or several with a semicolon behind each, and wait for the answer.

        Raises:
            BlamedError: Whoever is to blame when it fails.
        """
        lines = self._exchange(f"{sql}\n\\echo {END}\n")
        times = [TIMING.match(line) for line in lines]
        rows = tuple(line for line, time in zip(lines, times, strict=True) if time is None)
        return Answer(rows=rows, ms=sum(float(time[1]) for time in times if time))

    def _exchange(self, text: str) -> list[str]:
        """Send text and read lines up to the end mark."""
        lines: list[str] = []
        try:
            print(text, file=self._psql.stdin, end="", flush=True)
        except BrokenPipeError:
            raise blame_of(self._last_words(lines)) from None
        for line in self._psql.stdout or ():
            if line.rstrip("\n") == END:
                return lines
            lines.append(line.rstrip("\n"))
        raise blame_of(self._last_words(lines))

    def _last_words(self, lines: list[str]) -> str:
        """Read what psql still says, and give the lines that speak of an error."""
        rest = self._psql.stdout.read().splitlines() if self._psql.stdout else []
        words = [line for line in [*lines, *rest] if re.search(r"(ERROR|FATAL|PANIC|psql|server|connection)", line)]
        return "\n".join(words[-8:])

    def close(self) -> None:
        """End psql at once; a statement that still runs is cut off."""
        self._psql.kill()
        self._psql.wait()
        for pipe in (self._psql.stdin, self._psql.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue

    def kill(self) -> None:
        """Kill psql from another thread: the one that waits for an answer then gets the error."""
        self._psql.kill()
