"""Guest metrics: read raw on the node once per second, summarised on the controller.

Raw counters are stored and rates derived later, so that a reading costs the node as little as possible (TUNA §4.3). The
first half of this file runs on nodes: standard library only, and psutil where the node's Python has it; without it the
same figures come from /proc under the same names, so that samples of both kinds of nodes can train one model.

| group | kind | unit |
|---|---|---|
| cpu_times.* | counter | seconds, summed over the cores |
| cpu_times_percent.* | gauge | percent of all cores since the last reading |
| cpu_stats.*, vmstat.pgfault, vmstat.pgmajfault | counter | events |
| cpu_freq.current | gauge | MHz |
| virtual_memory.*, swap_memory.* | gauge | bytes, percent; swap_memory.sin and .sout: counters in bytes |
| disk_io_counters.* | counter | operations, bytes, milliseconds |
| pressure.<cpu|memory|io>.<some|full> | counter | microseconds stalled |
| loadavg.*, vmstat.nr_* | gauge | processes, pages |
"""

# Runs on nodes, where loading pathlib takes longer than a reading:

# Runs on nodes, where loading pathlib takes longer than a reading:

import itertools
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SECTOR_BYTES = 512
CPU_TIMES: tuple[str, ...] = (
    "user",
    "nice",
    "system",
    "idle",
    "iowait",
    "irq",
    "softirq",
    "steal",
    "guest",
    "guest_nice",
)
CPU_STATS = {"ctxt": "ctx_switches", "intr": "interrupts", "softirq": "soft_interrupts"}
MEMORY = {
    "MemTotal": "total",
    "MemAvailable": "available",
    "MemFree": "free",
    "Active": "active",
    "Inactive": "inactive",
    "Buffers": "buffers",
    "Shmem": "shared",
    "Slab": "slab",
}
VMSTAT = ("pgfault", "pgmajfault", "nr_dirty", "nr_writeback")
# Columns of /proc/diskstats after the name (kernel: Documentation/admin-guide/iostats.rst) and their factors.
DISK = {
    "read_count": (0, 1),
    "read_merged_count": (1, 1),
    "read_bytes": (2, SECTOR_BYTES),
    "read_time": (3, 1),
    "write_count": (4, 1),
    "write_merged_count": (5, 1),
    "write_bytes": (6, SECTOR_BYTES),
    "write_time": (7, 1),
    "busy_time": (9, 1),
}
COUNTERS = ("cpu_times.", "cpu_stats.", "disk_io_counters.", "pressure.", "vmstat.pg", "swap_memory.s")
QUANTILES = {"p25": 0.25, "p50": 0.5, "p75": 0.75}
SHORTEST_S = 0.25


def _lines(path: str) -> list[str]:
    """Return a file's lines; none when this kernel does not have it."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _table(path: str) -> dict[str, float]:
    """Return `name value` lines as a mapping."""
    pairs = (line.replace(":", " ").split()[:2] for line in _lines(path))
    return {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2}


def _prefixed(prefix: str, figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures under `prefix.name`."""
    return {f"{prefix}.{name}": float(value) for name, value in figures.items()}


class Reader:
    """Take readings; keeps the last cpu times, because percentages are those since the last reading."""

    def __init__(self, *, has_psutil: bool = True) -> None:
        self.psutil = None
        if has_psutil:
            try:
                import psutil

                self.psutil = psutil
            except ImportError:
                pass
        self._before: dict[str, float] = {}

    def read(self) -> dict[str, float]:
        """Return one reading: `at` (monotonic seconds) and the raw figures."""
        figures = from_psutil(self.psutil) if self.psutil else from_proc()
        cpu = {name: figures[f"cpu_times.{name}"] for name in CPU_TIMES if f"cpu_times.{name}" in figures}
        figures |= _prefixed("cpu_times_percent", _percent(self._before, cpu))
        self._before = cpu
        return {"at": time.monotonic(), **figures, **_from_kernel()}


