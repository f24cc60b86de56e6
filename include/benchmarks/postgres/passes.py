"""Work through statements again and again, and say how long one pass over all of them takes."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from contract import BlamedError, ConfigError, percentile, read_json
from golden import noted
from plans import capture
from postgres import Node
from results import publish
from server import cpu_ms
from session import Session, understood
from statements import checksum, explainable

LAST_WORDS_S = 1.0


@dataclass(slots=True)
class Client:
    """Be one user: a session, and what it has measured.

    Attributes:
        statements: Name -> SQL.
        expected: Name -> checksum of the rows under the defaults; None: rows are not compared.
        is_ordered: Whether the order of the rows is part of a result.
    """

    session: Session
    statements: Mapping[str, str]
    expected: Mapping[str, str] | None
    first: int
    is_ordered: bool = True
    times_ms: dict[str, list[float]] = field(default_factory=dict)
    passes_ms: list[float] = field(default_factory=list)

    def work(self, seconds: float) -> None:
        """Do whole passes, at least one, until the time is over.

        Raises:
            ConfigError: When a statement's rows are not those it has under the defaults.
        """
        todo = list(self.statements.items())
        todo = todo[self.first :] + todo[: self.first]
        self.times_ms, self.passes_ms = {name: [] for name, _ in todo}, []
        stop_at = time.monotonic() + seconds
        while not self.passes_ms or time.monotonic() < stop_at:
            for name, sql in todo:
                answer = self.session.ask(sql)
                if self.expected is not None and checksum(answer, is_ordered=self.is_ordered) != self.expected[name]:
                    raise ConfigError(f"statement {name}: its rows differ from those under the defaults.")
                self.times_ms[name].append(answer.ms)
            self.passes_ms.append(sum(times[-1] for times in self.times_ms.values()))


@contextlib.contextmanager
def deadline(sessions: list[Session], seconds: float) -> Iterator[None]:
    """Cut the sessions off after a time.

    Raises:
        ConfigError: When the time was over.
    """
    is_over = threading.Event()

    def cut() -> None:
        is_over.set()
        for session in sessions:
            session.kill()

    timer = threading.Timer(seconds, cut)
    timer.start()
    try:
        yield
    except BlamedError:
        if is_over.is_set():
            raise ConfigError(f"the statements did not end within {seconds:g} s") from None
        raise
    finally:
        timer.cancel()


def medians_ms(clients: list[Client]) -> dict[str, float]:
    """Give the median of each statement over all passes of all clients."""
    names = clients[0].times_ms
    return {name: statistics.median(ms for one in clients for ms in one.times_ms[name]) for name in sorted(names)}


def figures(clients: list[Client], used_ms: float, metric: str) -> dict[str, tuple[float, str]]:
    """Make the metrics: the sum of the medians under the workload's own name, and what is told beside it."""
    passes = [ms for one in clients for ms in one.passes_ms]
    return {
        metric: (sum(medians_ms(clients).values()), "ms"),
        "p95_ms": (percentile(passes, 95), "ms"),
        "cpu_ms": (used_ms / len(passes), "ms"),
        "passes": (float(len(passes)), "1"),
    }


def measure(node: Node, clients: list[Client], params: dict[str, str]) -> float:
    """Warm up, then measure; return the CPU time in ms that the server used for the measurement."""
    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(lambda one: one.work(float(params["warmup_s"])), clients))
        before = cpu_ms(node.data)
        list(pool.map(lambda one: one.work(float(params["measure_s"])), clients))
        return cpu_ms(node.data) - before


def wait_for_last_words(node: Node, said: int) -> None:
    """Give a dying server a moment to say why: a client hears of the end before the log does."""
    until = time.monotonic() + LAST_WORDS_S
    while node.log.stat().st_size <= said and time.monotonic() < until:
        time.sleep(0.02)


def sample(
    node: Node, statements: Mapping[str, str], *, metric: str, is_ordered: bool = True, is_checked: bool = True
) -> None:
    """Measure one sample and write its metrics and notes.

    Args:
        node: Where a server runs on a restored copy.
        statements: Name -> SQL.
        metric: The name of the workload's metric.
        is_ordered: Whether the order of rows is part of a result.
        is_checked: Whether rows are compared with those noted when the data was loaded.

    Raises:
        BlamedError: Whoever is to blame when a statement fails, differs or takes too long.
    """
    params = read_json("ALBACORE_PARAMS")
    expected = noted(node)["checksums"] if is_checked else None
    count, limit_s = int(params["clients"]), float(params["statement_timeout_s"])
    sessions = [Session(node, statement_timeout_s=limit_s) for _ in range(count)]
    said, shift = node.log.stat().st_size, len(statements) // count
    clients = [Client(one, statements, expected, i * shift, is_ordered) for i, one in enumerate(sessions)]
    try:
        with deadline(sessions, float(params["run_timeout_s"])):
            used_ms = measure(node, clients, params)
            with understood():
                found = capture(sessions[0], explainable(statements))
    except BlamedError:
        wait_for_last_words(node, said)
        node.keep_log()
        raise
    finally:
        for session in sessions:
            session.close()
    medians = {name: round(ms, 3) for name, ms in medians_ms(clients).items()}
    publish(node, figures(clients, used_ms, metric), {"median_ms": medians, **found})
