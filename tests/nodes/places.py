"""Places where tests put local nodes: short paths that every uid may pass through, swept and removed afterwards."""

import contextlib
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from albacore.benchmark import Benchmark, Workload
from albacore.nodes.local import LocalNode, local_nodes, stop_all
from albacore.nodes.preparation import prepare

BENCHMARKS = Path(__file__).parents[2] / "include" / "benchmarks"


def noop() -> tuple[Benchmark, Workload]:
    """Return the noop benchmark and its workload."""
    benchmark = Benchmark.read(BENCHMARKS, "noop")
    return benchmark, benchmark.workload("sleep")


@contextlib.contextmanager
def root() -> Iterator[Path]:
    """Give a root for local nodes; whatever was started below it is ended."""
    with tempfile.TemporaryDirectory(prefix="alb-", dir="/var/tmp", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        below = Path(place, "own", "root")
        try:
            yield below
        finally:
            stop_all(below)
            shutil.rmtree(below, ignore_errors=True)


def free_port() -> int:
    """Return the first of a row of ports that nobody used a moment ago."""
    for first in range(23_000, 31_000, 100):
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            for port in range(first, first + 30):
                held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    raise RuntimeError("no row of 30 free ports")


def nodes(place: Path, *names: str) -> tuple[LocalNode, ...]:
    """Return bare local nodes."""
    return local_nodes(place, "t", names, free_port())


@contextlib.contextmanager
def prepared(*names: str) -> Iterator[tuple[LocalNode, ...]]:
    """Give nodes on which noop is installed and loaded."""
    with root() as place:
        fleet = nodes(place, *names)
        for node in fleet:
            prepare(node, *noop())
        yield fleet
