"""The clock of one task jumps while it watches its job: one sample, and nobody is blamed for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults.machines import faketime
from nodes import places
from small_campaigns import noop

from albacore.nodes.local import stop_all

pytestmark = pytest.mark.faults
ROOT = Path(__file__).parents[2]
CAMPAIGN = noop(
    limits="{ samples = 2, hours = 1.0 }",
    policy="{ rungs = [1] }",
    nodes="{ tuning = 1, validation = 0, lease_s = 400 }",
    params="{ seconds = 3.0 }",
)


def environment(folder: Path) -> dict[str, str]:
    paths = [str(ROOT / name) for name in ("include", "plugins")]
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(paths),
        "AIRFLOW_HOME": str(folder),
        "ALBACORE_CAMPAIGNS": str(folder),
        "ALBACORE_BENCHMARKS": str(ROOT / "include" / "benchmarks"),
        "AIRFLOW_CONN_ALBACORE_STORE": json.dumps({"conn_type": "sqlite", "host": str(folder / "store.db")}),
    }


@pytest.mark.parametrize("by_s", [7200, -7200])
def test_a_task_whose_clock_jumps_takes_its_sample_once(tmp_path, by_s):
    """Two hours either way in mid-sample: the lease may seem over, yet one sample is there and no config is blamed."""
    library = faketime()
    assert library, "expected libfaketime. Run 'apt-get install faketime' as root."
    with places.root() as place:
        (tmp_path / "clock.toml").write_text(CAMPAIGN)
        place.parent.mkdir(parents=True, exist_ok=True)
        own = {**environment(tmp_path), "XDG_STATE_HOME": str(place.parent)}
        program = [sys.executable, str(Path(__file__).with_name("one_task.py"))]
        subprocess.run([*program, "open"], env=own, check=True, timeout=120)
        clock = tmp_path / "clock"
        clock.write_text("+0\n")
        fake = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}

        task = subprocess.Popen([*program, "sample"], env={**own, **fake}, stdout=subprocess.PIPE, text=True)
        assert task.stdout is not None and task.stdout.readline() == "started\n"
        clock.write_text(f"{by_s:+d}\n")
        task.communicate(timeout=120)

        said = subprocess.run([*program, "told"], env=own, check=True, timeout=60, capture_output=True, text=True)
        found = json.loads(said.stdout)
        assert found.count("sample") == 1 and found[-1] == "sample"
        assert set(found) <= {"sample", "PlatformFailure", "NodeFailure"}
        stop_all(place)