def _percent(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """Return what share of all time since `before` went where; nothing at the first reading."""
    spent = {name: max(0.0, now[name] - before[name]) for name in now if name in before}
    # Guest time is part of user time already (proc(5)).
    total = sum(value for name, value in spent.items() if not name.startswith("guest"))
    return {name: 100.0 * value / total for name, value in spent.items()} if total else {}


def from_psutil(psutil: Any) -> dict[str, float]:
    """Return the figures that psutil knows."""
    disk, frequency = psutil.disk_io_counters(), psutil.cpu_freq()
    memory = psutil.virtual_memory()._asdict()
    figures = {
        **_prefixed("cpu_times", psutil.cpu_times()._asdict()),
        **_prefixed("cpu_stats", psutil.cpu_stats()._asdict()),
        # `used` is left out: what it means has changed between psutil's versions.
        **_prefixed("virtual_memory", {name: memory[name] for name in (*MEMORY.values(), "cached", "percent")}),
        **_prefixed("swap_memory", psutil.swap_memory()._asdict()),
        **_prefixed("disk_io_counters", disk._asdict() if disk else {}),
    }
    return figures | (_prefixed("cpu_freq", {"current": frequency.current}) if frequency else {})


def from_proc() -> dict[str, float]:
    """Return the same figures without psutil."""
    return {
        **_cpu(),
        **_prefixed("cpu_freq", _frequency()),
        **_prefixed("virtual_memory", _memory(_table("/proc/meminfo"))),
        **_prefixed("swap_memory", _swap(_table("/proc/meminfo"), _table("/proc/vmstat"))),
        **_prefixed("disk_io_counters", _disks()),
    }


def _cpu() -> dict[str, float]:
    """Return cpu times and event counts of /proc/stat."""
    rows = {fields[0]: fields[1:] for line in _lines("/proc/stat") if (fields := line.split())}
    times = dict(zip(CPU_TIMES, (int(ticks) / TICKS_PER_S for ticks in rows["cpu"]), strict=False))
    counts = {name: float(rows[key][0]) for key, name in CPU_STATS.items() if key in rows}
    # Linux does not count system calls; psutil says 0 too.
    return {**_prefixed("cpu_times", times), **_prefixed("cpu_stats", {**counts, "syscalls": 0.0})}


def _frequency() -> dict[str, float]:
    """Return the mean clock of the cores in MHz; nothing where the kernel does not say."""
    clocks = [float(line.split(":")[1]) for line in _lines("/proc/cpuinfo") if line.startswith("cpu MHz")]
    return {"current": sum(clocks) / len(clocks)} if clocks else {}


def _memory(kib: Mapping[str, float]) -> dict[str, float]:
    """Return memory in bytes."""
    figures = {name: kib[key] * 1024 for key, name in MEMORY.items() if key in kib}
    figures["cached"] = (kib["Cached"] + kib.get("SReclaimable", 0.0)) * 1024
    figures["percent"] = round(100 * (1 - figures["available"] / figures["total"]), 1)
    return figures


def _swap(kib: Mapping[str, float], pages: Mapping[str, float]) -> dict[str, float]:
    """Return swap in bytes; `sin` and `sout` count since boot."""
    total, free = kib["SwapTotal"] * 1024, kib["SwapFree"] * 1024
    percent = round(100 * (total - free) / total, 1) if total else 0.0
    moved = {"sin": pages.get("pswpin", 0.0) * 4096, "sout": pages.get("pswpout", 0.0) * 4096}
    return {"total": total, "used": total - free, "free": free, "percent": percent, **moved}


def _disks() -> dict[str, float]:
    """Return the sum over whole disks; partitions would count twice."""
    rows = [
        fields[3:] for line in _lines("/proc/diskstats") if os.path.exists(f"/sys/block/{(fields := line.split())[2]}")
    ]
    return {name: sum(float(row[column]) * factor for row in rows) for name, (column, factor) in DISK.items()}


def _from_kernel() -> dict[str, float]:
    """Return what psutil does not know: pressure stalls, load, faults and dirty pages."""
    vmstat = _table("/proc/vmstat")
    stalled = {}
    for resource in ("cpu", "memory", "io"):
        for line in _lines(f"/proc/pressure/{resource}"):
            kind, *pairs = line.split()
            stalled[f"{resource}.{kind}"] = float(dict(pair.split("=") for pair in pairs)["total"])
    return {
        **_prefixed("pressure", stalled),
        **_prefixed("loadavg", dict(zip(("1min", "5min", "15min"), os.getloadavg(), strict=True))),
        **_prefixed("vmstat", {name: vmstat[name] for name in VMSTAT if name in vmstat}),
    }


def summarise(readings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return p25, p50 and p75 of every figure over one measurement, `<figure>.p50` -> value (TUNA §4.3).

    Counters become rates per second between successive readings, gauges stay as they are. What is not finite, or has
    fewer than two readings as a counter, is left out: a model must never see a gap as a number.
    """
    summary = {}
    for name in sorted({name for reading in readings for name in reading} - {"at"}):
        values = _rates(readings, name) if name.startswith(COUNTERS) else [r[name] for r in readings if name in r]
        finite = sorted(value for value in values if math.isfinite(value))
        if finite:
            summary |= {f"{name}.{label}": quantile(finite, share) for label, share in QUANTILES.items()}
    return summary


def _rates(readings: Sequence[Mapping[str, float]], name: str) -> list[float]:
    """Return a counter's rates; one that ran backwards was reset, and that interval is unknown.

    Intervals under a quarter of a second are used only when there are no longer ones: counters move in steps of 10 ms.
    """
    pairs = [(a, b) for a, b in itertools.pairwise(readings) if name in a and name in b and b["at"] > a["at"]]
    long = [(a, b) for a, b in pairs if b["at"] - a["at"] >= SHORTEST_S]
    return [(b[name] - a[name]) / (b["at"] - a["at"]) for a, b in long or pairs if b[name] >= a[name]]


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan, 1996)."""
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)
