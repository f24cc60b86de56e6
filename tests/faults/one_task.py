"""What a benchmark task does, as a program.

python one_task.py open | sample | told
"""

import json
import sys
import time
from datetime import UTC, datetime

from albacore import recorded
from albacore.errors import NodeError, PlatformError
from albacore.nightly.admission import Caller
from albacore.sample import Purpose, Sample
from albacore_airflow import opening, settings
from albacore_airflow.measuring import Measurement
from albacore_airflow.slots import Slot

RUN = "clock-1"


def begin() -> None:
    """Open a campaign run and prepare its node."""
    caller = Caller(dag_run_id="one", run_type="manual", run_after=datetime.now(UTC), is_over=lambda _: False)
    opening.open_run("clock", RUN, {}, None, caller)
    for name in opening.provision(RUN, "a test"):
        opening.prepare_node(RUN, name)


def slot() -> Slot:
    """Return the default config's slot."""
    default = recorded.space(settings.store().run(RUN)).default().id
    return Slot(run=RUN, config=default, purpose=Purpose.DEFAULT, slot=0, repeat=0, nodes=("n1",))


def sample() -> None:
    """Take the slot's sample, attempt after attempt as the operator does."""
    measurement = Measurement(slot())
    while measurement.answer() is None and measurement.exhausted() is None:
        grant = measurement.wait_for_lease(time.monotonic() + 60)
        if grant is None:
            continue
        try:
            running = measurement.start(grant)
            print("started", flush=True)
            while not measurement.wait_for_result(running, time.monotonic() + 30):
                pass
            measurement.record(running)
        except NodeError as error:
            measurement.blame_node(grant, error)
        except PlatformError as error:
            print(f"again: {error.message}", flush=True)
            time.sleep(1)


def told() -> None:
    """Say what the slot ended in, attempt by attempt."""
    found = Measurement(slot())._facts()
    print(json.dumps(["sample" if isinstance(fact, Sample) else fact.blame.value for fact in found]))


if __name__ == "__main__":
    {"open": begin, "sample": sample, "told": told}[sys.argv[1]]()
