"""Renting: nodes that are made for a campaign run, from the first request until they are known to be gone.

Their times are notes in the run's log: what a run costs is read off it (`albacore.ledger`).
"""

from collections.abc import Iterable

from albacore import ledger, recorded
from albacore.clouds import Progress, Rented
from albacore.errors import AlbacoreError, PlatformError
from albacore.trial import Note
from albacore_airflow import settings


def is_rented(run_id: str) -> bool:
    """Whether a run's nodes are made for it."""
    return recorded.campaign(settings.store().run(run_id)).nodes.is_rented


def names_of(run_id: str) -> list[str]:
    """Return the names of all nodes that a run wants."""
    nodes = recorded.campaign(settings.store().run(run_id)).nodes
    return settings.cloud(nodes, run_id).names(nodes.count)


def request(run_id: str, dag_run: str) -> None:
    """Have the run's nodes made that are not there.

    They are noted before they are asked for: a task that is killed in between leaves nothing that nobody knows of.

    Raises:
        UserError: When somebody has to correct something first.
        PlatformError: When it is refused for now.
    """
    names = names_of(run_id)
    _note(run_id, ledger.RENTED, names, dag_run=dag_run)
    _cloud(run_id, dag_run).request(names)


def progress(run_id: str) -> Progress:
    """Return how far the run's nodes are."""
    return _cloud(run_id).progress(names_of(run_id))


def sweep(run_id: str, nodes: list[str] | None = None) -> list[str]:
    """Have nodes of a run deleted, all by default; return what is not gone yet, nothing when all is."""
    left = _cloud(run_id).sweep(nodes)
    asked = ledger.held(settings.run_log(run_id).read()) if nodes is None else nodes
    _note(run_id, ledger.RETURNED, [node for node in asked if not any(_belongs(thing, node) for thing in left)])
    return left


def why_lost(run_id: str, node: str) -> str:
    """Return what the cloud knows of a node that does not answer, as the rest of a message; "" if nothing."""
    if not is_rented(run_id):
        return ""
    try:
        known = _cloud(run_id).why_lost(node)
    except AlbacoreError as error:
        known = f"The cloud cannot be asked: {error.message}"
    return f" {known}" if known else ""


def _cloud(run_id: str, dag_run: str = "") -> Rented:
    found = settings.rented(settings.store().run(run_id), dag_run)
    if found is None:
        raise PlatformError(f"run {run_id}: expected nodes that are made for it, its campaign has others.")
    return found


def _belongs(thing: str, node: str) -> bool:
    """Whether something is a node, or called after it."""
    return thing == node or thing.startswith(f"{node}-")


def dag_runs(run_id: str) -> list[str]:
    """Return the DAG runs that asked for a run's nodes."""
    notes = settings.run_log(run_id).read().notes(ledger.RENTED)
    return sorted({str(note.body["dag_run"]) for note in notes})


def _note(run_id: str, kind: str, nodes: Iterable[str], **told: str) -> None:
    """Write down that nodes begin or cease to cost, once each time."""
    log = settings.run_log(run_id).read()
    held = ledger.held(log)
    for node in nodes:
        if (node in held) != (kind == ledger.RENTED):
            turn = sum(note.body.get("node") == node for note in log.notes(kind))
            settings.run_log(run_id).append_note(Note(kind=kind, body={"node": node, **told}), key=f"{node} {turn}")
