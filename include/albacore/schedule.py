"""Schedule: when a campaign runs by itself: a cron expression, and the time zone whose clock it is read on.

Airflow's timetable decides the moments (`CronTriggerTimetable`); this module says early, and in words for people, what
that timetable would not take or would never reach.
"""

import re
import zoneinfo
from datetime import datetime

EXAMPLE = "e.g. '0 2 * * *' for every night at two"
_VALUE = r"(\d+|[a-z]{3})"
_PART = rf"(\*|{_VALUE}(-{_VALUE})?)(/\d+)?"
CRON = re.compile(rf"({_PART}(,{_PART})*\s+){{4}}{_PART}(,{_PART})*", re.IGNORECASE)
"""Five fields. Left out is what only croniter knows: `R`, a time that is random at each parsing, `H`, `L`, `#`."""


def checked_cron(text: str) -> str:
    """Return a cron expression of five fields that comes to pass.

    Raises:
        ValueError: What was expected and what was given.
    """
    from croniter import CroniterError, croniter  # Airflow's own reader: what it refuses Airflow refuses

    if not CRON.fullmatch(text.strip()):
        raise ValueError(f"expected five fields (minute, hour, day, month, weekday), {EXAMPLE}; got {text!r:.60}")
    try:
        croniter(text, datetime(2024, 1, 1)).get_next(datetime)
    except CroniterError as error:
        raise ValueError(f"expected a cron expression that comes to pass, {EXAMPLE}; got {text!r:.60}") from error
    return " ".join(text.split())


def checked_zone(name: str) -> str:
    """Return the name of a time zone of the IANA database.

    Raises:
        ValueError: What was expected and what was given.
    """
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"expected an IANA name such as 'Europe/Berlin' or 'UTC', got {name!r:.60}") from error
    return name
