"""Drive pgbench: a warm-up that does not count, then one measurement that writes a line per transaction.

All figures come from those lines: `client transaction latency_us script epoch_s epoch_us`; a transaction that failed
has a word for its latency (https://www.postgresql.org/docs/16/pgbench.html).
"""

from __future__ import annotations

import re
import resource
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contract import DISK_FULL, BlamedError, ConfigError, LoadError, NodeError, remove
from postgres import Node
from server import cpu_ms, processes

GRACE_S = 20.0
LAST_WORDS_S = 1.0
RETRIES = 100
FIRST_WITH_RETRIES = 15
# What libpq and pgbench say when the server is gone, refuses, gives up or runs out of something.
BY_CONFIG = re.compile(
    r"server closed the connection|terminating connection|connection to server .* failed|could not connect|"
    r"the database system is|out of memory|out of shared memory|could not resize shared memory|invalid memory alloc|"
    r"due to statement timeout|too many (clients|connections)|remaining connection slots"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What pgbench has to do.

    Attributes:
        scripts: pgbench's own words for what runs with which weight, such as ("-f", "pay.sql@43").
        variables: What the scripts may name.
        mode: simple, extended (plans each statement for its values) or prepared.
        warmup_s: Whole seconds that are not counted; 0 is none.
        measure_s: Whole seconds, at least 1.
    """

    scripts: tuple[str, ...]
    variables: Mapping[str, int] = field(default_factory=dict)
    clients: int
    mode: str
    warmup_s: int
    measure_s: int
    statement_timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One line of the log: how long, which script, and when it ended in seconds since the epoch."""

    ms: float
    script: int
    ended_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """All transactions of a measurement, and the CPU time in ms of the server and of pgbench."""

    transactions: tuple[Transaction, ...]
    server_cpu_ms: float
    client_cpu_ms: float

    @property
    def seconds(self) -> float:
        """The time from the begin of the first transaction to the end of the last."""
        begun = min(one.ended_s - one.ms / 1000 for one in self.transactions)
        return max(one.ended_s for one in self.transactions) - begun


def drive(node: Node, load: Load) -> Measured:
    """Warm up, measure, and return every transaction.

    Raises:
        ConfigError: When the server goes away, refuses or is too slow.
        LoadError: When a transaction failed, or none was done.
        NodeError: When the disk is full.
    """
    if load.warmup_s:
        _run(node, load, load.warmup_s, ())
    folder = node.own(node.job / "pgbench")
    client_before, server_before = _children_cpu_ms(), cpu_ms(node.data)
    _run(node, load, load.measure_s, ("-l", f"--log-prefix={folder / 'log'}"))
    server_ms, client_ms = cpu_ms(node.data) - server_before, _children_cpu_ms() - client_before
    lines = (line for path in sorted(folder.iterdir()) for line in path.read_text().splitlines())
    found = parse(lines)
    remove(folder)
    return Measured(transactions=found, server_cpu_ms=server_ms, client_cpu_ms=client_ms)


def parse(lines: Iterable[str]) -> tuple[Transaction, ...]:
    """Read the lines of pgbench's logs.

    Raises:
        LoadError: When a transaction failed, or there is none: errors are errors, never better figures.
    """
    done, failed = [], Counter[str]()
    for line in lines:
        _, _, latency, script, epoch_s, epoch_us, *_ = line.split()
        if latency.isdigit():
            ended_s = int(epoch_s) + int(epoch_us) / 1e6
            done.append(Transaction(ms=int(latency) / 1000, script=int(script), ended_s=ended_s))
        else:
            failed[latency] += 1
    if failed:
        said = ", ".join(f"{count} {word}" for word, count in failed.items())
        raise LoadError(f"expected no failed transaction, {said} of {len(done) + failed.total()}.")
    if not done:
        raise LoadError("expected transactions in pgbench's log, there is none. Raise measure_s.")
    return tuple(done)


def _run(node: Node, load: Load, seconds: int, extra: tuple[str, ...]) -> None:
    """Run pgbench once.

    Raises:
        BlamedError: Whoever is to blame when it does not end well.
    """
    variables = [f"--define={name}={value}" for name, value in load.variables.items()]
    retries = [f"--max-tries={RETRIES}"] if major(node) >= FIRST_WITH_RETRIES else []
    options = ("-n", "-T", str(seconds), "-c", str(load.clients), "-M", load.mode, f"--random-seed={node.seed % 2**31}")
    said = node.log.stat().st_size
    limit = f"statement_timeout={round(load.statement_timeout_s * 1000)}"
    arguments = ["pgbench", *options, *retries, *variables, *extra, *load.scripts]
    try:
        ended = node.run(*arguments, timeout_s=seconds + load.statement_timeout_s + GRACE_S, options=f"-c {limit}")
    except subprocess.TimeoutExpired:
        raise ConfigError(f"pgbench did not end {load.statement_timeout_s + GRACE_S:g} s after its time") from None
    if ended.returncode:
        raise _blamed(node, said, ended.stderr.strip()[-1500:])


def _blamed(node: Node, said: int, words: str) -> BlamedError:
    """Decide who is to blame for pgbench's bad end; a dying server gets a moment to say why."""
    until = time.monotonic() + LAST_WORDS_S
    while node.log.stat().st_size <= said and time.monotonic() < until:
        time.sleep(0.02)
    node.keep_log()
    if DISK_FULL in words and "shared memory" not in words:
        return NodeError(words)
    if BY_CONFIG.search(words) or not processes(node.data):
        return ConfigError(f"pgbench: {words}")
    return LoadError(f"pgbench: {words}")


def major(node: Node) -> int:
    """Return the major version of the server that runs on the node's data."""
    return int((node.data / "PG_VERSION").read_text())


def _children_cpu_ms() -> float:
    """Sum the CPU time in ms of this process's ended children: pgbench, as nothing else was started meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000.0 * (used.ru_utime + used.ru_stime)
