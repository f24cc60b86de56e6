"""Lanes: iterations that follow one another.

A lane goes on after a failed iteration, never forks, and ends when the run asks no more.
The laws are in docs/design.md, "lanes". What a lane did is in the log: a note per ended iteration, and one when the
lane ends.
"""

from dataclasses import dataclass

from albacore.trial import Ask, Judgement, Log, Note
from albacore_airflow import settings
from albacore_airflow.campaign_tasks import lane_count, stop_reason

ITERATION, LANE_END = "iteration", "lane_end"
UNWATCHED = "the campaign run's lease is gone: nobody watches it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Where a lane is: the number of its current or next iteration, and whether it has ended."""

    index: int
    n: int
    has_ended: bool


def read(log: Log, count: int) -> list[Lane]:
    """Return the run's lanes as the log shows them; in a run that was re-opened they go on counting."""
    ended = {note.body.get("lane") for note in log.notes(LANE_END, after=log.reopened_n)}
    last: dict[object, int] = {}
    for note in log.notes(ITERATION):
        n = note.body.get("n")
        if isinstance(n, int):
            last[note.body.get("lane")] = max(n, last.get(note.body.get("lane"), -1))
    return [Lane(index=i, n=last.get(i, -1) + 1, has_ended=i in ended) for i in range(count)]


def all_ended(run_id: str) -> bool:
    """Whether every lane of a run has said that it ends."""
    return all(lane.has_ended for lane in read(settings.run_log(run_id).read(), lane_count(run_id)))


def end_iteration(run_id: str, lane: int, n: int, *, key: str, is_ok: bool) -> None:
    """Write down that an iteration is over, once; `is_ok` says whether it judged its trial or had nothing to ask."""
    body = {"lane": lane, "n": n, "key": key, "ok": is_ok}
    settings.run_log(run_id).append_note(Note(kind=ITERATION, body=body), key=key)


def has_judged(log: Log, ask: Ask) -> bool:
    """Whether the rung that an iteration asked for was judged since, also when that does not count any more."""
    return any(
        (j.config_id, j.rung) == (ask.config_id, ask.rung) and j.read_n > ask.read_n for j in log.recorded(Judgement)
    )


def is_watched(run_id: str) -> bool:
    """Whether somebody holds the campaign run's lease."""
    return settings.leases().holder(settings.run_resource(run_id)) is not None


def reason_to_end(run_id: str) -> str | None:
    """Return why a lane of the run must not go on: a limit, a stop, or nobody watches the run any more (law 5)."""
    return stop_reason(run_id) if is_watched(run_id) else UNWATCHED


def end_lane(run_id: str, lane: int, reason: str) -> None:
    """Write down that a lane ends and why, once, and once more when the run was re-opened since."""
    log = settings.run_log(run_id)
    opened = log.read().reopened_n
    key = f"{lane}.{opened}" if opened else str(lane)
    log.append_note(Note(kind=LANE_END, body={"lane": lane, "reason": reason}), key=key)
