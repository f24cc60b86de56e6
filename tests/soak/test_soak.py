"""The soak: hundreds of iterations in four lanes on SQLite. Its figures are printed: `pytest -s`, or `make soak`."""

import time
from pathlib import Path

import law
import pytest
from clone import Clone, last_log, pretty, running

from albacore.sample import Sample
from albacore.trial import Ask, Note

pytestmark = pytest.mark.soak

ITERATIONS = 200
# A bracket of 9:3:1 on rungs 1, 3, 5 takes 17 samples in 13 iterations; the default takes 5 samples before.
SAMPLES = 5 + ITERATIONS * 17 // 13 + 8
CAMPAIGN = f"""
system = "noop"
workload = "sleep"
seed = 11
limits = {{ samples = {SAMPLES}, hours = 3.0 }}
optimizer = {{ name = "random" }}
policy = {{ rungs = [1, 3, 5] }}
nodes = {{ tuning = 5, validation = 2, slots = 4 }}
lanes = {{ count = 4 }}
params = {{ seconds = 0.0 }}
"""
CLOCK_TICKS = 100
LIMIT_S = 3 * 3600


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    with running(tmp_path_factory.mktemp("soak"), {"long": CAMPAIGN}) as made:
        yield made


def cpu_s(clone: Clone) -> float:
    """Return the CPU seconds that the clone's processes, and the children they have waited for, have used."""
    ticks = 0
    for pid in clone.processes(""):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / CLOCK_TICKS


def test_hundreds_of_iterations_in_four_lanes_lose_none_and_never_meet_a_locked_database(clone, capfd):
    """200 iterations, 4 lanes, SQLite: every iteration judged its trial, and no log speaks of a locked database."""
    used_s, begun = cpu_s(clone), time.monotonic()
    followed = clone.start("long").wait(timeout_s=LIMIT_S)
    wall_s, used_s = time.monotonic() - begun, cpu_s(clone) - used_s

    log = law.check(followed)
    asks = log.facts(Ask)
    with capfd.disabled():
        samples, iterations = len(log.facts(Sample)), len(asks)
        print(
            f"\nsoak: {iterations} iterations, {samples} samples in {wall_s / 60:.1f} min: "
            f"{iterations / wall_s * 60:.1f} iterations per minute, {used_s / iterations:.2f} CPU s per iteration, "
            f"{used_s / wall_s:.2f} cores used"
        )
    assert len(asks) >= ITERATIONS
    ended = {note.body["key"]: note.body["ok"] for note in log.notes("iteration") if isinstance(note, Note)}
    assert [ask.key for ask in asks if not ended.get(ask.key)] == []
    states = {run["dag_run_id"]: run["state"] for run in followed.iterations()}
    assert [name for name, state in states.items() if state != "success"] == [], pretty(states)
    assert last_log(clone, "database is locked") == []
