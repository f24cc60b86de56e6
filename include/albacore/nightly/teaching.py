"""Teaching: from which readings of the last runs a run's adjuster learns too, fixed before its first sample.

They are those that the earlier run's own adjuster would have learned from: the samples of stable trials on its highest
rung. Whether they are of use is for cross-validation to say, judgement by judgement (`policies/cross_validated.py`).
"""

import dataclasses
from collections.abc import Sequence

from albacore import earlier, judging, recorded
from albacore.fact import EARLIER
from albacore.nightly import warm_start
from albacore.policies import Reading
from albacore.policies.learning import teaches
from albacore.store import CampaignRun, NodeRecord, Store, transcript
from albacore.store.run_log import RunLog
from albacore.trial import Note

SAMPLES = 500
"""How many are taken over at most: with twice as many a judgement takes four seconds of a processor."""
ACCESS = ("address", "port", "host_key")
MAKE = ("cpu_model", "cores", "sku")

Trial = list[Reading]


def fix(store: Store, run_id: str) -> Note | None:
    """Write down once what a run's adjuster learns from, and keep it; None when it begins without.

    Args:
        run_id: A run whose nodes and space are fixed.
    """
    run, log = store.run(run_id), RunLog(store, run_id)
    wanted = recorded.campaign(run)
    if not wanted.is_taught:
        return None
    if known := log.read().notes(EARLIER):
        return known[0]
    runs, passed_over, room = [], [], SAMPLES
    for one in warm_start.last_runs(store, run, wanted.warm_start.runs):
        trials, why = _trials(store, one, run, room)
        passed_over += why
        if trials:
            found = _kept(store, one, run, trials)
            runs.append(dataclasses.asdict(found) | {"machines": list(found.machines)})
            room -= found.samples
    return log.append_note(Note(kind=EARLIER, body={"runs": runs, "passed_over": passed_over}), key=EARLIER)


def _trials(store: Store, one: CampaignRun, run: CampaignRun, room: int) -> tuple[list[Trial], list[str]]:
    """Return the trials of an earlier run that are taken over, oldest first, and why others are not."""
    theirs, ours = _target(one), _target(run)
    if theirs != ours:
        return [], [f"run {one.id} is passed over: it tuned {theirs}, today it is {ours}"]
    scene = recorded.scene_of(one, RunLog(store, one.id).read(telemetry=True), recorded.configs(store, one))
    every = [trial for trial in judging.history(scene) if teaches(trial)]
    if not every:
        return [], [f"run {one.id} is passed over: no stable trial on its highest rung has samples of several nodes"]
    kept = _last(every, room)
    if len(kept) == len(every):
        return kept, []
    return kept, [f"{len(every) - len(kept)} trial(s) of run {one.id} are passed over: {SAMPLES} samples are enough"]


def _target(run: CampaignRun) -> str:
    """Return what a run tunes, in words that are the same for the same."""
    tuned = recorded.objective_of(run)
    return f"{tuned.expression or recorded.workload(run).metric} ({tuned.direction})"


def _last(trials: Sequence[Trial], room: int) -> list[Trial]:
    """Return the newest trials that have together at most so many samples, oldest first."""
    kept: list[Trial] = []
    for trial in reversed(trials):
        room -= len(trial)
        if room < 0:
            break
        kept.insert(0, trial)
    return kept


def _kept(store: Store, one: CampaignRun, run: CampaignRun, trials: Sequence[Trial]) -> earlier.Taken:
    """Put trials into the archive and return how they are found again."""
    digest, content = earlier.pack(trials)
    store.put_archive(digest, content)
    nodes = {reading.node for trial in trials for reading in trial}
    return earlier.Taken(
        run=one.id,
        archive=digest,
        trials=len(trials),
        samples=sum(map(len, trials)),
        nodes=len(nodes),
        machines=tuple(sorted(nodes & _machines(store, one, run))),
    )


def _machines(store: Store, one: CampaignRun, run: CampaignRun) -> set[str]:
    """Return the names under which both runs have the same machine, as far as that is certain.

    Machines that were made for a run are gone with it. Of a run that came from another store it is not known where it
    was measured.
    """
    if any(recorded.campaign(each).nodes.is_rented or transcript.origin(store, each.id) for each in (one, run)):
        return set()
    before, today = ({node.name: _machine(node) for node in store.nodes(each.id)} for each in (one, run))
    return {name for name, machine in before.items() if today.get(name) == machine}


def _machine(node: NodeRecord) -> tuple[object, ...]:
    """Return what has to be equal: where the node is, who answers there, and what it is made of."""
    access = node.address.get("access") or {}
    return (
        node.host,
        node.address.get("directory"),
        *(access.get(key) for key in ACCESS),
        *(node.facts.get(key) for key in MAKE),
    )
