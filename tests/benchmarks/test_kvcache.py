"""The cache of the Metis paper: a real server, whose knobs matter and whose faults blame the right one."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from albacore.space.catalogue import Catalogue

FOLDER = Path(__file__).parents[2] / "include" / "benchmarks" / "kvcache"
NOBODY = "61998"
DEFAULTS = tomllib.loads((FOLDER / "workloads/lookups/workload.toml").read_text())["params"]
SMALL = {**DEFAULTS, "keys": 1000, "warmup_requests": 2000, "requests": 3000}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheNode:
    """Call the executables with the environment of the contract."""

    root: Path
    port: int
    seed: str = "7"

    def begin(self, verb: str, config: dict[str, str] | None = None, **params: object) -> tuple[subprocess.Popen, Path]:
        """Start a verb; return its process and its job's directory."""
        job = Path(tempfile.mkdtemp(prefix="job-", dir=self.root))
        (job / "config").write_text(json.dumps(config or {}))
        (job / "params").write_text(json.dumps({**SMALL, **params}))
        workload = FOLDER / "workloads" / "lookups"
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ALBACORE_NODE_DIR": str(self.root),
            "ALBACORE_SYSTEM_DIR": str(FOLDER),
            "ALBACORE_WORKLOAD_DIR": str(workload),
            "ALBACORE_JOB_DIR": str(job),
            "ALBACORE_PORT": str(self.port),
            "ALBACORE_UID": NOBODY if os.geteuid() == 0 else "",
            "ALBACORE_SEED": self.seed,
            "ALBACORE_CONFIG": str(job / "config"),
            "ALBACORE_PARAMS": str(job / "params"),
            "ALBACORE_PYTHON": sys.executable,
        }
        program = (workload if verb in ("load", "run") else FOLDER) / verb
        with (job / "err").open("w") as err:
            return subprocess.Popen([str(program)], env=environment, cwd=job, stdout=err, stderr=err), job

    def call(self, verb: str, config: dict[str, str] | None = None, **params: object) -> tuple[int, Path]:
        """Run a verb to its end; return its exit code and its job's directory."""
        process, job = self.begin(verb, config, **params)
        return process.wait(timeout=60), job

    def figures(self, config: dict[str, str]) -> dict[str, float]:
        """Return the metrics of one sample."""
        assert self.call("start", config)[0] == 0
        code, job = self.call("run", config)
        assert code == 0, (job / "err").read_text()
        assert self.call("stop")[0] == 0
        return {n: m["value"] for n, m in json.loads((job / "metrics.json").read_text())["metrics"].items()}

    def pid(self) -> int:
        """Return the server's process."""
        return json.loads((self.root / "kvcache.json").read_text())["pid"]

    def assert_clean(self) -> None:
        """Expect no file of a server, and its port free."""
        assert not (self.root / "kvcache.json").exists()
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", self.port))


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def node() -> Iterator[CacheNode]:
    """A loaded node; its server is stopped afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    root = Path(tempfile.mkdtemp(prefix="albacore-test-", dir="/var/tmp"))
    root.chmod(0o755)
    lent = CacheNode(root=root, port=port)
    assert [lent.call(verb)[0] for verb in ("install", "load")] == [0, 0]
    yield lent
    assert lent.call("stop")[0] == 0
    lent.assert_clean()
    shutil.rmtree(root)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import the folder's modules by name, for one test only."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield importlib.import_module
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("frequency", ["zipf", "normal", "linear"])
def test_the_load_follows_from_its_seed(parts: Callable[[str], ModuleType], frequency: str) -> None:
    """The same seed asks for the same keys of the same sizes; another one for others; low keys are asked for more."""
    demand = parts("demand")
    first = demand.requests(500, 4000, frequency, 1)
    assert first == demand.requests(500, 4000, frequency, 1) != demand.requests(500, 4000, frequency, 2)
    assert demand.sizes(500, 1) == demand.sizes(500, 1) != demand.sizes(500, 2)
    assert sorted(demand.sizes(500, 1)) == sorted(demand.sizes(500, 2))
    assert sum(key < 100 for key in first) > 1.5 * sum(key >= 400 for key in first)


def test_every_knob_changes_the_counted_work(parts: Callable[[str], ModuleType]) -> None:
    """There is no knob that does nothing: from one good config each of the eight moves hits or cost."""
    cache, demand = parts("cache"), parts("demand")
    sizes, keys = demand.sizes(3000, 1), demand.requests(3000, 12_000, "linear", 1)
    base = {
        "num_cache_levels": 4,
        "cache_promotion_threshold": 2,
        "num_inevictable_levels": 3,
        "admission_threshold": 500,
        "shadow_promotion_freq": 2,
        "cache_capacity": 1,
        "shadow_capacity": 4,
    }
    other = {
        "num_cache_levels": 8,
        "cache_promotion_threshold": 500,
        "num_inevictable_levels": 0,
        "admission_threshold": 1000,
        "shadow_promotion_freq": 50,
        "cache_capacity": 4,
        "shadow_capacity": 100,
        "num_shards": 16,
    }
    reference = cache.counted(base, sizes, keys, 6000)
    assert reference == cache.counted(base, sizes, keys, 6000)
    for name, value in other.items():
        assert cache.counted({**base, name: value}, sizes, keys, 6000) != reference, name


def test_the_cache_never_keeps_more_than_its_capacity(parts: Callable[[str], ModuleType]) -> None:
    """However many shards and levels there are."""
    cache, demand = parts("cache"), parts("demand")
    sizes, keys = demand.sizes(3000, 3), demand.requests(3000, 9000, "linear", 3)
    for shards in (1, 7, 64):
        config = {"cache_capacity": 1, "num_shards": shards, "num_cache_levels": 3, "shadow_capacity": 1}
        assert 0.3 < cache.counted(config, sizes, keys, 0)["cache_mb"] <= 1 + 1 / 1024


def test_the_catalogue_and_the_cache_agree(parts: Callable[[str], ModuleType]) -> None:
    """Ranges, units and defaults of knobs.toml are those that the server checks."""
    cache = parts("cache")
    space = Catalogue.read(FOLDER / "knobs.toml").space({"ram_bytes": 2**33, "cores": 2, "disk_bytes": 2**36})
    assert {k.name: (k.low, k.high, k.unit) for k in space.knobs} == cache.RANGES
    assert dict(space.default()) == cache.DEFAULTS


@pytest.mark.node
def test_more_memory_hits_more_and_costs_less(node: CacheNode) -> None:
    """A cache that lets everything in and holds it hits more than one that lets hardly anything in, and is faster."""
    small = node.figures({"cache_capacity": "1MB", "admission_threshold": "1B", "shadow_promotion_freq": "1000"})
    large = node.figures({"cache_capacity": "16MB", "admission_threshold": "1000B", "shadow_promotion_freq": "1"})
    assert large["hit_share"] > small["hit_share"] + 0.3
    assert large["cache_mb"] > small["cache_mb"]
    assert large["mean_us"] < small["mean_us"]
    assert large["p50_us"] <= large["p99_us"]


@pytest.mark.node
@pytest.mark.parametrize(
    "config",
    [
        {"cache_capacity": "900MB"},
        {"no_such_knob": "1"},
        {"num_shards": "plenty"},
        {"admission_threshold": "-1B"},
        {"num_inevictable_levels": "5", "num_cache_levels": "2"},
    ],
    ids=lambda config: next(iter(config)),
)
def test_a_bad_config_is_refused_and_the_node_is_clean(node: CacheNode, config: dict[str, str]) -> None:
    """A config that the cache refuses exits 10, says which knob, and leaves nothing."""
    code, job = node.call("start", config)
    assert code == 10
    assert next(iter(config)) in (job / "err").read_text()
    assert next(iter(config)) in (job / "server.log").read_text()
    node.assert_clean()


@pytest.mark.node
def test_a_second_start_replaces_the_first_and_stop_twice_is_no_error(node: CacheNode) -> None:
    """Start is idempotent towards its own server, and so is stop."""
    assert node.call("start", {"num_shards": "2"})[0] == 0
    first = node.pid()
    code, job = node.call("start", {"num_shards": "4"})
    assert code == 0
    assert json.loads((job / "applied.json").read_text())["num_shards"] == 4
    assert node.pid() != first
    assert not alive(first)
    assert [node.call("stop")[0] for _ in range(2)] == [0, 0]
    node.assert_clean()


@pytest.mark.node
def test_a_taken_port_is_the_nodes_fault(node: CacheNode) -> None:
    """Somebody else's listener is not the config's."""
    with socket.create_server(("127.0.0.1", node.port)):
        assert node.call("start")[0] == 30


@pytest.mark.node
def test_no_golden_data_is_the_nodes_fault(node: CacheNode) -> None:
    """Start without load exits 30."""
    shutil.rmtree(node.root / "golden")
    assert node.call("start")[0] == 30


@pytest.mark.node
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hanging"])
def test_a_crash_under_load_is_the_configs_fault(node: CacheNode, how: signal.Signals) -> None:
    """A server that dies or hangs under load exits 10 and gives no metric."""
    assert node.call("start")[0] == 0
    os.kill(node.pid(), how)
    code, job = node.call("run", answer_within_s=0.3)
    assert code == 10
    assert not (job / "metrics.json").exists()
    with contextlib.suppress(ProcessLookupError):
        os.kill(node.pid(), signal.SIGCONT)


@pytest.mark.node
def test_a_bad_parameter_is_the_loads_fault(node: CacheNode) -> None:
    """A frequency that does not exist exits 20."""
    assert node.call("start")[0] == 0
    code, job = node.call("run", frequency="poisson")
    assert code == 20
    assert "poisson" in (job / "err").read_text()


@pytest.mark.node
def test_loading_twice_leaves_the_data_as_they_are(node: CacheNode) -> None:
    """The golden data are made once per node and seed, and the server never writes to them."""
    values = node.root / "golden/lookups/values"
    before = values.stat().st_mtime_ns, values.read_bytes()
    assert node.figures({})["hit_share"] > 0
    assert node.call("load")[0] == 0
    assert (values.stat().st_mtime_ns, values.read_bytes()) == before
