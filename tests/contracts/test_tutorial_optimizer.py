"""The optimizer of the tutorial, taken from its page word for word, keeps the contract."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial/03-add-an-optimizer.md"
PROGRAM = Path(__file__).with_name("asking.py")


def test_the_optimizer_of_the_tutorial_keeps_the_contract(tmp_path: Path) -> None:
    """Its file and its line in KINDS, as the page has them, are all that it needs."""
    code, line = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    library = tmp_path / "albacore"
    shutil.copytree(ROOT / "include/albacore", library, ignore=shutil.ignore_patterns("__pycache__"))
    (library / "optimizers/neighbour.py").write_text(code)
    protocol = library / "optimizers/__init__.py"
    protocol.write_text(protocol.read_text().replace("KINDS = {\n", "KINDS = {\n" + line, 1))

    command = [sys.executable, str(PROGRAM), "once,thousand,loop,edges,climb", "neighbour", "random"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found, random = (json.loads(done.stdout)[kind] for kind in ("neighbour", "random"))
    assert len(set(found["loop"]["ids"])) == 80 and found["loop"]["illegal"] == 0
    assert (found["edges"], found["thousand"]) == (7, True)
    assert found["climb"] < random["climb"] - 0.4
