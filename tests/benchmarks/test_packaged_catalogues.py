"""The knob catalogues of packaged systems agree with the version that is installed."""

import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from contracts import benchmark_cases
from contracts.benchmark_cases import Bench
from nodes import places

from albacore.space.catalogue import Catalogue

pytestmark = pytest.mark.node
FACTS = {"ram_bytes": 8 * 2**30, "cores": 4, "disk_bytes": 100 * 2**30}
WORDS = {"redis": ("yes", "no"), "nginx": ("on", "off"), "mariadb": ("ON", "OFF")}
SIZES = {"kb": 2**10, "mb": 2**20, "gb": 2**30}


def catalogue(system: str) -> Catalogue:
    """Return a system's catalogue."""
    return Catalogue.read(places.BENCHMARKS / system / "knobs.toml")


def corners(system: str) -> dict[str, dict[str, str]]:
    """Return four configs as text: all defaults, all lowest, all highest, and all special values or last choices."""
    found: dict[str, dict[str, str]] = {"defaults": {}, "lowest": {}, "highest": {}, "special": {}}
    yes, no = WORDS[system]
    for knob in catalogue(system).space(FACTS, values=(yes, no)).knobs:
        if knob.kind.value == "bool":
            values = [yes if knob.default else no, no, yes, yes]
        elif knob.kind.value == "choice":
            values = [knob.default, knob.choices[0], knob.choices[-1], knob.choices[len(knob.choices) // 2]]
        else:
            special = knob.special[0] if knob.special else knob.default
            values = [f"{value}{knob.unit or ''}" for value in (knob.default, knob.low, knob.high, special)]
        for corner, value in zip(found.values(), values, strict=True):
            corner[knob.name] = value
    return found


@pytest.fixture(scope="module")
def redis() -> Iterator[Bench]:
    """A node with Redis."""
    with benchmark_cases.prepared("redis/ycsb_c") as made:
        yield made


@pytest.fixture(scope="module")
def nginx() -> Iterator[Bench]:
    """A node with NGINX."""
    with benchmark_cases.prepared("nginx/pages") as made:
        yield made


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Bench]:
    """A node with MariaDB."""
    with benchmark_cases.prepared("mariadb/oltp_read_write") as made:
        yield made


def in_bytes(text: str) -> str:
    """Return an amount with a unit as a plain number, as CONFIG GET gives it."""
    number, unit = text[:-2], text[-2:].lower()
    return str(int(number) * SIZES[unit]) if unit in SIZES else text


@pytest.mark.parametrize("corner", ["defaults", "lowest", "highest", "special"])
def test_redis_takes_every_corner_of_its_space(redis: Bench, corner: str):
    """`start` checks that what was asked for is in effect; so all limits are the server's own or narrower."""
    try:
        told = redis.verb("start", corners("redis")[corner])
    finally:
        redis.verb("stop")

    assert told.blame is None, told.words


def test_redis_defaults_and_restarts_are_the_servers(redis: Bench):
    """Names and defaults are CONFIG GET's; CONFIG SET takes exactly what needs no restart; denied names exist."""
    found = catalogue("redis")
    try:
        assert redis.verb("start").blame is None
        lines = redis.command("redis-cli -p {port} CONFIG GET '*'").split("\n")
        server = dict(zip(lines[::2], lines[1::2], strict=False))
        defaults = corners("redis")["defaults"]
        wrong = {
            name: (text, server.get(name)) for name, text in defaults.items() if in_bytes(text) != server.get(name)
        }
        taken = {
            name: redis.command(f"redis-cli -p {{port}} CONFIG SET {name} '{text}'").startswith("OK")
            for name, text in defaults.items()
        }
    finally:
        redis.verb("stop")

    assert wrong == {}
    assert {name for name, ok in taken.items() if not ok} == {n for n, k in found.knobs.items() if k["restart"]}
    assert not found.deny.keys() - server.keys()
    assert not found.deny.keys() & found.knobs.keys()


@pytest.mark.parametrize("corner", ["defaults", "lowest", "highest", "special"])
def test_nginx_takes_every_corner_of_its_space(nginx: Bench, corner: str):
    """`nginx -t` takes it and the server starts, so every name, unit, limit and choice is one of this version."""
    try:
        told = nginx.verb("start", corners("nginx")[corner])
    finally:
        nginx.verb("stop")

    assert told.blame is None, told.words


def test_nginx_refuses_a_wrong_kind_of_every_knob(nginx: Bench):
    """No knob is one whose value NGINX passes over."""
    took = [name for name in catalogue("nginx").knobs if nginx.verb("start", {name: "no-such-value"}).blame is None]
    nginx.verb("stop")

    assert took == []


def test_nginx_knows_every_denied_directive(nginx: Bench, tmp_path: Path):
    """A directive that this version does not know would only seem to be guarded."""
    found = catalogue("nginx")
    unknown = []
    for name in found.deny:
        config = tmp_path / "nginx.conf"
        config.write_text(f"events {{ {name} x x x x x x x x x; }}\n")
        program = str(nginx.node.directory / "install" / "bin" / "nginx")
        said = subprocess.run([program, "-t", "-c", str(config)], capture_output=True, text=True, check=False)
        unknown += [name] if "unknown directive" in said.stderr else []

    assert unknown == []
    assert not found.deny.keys() & found.knobs.keys()


@pytest.mark.parametrize("corner", ["defaults", "lowest", "highest", "special"])
def test_mariadb_takes_every_corner_of_its_space(mariadb: Bench, corner: str):
    """MariaDB moves a value into its limits with a warning; `start` refuses that, so all of ours are within."""
    try:
        told = mariadb.verb("start", corners("mariadb")[corner])
    finally:
        mariadb.verb("stop")

    assert told.blame is None, told.words


def test_mariadb_defaults_and_restarts_are_the_servers(mariadb: Bench):
    """Defaults and what needs a restart are those of information_schema; denied names exist."""
    found, ask = catalogue("mariadb"), "mariadb --no-defaults -uroot -S {node}/data/s -N -e"
    columns = "LOWER(VARIABLE_NAME), DEFAULT_VALUE, READ_ONLY"
    try:
        assert mariadb.verb("start").blame is None
        rows = mariadb.command(f"{ask} 'SELECT {columns} FROM information_schema.SYSTEM_VARIABLES'").splitlines()
    finally:
        mariadb.verb("stop")
    server = {name: (default, only) for name, default, only in (row.split("\t") for row in rows)}
    sizes = {"K": 2**10, "M": 2**20}

    for name, knob in found.knobs.items():
        default, unit = knob["default"], knob.get("unit", "")
        if isinstance(default, bool):
            assert server[name][0] == ("ON" if default else "OFF"), name
        elif isinstance(default, str):
            assert server[name][0] == default, name
        else:
            assert float(server[name][0]) == default * sizes.get(unit, 1), name
        assert knob["restart"] == (server[name][1] == "YES"), name
    assert not found.deny.keys() - server.keys()
    assert not found.deny.keys() & found.knobs.keys()


def test_weights_of_the_pages_follow_zipf():
    """500 pages, each weight the rank's to the power -0.8, together 1."""
    lines = (places.BENCHMARKS / "nginx/workloads/pages/weights.csv").read_text().splitlines()[1:]
    weights = [float(line.split(",")[1]) for line in lines]

    assert len(weights) == 500
    assert sum(weights) == pytest.approx(1.0, abs=1e-4)
    assert weights[99] / weights[0] == pytest.approx(100**-0.8, rel=1e-3)


def test_every_caution_has_a_reason_and_every_knob_a_source():
    """A catalogue says where a setting is described, and why one wants care."""
    for system in WORDS:
        for name, knob in tomllib.loads((places.BENCHMARKS / system / "knobs.toml").read_text())["knob"].items():
            assert knob["doc"].startswith("https://"), name
            assert ("why" in knob) == (knob["safety"] == "caution"), name
