"""A copy of the working tree, with an environment of its own that installs nothing."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def copy_tree(target: Path) -> None:
    """Copy what git would clone, and what it would add, of the working tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = REPOSITORY / name
        if source.is_file() and not name.startswith("tests/"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def lend_environment(root: Path) -> None:
    """Give the copy a `.venv` made of links to the one that runs the tests, stamped as installed."""
    venv, own = root / ".venv", Path(sys.prefix)
    venv.mkdir()
    shutil.copy2(own / "pyvenv.cfg", venv)
    for name in ("bin", "lib", "include"):
        (venv / name).symlink_to(own / name)
    spec = importlib.util.spec_from_file_location("bootstrap_of_copy", root / "ops" / "bootstrap.py")
    assert spec and spec.loader
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    (venv / ".albacore-run").write_text(bootstrap.digest(["requirements.txt"]) + "\n")


def configure(root: Path, options: Mapping[str, str]) -> None:
    """Set options of airflow.cfg: a user's environment does not reach Airflow."""
    file = root / "airflow.cfg"
    lines = file.read_text().splitlines()
    for name, value in options.items():
        section, key = name.split(".")
        lines = [line for line in lines if not line.startswith(f"{key} =")]
        lines.insert(lines.index(f"[{section}]") + 1, f"{key} = {value}")
    file.write_text("\n".join(lines) + "\n")
