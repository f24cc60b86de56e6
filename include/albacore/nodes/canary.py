"""Runs on the node, before a sample: what a healthy machine always does at about the same speed.

Four short probes, each the best or the middle of several, so that one moment's neighbour is no illness:

| figure | what is timed | why it |
|---|---|---|
| scheduler_ms | how late a sleep of 1 ms wakes up, the middle of 40 | processors held by others (Hajjat §III) |
| cpu_ms | hashing 2 MB, the fastest of 5 | a throttled or stolen processor |
| memory_ms | copying 32 MB, the fastest of 5 | a neighbour on the memory's channels |
| disk_ms | writing 4 kB and fsync, the middle of 7 | a failing or throttled disk |

Standard library only and no import of Albacore: this file is copied to every node beside the agent.
"""

import hashlib
import os
import time

ROUNDS = 3
"""A figure is out of bounds when it is in every one of so many rounds."""
PAUSE_S = 0.1
CPU_BYTES, MEMORY_BYTES, DISK_BYTES = 2_000_000, 32_000_000, 4096
LONGEST_DISK_S = 0.4


def _middle(values: list) -> float:
    return sorted(values)[len(values) // 2]


def _timed(act) -> float:  # noqa: ANN001 -- any call without arguments
    begun = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - begun)


def scheduler_ms() -> float:
    """Return how many ms later than asked a sleep of one millisecond ends."""
    return _middle([_timed(lambda: time.sleep(0.001)) - 1.0 for _ in range(40)])


def cpu_ms() -> float:
    """Return the ms of hashing two megabytes."""
    block = bytes(CPU_BYTES)
    return min(_timed(lambda: hashlib.sha256(block).digest()) for _ in range(5))


def memory_ms() -> float:
    """Return the ms of copying 32 megabytes, which no cache holds."""
    block = bytearray(MEMORY_BYTES)
    return min(_timed(lambda: bytes(block)) for _ in range(5))


def disk_ms(directory: str) -> float:
    """Return the ms until four kilobytes are on the disk; a slow disk is asked less often.

    Raises:
        OSError: When the disk is full, or can only be read.
    """
    path, found, begun = f"{directory}/.canary.{os.getpid()}", [], time.monotonic()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        while len(found) < 7 and time.monotonic() - begun < LONGEST_DISK_S:
            os.write(file, bytes(DISK_BYTES))
            found.append(_timed(lambda: os.fsync(file)))
    finally:
        os.close(file)
        os.unlink(path)
    return _middle(found)


def sing(directory: str) -> dict:
    """Return the four figures in milliseconds; takes about a third of a second."""
    found = {
        "scheduler_ms": scheduler_ms(),
        "cpu_ms": cpu_ms(),
        "memory_ms": memory_ms(),
        "disk_ms": disk_ms(directory),
    }
    return {name: round(value, 4) for name, value in found.items()}


def check(directory: str, most: dict) -> dict:
    """Return the figures and which of them are above what they may be at most, in every one of `ROUNDS` rounds.

    Args:
        directory: Where the disk is asked.
        most: Figure -> the most it may be, in ms; a figure without an entry is never out of bounds.

    Returns:
        `figures` (the best of the rounds), `out` (names, sorted) and `rounds`.
    """
    best, rounds = sing(directory), 1
    while (out := sorted(name for name, limit in most.items() if best.get(name, 0.0) > limit)) and rounds < ROUNDS:
        time.sleep(PAUSE_S)
        again = sing(directory)
        best, rounds = {name: min(value, again[name]) for name, value in best.items()}, rounds + 1
    return {"figures": best, "out": out, "rounds": rounds}
