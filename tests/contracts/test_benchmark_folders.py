"""Every folder under include/benchmarks keeps docs/benchmark-contract.md, as far as reading it can tell."""

import ast
import re
import stat
from pathlib import Path

import pytest

from albacore import folder
from albacore.benchmark import SYSTEM_VERBS, WORKLOAD_VERBS, Benchmark
from albacore.space.catalogue import Catalogue

ROOT = Path(__file__).parents[2] / "include" / "benchmarks"
SYSTEMS = sorted(path.parent.name for path in ROOT.glob("*/system.toml"))


@pytest.fixture(params=SYSTEMS)
def benchmark_folder(request: pytest.FixtureRequest) -> Benchmark:
    """Each benchmark folder, read."""
    return Benchmark.read(ROOT, request.param)


def python_files(benchmark: Benchmark) -> list[Path]:
    """Return the files that Python runs, with or without a suffix."""
    return [
        path
        for _, path in folder.files(benchmark.root)
        if path.suffix == ".py" or re.match(rb"#!.*python", path.read_bytes())
    ]


def test_there_are_benchmarks():
    """The suite below is never empty."""
    assert "noop" in SYSTEMS


def test_every_workload_expects_less_than_its_limits(benchmark_folder: Benchmark):
    """A usual run fits its time limits with room, or quiet nodes would fail."""
    for workload in benchmark_folder.workloads.values():
        limit_s = sum(workload.timeouts_s[verb] for verb in ("start", "run", "stop"))
        assert workload.expected_s < limit_s / 2


def test_executables_are_for_everybody_and_nothing_is_writable_by_others(benchmark_folder: Benchmark):
    """The copy on a node may be executed by the system's uid and changed by nobody else."""
    verbs = [benchmark_folder.root / verb for verb in SYSTEM_VERBS]
    for name in benchmark_folder.workloads:
        verbs += [benchmark_folder.root / "workloads" / name / verb for verb in WORKLOAD_VERBS]

    assert all(path.stat().st_mode & stat.S_IXUSR for path in verbs)
    assert not [path for _, path in folder.files(benchmark_folder.root) if path.stat().st_mode & stat.S_IWOTH]


def test_nothing_imports_albacore_or_knows_airflow(benchmark_folder: Benchmark):
    """A benchmark runs on a node where neither is installed."""
    for path in python_files(benchmark_folder):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        imports = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imports |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not {name for name in imports if name.split(".")[0] in ("albacore", "albacore_airflow", "airflow")}


def test_the_knobs_make_a_space_on_a_usual_machine(benchmark_folder: Benchmark):
    """Bounds, relations and sums of the catalogue hold on a node with 4 cores and 8 GB."""
    facts = {"ram_bytes": 8 * 2**30, "cores": 4, "disk_bytes": 100 * 2**30}

    assert Catalogue.read(benchmark_folder.knobs_path).space(facts).knobs


def test_the_fragment_prints_every_knob_on_a_line(benchmark_folder: Benchmark):
    """What the verdict shows can be copied as it is."""
    text = benchmark_folder.fragment.render({"one": "1", "two": "2MB"})

    assert len(text.splitlines()) == 2
    assert "one" in text and "2MB" in text
