"""The benchmark of the tutorial, taken from its page word for word, keeps the contract; nothing else is touched."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.node
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial/02-your-own-benchmark.md"
FILE = re.compile(r"### (?:[^`\n]*)`(include/[^`]+)`\n```(?:toml|python)\n(.*?)```", re.DOTALL)
SUITE = ("tests/contracts/test_benchmark_behaviour.py", "tests/contracts/test_benchmark_folders.py")


def written(clone: Path) -> list[str]:
    """Write the page's files into a clone, the executables as such, and return their paths."""
    found = FILE.findall(PAGE.read_text())
    for name, text in found:
        path = clone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    return [name for name, _ in found]


def run(clone: Path, *arguments: str) -> str:
    """Run a Python module in a clone and return what it said; it must be content."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{clone}/include:{clone}/plugins:{clone}/ops",
        "AIRFLOW_HOME": str(clone),
    }
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_benchmark_of_the_tutorial_keeps_the_contract(tmp_path: Path):
    """A folder and a campaign file are all: both are checked, and the suite passes with this folder alone."""
    for name in ("include", "tests", "plugins", "ops", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    shutil.rmtree(tmp_path / "include/benchmarks")
    names = written(tmp_path)

    assert all(name.startswith(("include/benchmarks/zipper/", "include/campaigns/zipper.toml")) for name in names)
    assert "zipper/pages: delivery_ms in ms, minimise" in run(
        tmp_path, "albacore.cli", "check", "include/benchmarks/zipper"
    )
    run(tmp_path, "albacore.cli", "check", "include/campaigns/zipper.toml")
    said = run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", *SUITE, "-k", "not there_are_benchmarks")
    assert re.search(r"\d+ passed, 1 deselected, 3 xfailed", said), said
