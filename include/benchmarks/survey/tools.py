"""Run the packaged tools, one component of the machine each, and read their figures.

| component | tool | figures |
|---|---|---|
| cpu | sysbench cpu, primes up to 10000, one thread | cpu_events (1/s) |
| memory | sysbench memory, writes of 1 MiB blocks | memory_write (MiB/s) |
| cache | stress-ng --cache, one instance | cache_ops (1/s) |
| disk | fio, 8 KiB random writes, direct, 16 at once, synced at the end | disk_write (1/s), disk_p95_ms |
| os | this interpreter: start and join a thread; fork and wait | thread_us, process_us |
| scheduler | this interpreter: how late a sleep of 1 ms ends | wake_p50_us, wake_p95_us |

The last two are what OSBench measures (https://github.com/mbitsnbites/osbench), without it, because no package
has it.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import threading
import time
from collections.abc import Callable

from contract import LoadError, Node, percentile

Figures = dict[str, tuple[float, str]]
SLEEP_S = 0.001
TOO_LONG_S = 30.0


def tool(node: Node, seconds: float, name: str, *words: str) -> str:
    """Run a tool in the data directory as the node's uid and return what it said.

    Raises:
        LoadError: When it fails or does not end.
    """
    try:
        said = subprocess.run(
            [node.program(name), *words],
            cwd=node.data,
            env=node.surroundings(),
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + TOO_LONG_S,
            **node.identity(),
        )
    except subprocess.TimeoutExpired:
        raise LoadError(f"{name}: expected its end after {seconds:g} s, it still ran {TOO_LONG_S:g} s later.") from None
    if said.returncode:
        words_said = (said.stderr or said.stdout).strip()[-500:]
        raise LoadError(f"{name} {' '.join(words)}: exit code {said.returncode}: {words_said}")
    return said.stdout + said.stderr


def figure(pattern: str, text: str) -> float:
    """Find a number in a tool's words.

    Raises:
        LoadError: When it is not there.
    """
    match = re.search(pattern, text)
    if not match:
        raise LoadError(f"expected a figure like {pattern!r}, the tool said: {text[-500:]}")
    return float(match[1])


def cpu(node: Node, seconds: float) -> Figures:
    """Look for primes in one thread."""
    said = tool(node, seconds, "sysbench", "cpu", f"--time={max(1, round(seconds))}", "run")
    return {"cpu_events": (figure(r"events per second:\s*([0-9.]+)", said), "1/s")}


def memory(node: Node, seconds: float) -> Figures:
    """Write large blocks of memory."""
    words = ("--memory-block-size=1M", "--memory-total-size=10T", f"--time={max(1, round(seconds))}", "run")
    said = tool(node, seconds, "sysbench", "memory", *words)
    return {"memory_write": (figure(r"\(([0-9.]+) MiB/sec\)", said), "MiB/s")}


def cache(node: Node, seconds: float) -> Figures:
    """Thrash the processor's caches."""
    words = ("--cache", "1", "-t", str(max(1, round(seconds))), "--metrics", "--yaml", "stress.yaml")
    tool(node, seconds, "stress-ng", *words, "--temp-path", str(node.data))
    said = (node.data / "stress.yaml").read_text()
    return {"cache_ops": (figure(r"bogo-ops-per-second-real-time:\s*([0-9.]+)", said), "1/s")}


def disk(node: Node, seconds: float) -> Figures:
    """Write small blocks all over the restored file."""
    size = (node.data / "blocks").stat().st_size
    words = {
        "name": "blocks",
        "filename": "blocks",
        "size": str(size),
        "ioengine": "libaio",
        "rw": "randwrite",
        "bs": "8k",
        "iodepth": "16",
        "direct": "1",
        "time_based": "1",
        "runtime": f"{max(1, round(seconds))}",
        "end_fsync": "1",
        "randseed": "1",
        "output-format": "json",
    }
    said = tool(node, seconds, "fio", *(f"--{name}={value}" for name, value in words.items()))
    try:
        wrote = json.loads(said[said.index("{") : said.rindex("}") + 1])["jobs"][0]["write"]
        p95_ns = wrote["clat_ns"]["percentile"]["95.000000"]
    except (ValueError, KeyError, IndexError) as error:
        raise LoadError(f"fio: expected its figures as JSON: {error!r}. It said: {said[-300:]}") from None
    return {"disk_write": (wrote["iops"], "1/s"), "disk_p95_ms": (p95_ns / 1e6, "ms")}


def _again(seconds: float, once: Callable[[], None]) -> list[float]:
    """Do something again and again, and return how many us each time took."""
    took, ends_at = [], time.perf_counter() + seconds
    while not took or time.perf_counter() < ends_at:
        began = time.perf_counter()
        once()
        took.append(1e6 * (time.perf_counter() - began))
    return took


def _thread() -> None:
    """Start a thread that does nothing and wait for its end."""
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def _process() -> None:
    """Fork a process that does nothing and wait for its end."""
    if pid := os.fork():
        os.waitpid(pid, 0)
    else:
        os._exit(0)


def system(node: Node, seconds: float) -> Figures:
    """Make threads and processes."""
    thread_us, process_us = _again(seconds / 2, _thread), _again(seconds / 2, _process)
    return {"thread_us": (statistics.median(thread_us), "us"), "process_us": (statistics.median(process_us), "us")}


def scheduler(node: Node, seconds: float) -> Figures:
    """Sleep, and see how late the scheduler wakes us."""
    late = [took - 1e6 * SLEEP_S for took in _again(seconds, lambda: time.sleep(SLEEP_S))]
    return {"wake_p50_us": (percentile(late, 50), "us"), "wake_p95_us": (percentile(late, 95), "us")}


COMPONENTS: dict[str, Callable[[Node, float], Figures]] = {
    "cpu": cpu,
    "memory": memory,
    "cache": cache,
    "disk": disk,
    "os": system,
    "scheduler": scheduler,
}
