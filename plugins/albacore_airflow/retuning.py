"""Retuning: a past campaign run measured again today, with the benchmark folder as it was then.

One at a time: whoever wants to start holds the campaign's turn until its campaign run has the campaign's lock, or has
ended.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from albacore import recorded
from albacore.benchmark import Benchmark, unpack
from albacore.campaign import Campaign
from albacore.errors import UserError
from albacore.nightly import admission
from albacore.store.leases import Leases
from albacore_airflow import settings

KEY = "retune_of"
"""Key of the conf, and of the run's facts, that names the run that is measured again."""
GOES_ON, DONE, FAILED = "goes on", "done", "failed"
"""Where the DAG run is that measures a past run again."""
TURN_S = 900.0
"""How long a started campaign has to take its lock before another one gets the turn."""


def take_turn(campaign: str, owner: str) -> bool:
    """Take the campaign's turn; False while another one has it, or a run of the campaign goes on."""
    turns = Leases(settings.store(), lease_s=TURN_S)
    if turns.holder(admission.resource_of(campaign)) is not None:
        return False
    return turns.take_resource(f"retune:{campaign}", _owner(owner))


def give_back(owner: str) -> None:
    """Give back the turn."""
    settings.leases().release(_owner(owner))


def _owner(campaign_run: str) -> str:
    return f"retune/{campaign_run}"


def dag_run_id(campaign_run: str, parent_run: str, run_after: datetime) -> str:
    """Return the id of the DAG run that measures a run again: the same for every retry within one back-fill."""
    digest = hashlib.sha256(f"{parent_run}/{run_after.isoformat()}".encode()).hexdigest()[:8]
    return f"retune__{campaign_run}__{digest}"


def state_of(count: Callable[..., int], dag_id: str, run_id: str) -> str | None:
    """Return whether a DAG run goes on, is done or has failed; None when there is none.

    Args:
        count: Counts the runs of `dag_id` that are in `run_ids` and in one of the `states`.
    """
    for name, states in ((FAILED, ["failed"]), (DONE, ["success"]), (GOES_ON, ["queued", "running"])):
        if count(dag_id=dag_id, run_ids=[run_id], states=states):
            return name
    return None


def facts(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run that measures a past one again says of itself; nothing for any other run."""
    if not form.get(KEY):
        return {}
    return {"origin": "retune", KEY: str(form[KEY]), "parent_date": form.get("parent_date")}


@contextmanager
def past(name: str, run_id: str) -> Iterator[tuple[Campaign, Benchmark]]:
    """Give the effective campaign of a past run, and its benchmark, unpacked as it was archived when it opened.

    Raises:
        UserError: When the run is of another campaign.
        PlatformError: When the folder is not archived in this store.
    """
    store = settings.store()
    store.migrate()
    run = store.run(run_id)
    if run.campaign != name:
        raise UserError(f"{KEY}: expected a run of campaign {name!r}, {run_id!r} is one of {run.campaign!r}.")
    system = recorded.workload(run).system
    with tempfile.TemporaryDirectory() as folder:
        unpack(store.archive(run.benchmark_digest), Path(folder) / system)
        yield recorded.campaign(run), Benchmark.read(Path(folder), system)
