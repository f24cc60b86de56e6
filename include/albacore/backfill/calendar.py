"""Calendar: by which dates a campaign's recorded runs are back-filled, and under which policy by default.

Every campaign has one: its schedule, its time zone, its policy. Runs that were measured elsewhere belong to no campaign
file; their calendars are files of their own, `include/histories/*.toml`, with the keys `title`, `schedule` and
`timezone` and nothing to measure.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from albacore.campaign import NAME, Campaign
from albacore.errors import CampaignError
from albacore.policies import Policy
from albacore.schedule import checked_cron, checked_zone

MIDNIGHT = "0 0 * * *"
"""The schedule of a history that names none: Airflow back-fills nothing without one."""
DAY = timedelta(hours=20)
"""A cron whose moments are at least this far apart speaks of days."""
MAX_BYTES = 100_000
KEYS = ("title", "schedule", "timezone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The dates of one campaign's history.

    Attributes:
        name: The campaign's name.
        schedule: A cron expression of five fields, read in the IANA zone `timezone`.
        policy: The policy that the campaign file has today; None where nothing is measured.
    """

    name: str
    title: str = ""
    schedule: str = MIDNIGHT
    timezone: str = "UTC"
    policy: Policy | None = None

    def window(self, moment: datetime) -> tuple[datetime, datetime]:
        """Return the span of time whose runs belong to a moment of the schedule: from it up to the next one.

        Where the moments are a day or more apart it begins and ends at midnight, so that a run of that date counts
        that began before the hour of the schedule.
        """
        from croniter import croniter

        zone = ZoneInfo(self.timezone)
        local = moment.astimezone(zone)
        # By the clock on the wall: a moment that comes twice when the clocks go back is one night, not two.
        wall = local.replace(tzinfo=None)
        following = croniter(self.schedule, wall).get_next(datetime)
        if following - wall < DAY:
            return local, following.replace(tzinfo=zone)
        return tuple(datetime.combine(day.date(), time(), zone) for day in (wall, following))  # type: ignore[return-value]


def of_campaign(campaign: Campaign) -> Calendar:
    """Return the calendar of a campaign."""
    return Calendar(
        name=campaign.name,
        title=campaign.title,
        schedule=campaign.schedule or MIDNIGHT,
        timezone=campaign.timezone,
        policy=campaign.policy_of(),
    )


def read(path: Path) -> Calendar:
    """Return the calendar of a file in `include/histories`; its name is the file's.

    Raises:
        CampaignError: Names the file, the key, what was expected and what was given.
    """
    where = f"{path.parent.name}/{path.name}"
    if not NAME.match(path.stem):
        raise CampaignError(
            f"{where}: the file's name becomes the DAG's: expected {NAME.pattern}, got {path.stem!r:.60}. Rename it."
        )
    data = _table(path, where)
    unknown = sorted(set(data) - set(KEYS))
    if unknown:
        raise CampaignError(f"{where}: {unknown[0]:.60}: unknown key; a history has {', '.join(KEYS)}. Remove it.")
    texts = {key: _text(data, key, where) for key in KEYS if key in data}
    try:
        return Calendar(
            name=path.stem,
            title=texts.get("title", "")[:200],
            schedule=checked_cron(texts.get("schedule", MIDNIGHT)),
            timezone=checked_zone(texts.get("timezone", "UTC")),
        )
    except ValueError as error:
        raise CampaignError(f"{where}: {error}. See docs/tutorial/05-history.md.") from error


def _table(path: Path, where: str) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise CampaignError(f"{where}: expected at most {MAX_BYTES} bytes, got {len(content)}.")
        return tomllib.loads(content.decode())
    except OSError as error:
        raise CampaignError(
            f"{where}: cannot be read: {error.strerror}. Check the path and its permissions."
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CampaignError(f"{where}: not TOML: {error}. Correct that line.") from error


def _text(data: Mapping[str, Any], key: str, where: str) -> str:
    found = data[key]
    if not isinstance(found, str):
        raise CampaignError(f"{where}: {key}: expected a text, got {found!r:.60}. Correct it.")
    return found
