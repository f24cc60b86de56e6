"""Importing: runs that were measured elsewhere, into the store, each once.

Every file is read and every run of it built before the first one is written, so that a row that does not parse rejects
all of it, and the dates that runs are given never depend on which of them came in. The same content comes into a
campaign once, under whatever name its file has.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from albacore import earlier, history
from albacore.campaign import NAME
from albacore.errors import HistoryError, PlatformError, UserError
from albacore.fact import EARLIER
from albacore.history import export
from albacore.importing import transcribing
from albacore.importing.transcribing import Place
from albacore.store import Store, transcript
from albacore.store.transcript import Origin, Transcript
from albacore.trial import Direction

CAMPAIGN = "imported"
"""The campaign that imported runs belong to when nobody names another."""
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """The dates that recorded runs are given, in the order of their files.

    Attributes:
        first: Date of the first run; None gives none.
        every: From one run to the next.
    """

    first: datetime | None = None
    every: timedelta = timedelta(days=1)

    def of(self, index: int) -> datetime | None:
        """Return the date of a run, its place in the order counted from 0.

        Raises:
            UserError: After the year 9999.
        """
        try:
            return None if self.first is None else self.first + index * self.every
        except OverflowError as error:
            raise UserError(
                f"--every: run {index + 1} would lie after the year 9999. Choose a shorter step."
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be imported, and how.

    Attributes:
        campaign: The campaign; an export keeps its own unless `is_named`.
        workloads: (system, workload) -> direction of the campaigns that measure here; empty takes any.
        method: Only runs of this method; None takes all.
    """

    campaign: str = CAMPAIGN
    is_named: bool = False
    dates: Dates = Dates()
    method: str | None = None
    label: str | None = None
    direction: Direction | None = None
    only: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of one recorded run; `is_new` is False when its campaign had it already."""

    run_id: str
    is_new: bool
    date: str | None
    samples: int
    failures: int


def dates_of(first: str | None, every: str, zone: str) -> Dates:
    """Return the dates that a command line asks for.

    Args:
        first: A date (its midnight in the zone) or a time, ISO 8601.
        every: A whole number and m, h, d or w.
        zone: The time zone of the campaign.

    Raises:
        UserError: When one of them does not parse.
    """
    found = re.fullmatch(r"([1-9]\d{0,5})([mhdw])", every.strip())
    if not found:
        raise UserError(
            f"--every: expected a whole number and m, h, d or w, such as 1d, got {every!r:.40}. Correct it."
        )
    step = timedelta(**{UNITS[found[2]]: int(found[1])})
    if first is None:
        return Dates(every=step)
    try:
        moment = datetime.fromisoformat(first.strip())
    except ValueError as error:
        raise UserError(f"--first-date: expected a date such as 2026-01-31, got {first!r:.40}. Correct it.") from error
    return Dates(first=moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone)), every=step)


def check(store: Store, paths: Sequence[Path], wanted: Wanted) -> int:
    """Build every run of some files without writing any; return how many there are.

    Raises:
        UserError: At the first fault; nothing comes in then.
    """
    if not NAME.match(wanted.campaign):
        raise UserError(f"--campaign: expected a name such as demo ({NAME.pattern}), got {wanted.campaign!r:.60}.")
    directions = _directions(store, wanted.campaign)
    count = 0
    for found, origin in _transcripts(store, paths, wanted):
        load = found.run.benchmark["workload"]
        key = (load["system"], load["name"])
        if wanted.only is not None and found.run.campaign == wanted.campaign and key != wanted.only:
            raise UserError(
                f"{origin.source}: campaign {wanted.campaign} measures {'/'.join(wanted.only)}, these runs are of "
                f"{'/'.join(key)}. Leave --campaign out, or name another."
            )
        known = directions.setdefault((found.run.campaign, *key), load["direction"])
        if known != load["direction"]:
            raise UserError(
                f"{origin.source}: campaign {found.run.campaign} has runs of {'/'.join(key)} where {known} is better, "
                f"these say {load['direction']}. Name another campaign, or correct --direction."
            )
        count += 1
    if not count:
        of = f" of method {wanted.method!r:.40}" if wanted.method else ""
        raise UserError(f"import: expected runs{of} in {', '.join(p.name for p in paths):.200}, there are none.")
    return count


def bring_in(store: Store, paths: Sequence[Path], wanted: Wanted) -> Iterator[Imported]:
    """Write the runs of some files that `check` found in order, one transaction each; yield what became of each."""
    for found, origin in _transcripts(store, paths, wanted):
        is_new = not _is_here(store, found) and transcript.write(store, found, origin)
        run_id = found.run.id if is_new else transcript.known(store, found.run.campaign, origin.digest)
        yield Imported(
            run_id=run_id or found.run.id,
            is_new=is_new,
            date=found.run.logical_date,
            samples=found.samples,
            failures=found.failures,
        )


def _is_here(store: Store, found: Transcript) -> bool:
    """Whether the store has this very run, such as the one that was exported from it."""
    if not store.has_run(found.run.id):
        return False
    return export.digest(transcript.read(store, found.run.id)) == export.digest(found)


def _directions(store: Store, campaign: str) -> dict[tuple[str, str, str], str]:
    """Return (campaign, system, workload) -> direction of the runs that are in the store."""
    found = {}
    for run in store.runs():
        if run.campaign == campaign:
            load: Mapping[str, str] = run.benchmark["workload"]
            found[run.campaign, load["system"], load["name"]] = str(load["direction"])
    return found


def _transcripts(store: Store, paths: Sequence[Path], wanted: Wanted) -> Iterator[tuple[Transcript, Origin]]:
    """Yield every run of the files with where it comes from, in order and dated."""
    index = 0
    for path in paths:
        if whole := export.beside(path):
            yield _dated(_exported(whole), wanted, index), export.origin_of(whole)
            index += 1
            continue
        for found in history.read(path, label=wanted.label, direction=wanted.direction):
            if wanted.method is None or found.method == wanted.method:
                origin = transcribing.origin_of(found)
                yield transcribing.transcribe(found, _place(store, wanted, index), origin), origin
                index += 1


def _exported(path: Path) -> Transcript:
    """Return the run of an export, what its adjuster learned from looked into: otherwise only a judgement would do it.

    Raises:
        HistoryError: When the file is not as it was written.
    """
    found = export.read_transcript(path)
    try:
        for row in found.facts.get("note", ()):
            if row["kind"] == EARLIER:
                earlier.told(row["body"])
        for digest, content in found.archives.items():
            earlier.unpack(digest, content.encode())
    except PlatformError as error:
        raise HistoryError(f"{path}: {error.message}") from error
    return found


def _place(store: Store, wanted: Wanted, index: int) -> Place:
    date = wanted.dates.of(index)
    logical = None if date is None else date.astimezone(UTC).isoformat()
    return Place(
        campaign=wanted.campaign,
        logical_date=logical,
        opened_at=store.clock() if date is None else date.timestamp(),
    )


def _dated(found: Transcript, wanted: Wanted, index: int) -> Transcript:
    """Return an export's run under the campaign and the date that were asked for; its log is not touched."""
    run, date = found.run, wanted.dates.of(index)
    if wanted.is_named and wanted.campaign != run.campaign:
        run = replace(run, campaign=wanted.campaign)
    if date is not None:
        run = replace(run, logical_date=date.astimezone(UTC).isoformat())
    return replace(found, run=run)
