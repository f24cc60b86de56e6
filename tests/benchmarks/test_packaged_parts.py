"""Laws of the parts of the packaged benchmarks that need no server: installing, judging, drawing the load."""

from __future__ import annotations

import importlib
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).parents[2] / "include" / "benchmarks"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], ModuleType]]:
    """Import a folder's module by name, for one test only: the names are short and not ours to keep."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def imported(system: str, name: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(BENCHMARKS / system))
        return importlib.import_module(name)

    yield imported
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if origin.startswith(str(BENCHMARKS)):
            del sys.modules[name]


def test_without_root_what_is_missing_is_told_with_who_must_do_what(part, monkeypatch, tmp_path):
    """A package that only root may install ends with 30, the program, and the command to ask for."""
    packages, node_error = part("redis", "packages"), part("redis", "contract").NodeError
    monkeypatch.setattr(packages, "_found", lambda name: "/usr/bin/apt-get" if name == "apt-get" else "")
    monkeypatch.setattr(packages.os, "geteuid", lambda: 1000)

    with pytest.raises(node_error, match="administrator to run: apt-get install redis-server") as caught:
        packages.provide(SimpleNamespace(programs=tmp_path / "bin"), {"redis-server": "redis-server"})

    assert caught.value.code == 30


def test_with_the_programs_present_nobody_needs_root(part, monkeypatch, tmp_path):
    """What is there is only linked to, twice as well as once."""
    packages = part("redis", "packages")
    monkeypatch.setattr(packages.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(packages, "_install", lambda *_: pytest.fail("nothing is missing"))
    node = SimpleNamespace(programs=tmp_path / "install" / "bin")

    for _ in range(2):
        packages.provide(node, {"sh": "dash"})

    assert (node.programs / "sh").exists()


@pytest.mark.parametrize("fails", [False, True])
def test_a_package_starts_no_service_and_a_policy_of_ours_does_not_stay(part, monkeypatch, tmp_path, fails):
    """While packages are installed services may not start; afterwards the machine's own policy is in force again."""
    packages = part("redis", "packages")
    policy, seen = tmp_path / "policy-rc.d", []
    monkeypatch.setattr(packages, "POLICY", policy)
    monkeypatch.setattr(packages, "SYSTEMD", tmp_path / "no systemd")

    try:
        with packages._no_services(("redis-server.service",)):
            seen.append(policy.read_text())
            if fails:
                raise KeyError
    except KeyError:
        pass

    assert "exit 101" in seen[0]
    assert not policy.exists()


def test_a_policy_that_was_there_before_stays(part, monkeypatch, tmp_path):
    """What an administrator has decided is neither replaced nor removed."""
    packages = part("redis", "packages")
    policy = tmp_path / "policy-rc.d"
    policy.write_text("theirs")
    monkeypatch.setattr(packages, "POLICY", policy)
    monkeypatch.setattr(packages, "SYSTEMD", tmp_path / "no systemd")

    with packages._no_services(()):
        pass

    assert policy.read_text() == "theirs"


@pytest.mark.parametrize("name", ["evicted_keys", "expired_keys", "keyspace_misses", "lost"])
def test_evictions_misses_and_lost_keys_fail_the_sample(part, name):
    """A cache that drops its data is fast for a bad reason: the config's fault, never a figure."""
    measuring, config_error = part("redis", "measuring"), part("redis", "contract").ConfigError
    stats = dict.fromkeys(("evicted_keys", "expired_keys", "keyspace_misses", "total_error_replies"), 0)
    fine = dict(stats)
    if name in stats:
        stats[name] = 1

    def server(stats: dict[str, int], size: int) -> SimpleNamespace:
        text = "# Stats\r\n" + "".join(f"{key}:{value}\r\n" for key, value in stats.items())
        return SimpleNamespace(ask=lambda *words: text if words[0] == "INFO" else size)

    with pytest.raises(config_error, match="lost_keys" if name == "lost" else name):
        measuring.check_data(server(stats, 99 if name == "lost" else 100), 100)
    assert measuring.check_data(server(fine, 100), 100)["lost_keys"] == 0


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("OOM command not allowed when used memory > 'maxmemory'.", 10),
        ("MISCONF Redis is configured to save RDB snapshots", 10),
        ("WRONGTYPE Operation against a key", 20),
        ("ERR unknown command", 20),
    ],
)
def test_the_kind_of_an_error_says_who_is_to_blame(part, said, code):
    """Out of memory is the config's failure, a wrong request the load's."""
    assert part("redis", "client").blame_of(said).code == code


@pytest.mark.parametrize(("status", "code"), [("HTTP/1.1 404 Not Found", 20), ("HTTP/1.1 500 Error", 10), ("?", 10)])
def test_the_status_says_who_is_to_blame(part, status, code):
    """A request for what is not there is ours, anything else the server's."""
    assert part("nginx", "http_wire").blame_of(status).code == code


def test_requests_follow_zipf_and_the_share_of_updates(part):
    """The most popular record takes its share of 1 / H; updates theirs.

    Of 20,000 draws the standard deviation of a share p is sqrt(p (1 - p) / 20,000), at most 0.0036: four of them.
    """
    ycsb = part("redis", "ycsb")
    plan = ycsb.requests(20_000, 1000, 0.05, random.Random(1))
    keys = Counter(command.split(b"\r\n")[4] for _, command in plan)
    harmonic = sum(rank**-0.99 for rank in range(1, 1001))

    assert keys.most_common(1)[0][1] / 20_000 == pytest.approx(1 / harmonic, abs=0.0145)
    assert sum(is_update for is_update, _ in plan) / 20_000 == pytest.approx(0.05, abs=0.0145)
    assert plan == ycsb.requests(20_000, 1000, 0.05, random.Random(1))


def test_chunks_are_put_together(part):
    """A body in chunks is the file."""
    assert part("nginx", "http_wire")._unchunked(b"3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n") == (
        b"abc0123456789abcdef"
    )


@pytest.mark.parametrize("text", ["page\n0\n", "page,weight\n0,-1\n", "page,weight\n0,many\n", "page,weight\n0,0\n"])
def test_weights_that_are_none_are_refused_with_the_file(part, tmp_path, text):
    """A user's own file is checked before pages are made by it."""
    file = tmp_path / "weights.csv"
    file.write_text(text)

    with pytest.raises(part("nginx", "contract").NodeError, match=r"weights\.csv"):
        part("nginx", "pages").weights(file)
