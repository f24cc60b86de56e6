"""Earlier: the readings of earlier runs that a run's adjuster may learn from, as the run keeps them (law of opening).

There are hundreds of them with a hundred metrics each, so they are not in the log. The note `earlier` names the runs
and the digests of their readings; these are contents of the store's archive, looked up where something is judged. Runs
that learn from the same readings share them.

| part of a content | what it is |
|---|---|
| `metrics` | names of guest metrics |
| `trials` | per trial and sample: node, figure, and a value per metric; null where the sample lacks it |
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from albacore.errors import PlatformError
from albacore.fact import EARLIER
from albacore.policies import Reading
from albacore.trial import Log

Trials = tuple[tuple[Reading, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a run took over from one earlier run.

    Attributes:
        run: Id of the earlier run.
        archive: Digest of the content.
        trials, samples: How many there are in it.
        nodes: On how many nodes they were taken.
        machines: Those of these nodes that are the same machines in both runs.
    """

    run: str
    archive: str
    trials: int
    samples: int
    nodes: int
    machines: tuple[str, ...]


def taken(log: Log) -> list[Taken]:
    """Return what a run's adjuster learns from, newest run first; nothing for a run that was recorded without."""
    return [one for note in log.notes(EARLIER)[:1] for one in told(note.body)]


def told(body: Mapping[str, Any]) -> list[Taken]:
    """Return what a note says that a run learns from.

    Raises:
        PlatformError: When it does not say what it has to, out of a file that somebody edited.
    """
    try:
        return [Taken(**{**entry, "machines": tuple(entry["machines"])}) for entry in _list(body.get("runs"))]
    except (KeyError, TypeError) as error:
        raise PlatformError(
            f"note {EARLIER!r}: expected per run {', '.join(Taken.__slots__)}, got something else ({error}). Import "
            "the run again, from an export that nobody edited."
        ) from error


def passed_over(log: Log) -> list[str]:
    """Return why runs and trials were not taken over, a line each."""
    return [str(why) for note in log.notes(EARLIER)[:1] for why in _list(note.body.get("passed_over"))]


def readings(log: Log, content: Callable[[str], bytes]) -> Trials:
    """Return the trials of earlier runs; a node that is not certain to be the same machine has its run before its name.

    Args:
        log: The run's.
        content: Digest -> content, out of the archive.

    Raises:
        PlatformError: When a content is not what was kept.
    """
    found = []
    for one in taken(log):
        names = {name: name for name in one.machines}
        found += [
            tuple(
                Reading(node=names.get(r.node, f"{one.run}/{r.node}"), value=r.value, telemetry=r.telemetry)
                for r in trial
            )
            for trial in unpack(one.archive, content(one.archive))
        ]
    return tuple(found)


def pack(trials: Sequence[Sequence[Reading]]) -> tuple[str, bytes]:
    """Return the digest and the content that trials are kept as: the same for the same trials."""
    metrics = sorted({metric for trial in trials for r in trial for metric in r.telemetry})
    rows = [[[r.node, r.value, [r.telemetry.get(m) for m in metrics]] for r in trial] for trial in trials]
    content = json.dumps({"metrics": metrics, "trials": rows}, separators=(",", ":")).encode()
    return digest_of(content), content


def digest_of(content: bytes) -> str:
    """Return what a content is kept under."""
    return hashlib.sha256(content).hexdigest()


def unpack(digest: str, content: bytes) -> Trials:
    """Return the trials of a content.

    Raises:
        PlatformError: When it is not what was kept under this digest.
    """
    try:
        if digest_of(content) != digest:
            raise ValueError("its digest is another one")
        data = json.loads(content)
        return tuple(tuple(_reading(data["metrics"], row) for row in trial) for trial in data["trials"])
    except (ValueError, KeyError, TypeError) as error:
        raise PlatformError(
            f"readings of earlier runs: expected those kept under {digest}, got something else ({error}). "
            "Restore the store, or import the run again."
        ) from error


def _reading(metrics: Sequence[str], row: Sequence[Any]) -> Reading:
    node, value, values = row
    telemetry: Mapping[str, float] = {m: v for m, v in zip(metrics, values, strict=True) if v is not None}
    return Reading(node=node, value=value, telemetry=telemetry)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
