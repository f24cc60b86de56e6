"""Guest metrics: the same figures from every kind of node, rates from counters, and never a number that is none."""

import math
import time

import psutil
import pytest

from albacore.telemetry import Reader, from_proc, from_psutil, quantile, summarise


def test_with_and_without_psutil_the_figures_are_the_same():
    """Samples of both kinds of nodes can train one model: names are equal, and so are values that stand still."""
    first, second = from_psutil(psutil), from_proc()

    assert set(first) == set(second)
    for name in ("virtual_memory.total", "swap_memory.total", "cpu_stats.syscalls"):
        assert first[name] == second[name]
    # What moves between the two looks moves by far less than a tenth of all that was counted since boot.
    for name in (
        "cpu_times.user",
        "cpu_stats.ctx_switches",
        "disk_io_counters.write_bytes",
        "virtual_memory.available",
    ):
        assert first[name] == pytest.approx(second[name], rel=0.1)


@pytest.mark.parametrize("has_psutil", [True, False])
def test_percentages_are_those_since_the_last_reading(has_psutil: bool):
    """The first reading has none; later ones add up to the whole."""
    reader = Reader(has_psutil=has_psutil)
    first = reader.read()
    until = time.monotonic() + 0.03  # three ticks of the kernel's clock
    while time.monotonic() < until:
        pass
    second = reader.read()

    assert not [name for name in first if name.startswith("cpu_times_percent")]
    shares = [value for name, value in second.items() if name.startswith("cpu_times_percent") and "guest" not in name]
    assert sum(shares) == pytest.approx(100)


def test_a_counter_becomes_a_rate_and_a_gauge_stays():
    """Worked by hand: 10 and 30 events in a second each; 5, 7 and 9 bytes."""
    readings = [
        {"at": 0.0, "cpu_stats.interrupts": 100.0, "virtual_memory.free": 5.0},
        {"at": 1.0, "cpu_stats.interrupts": 110.0, "virtual_memory.free": 7.0},
        {"at": 2.0, "cpu_stats.interrupts": 140.0, "virtual_memory.free": 9.0},
    ]

    assert summarise(readings) == {
        "cpu_stats.interrupts.p25": 15.0,
        "cpu_stats.interrupts.p50": 20.0,
        "cpu_stats.interrupts.p75": 25.0,
        "virtual_memory.free.p25": 6.0,
        "virtual_memory.free.p50": 7.0,
        "virtual_memory.free.p75": 8.0,
    }


def test_what_is_not_known_is_left_out():
    """A counter that was reset, a figure that is not finite, one reading only: gaps, not numbers."""
    readings = [
        {"at": 0.0, "pressure.cpu.some": 9.0, "loadavg.1min": math.nan, "vmstat.pgfault": 1.0},
        {"at": 1.0, "pressure.cpu.some": 1.0, "loadavg.1min": math.inf},
    ]

    assert summarise(readings) == {}
    assert summarise([]) == {}


def test_a_short_last_interval_does_not_count_beside_longer_ones():
    """Ten milliseconds of a clock that ticks every ten are 0 % or 100 %."""
    readings = [{"at": at, "cpu_times.user": value} for at, value in ((0.0, 0.0), (1.0, 0.5), (1.01, 0.51))]

    assert summarise(readings)["cpu_times.user.p75"] == 0.5
    assert summarise(readings[1:])["cpu_times.user.p50"] == pytest.approx(1.0)


def test_a_quantile_lies_between_its_neighbours():
    """Linear, as numpy's default."""
    assert quantile([1.0, 2.0, 4.0], 0.75) == 3.0
    assert quantile([7.0], 0.25) == 7.0
