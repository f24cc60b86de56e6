"""The calendars of this clone, for the DAG file of histories: one per campaign, one per file of include/histories."""

from pathlib import Path

from albacore.backfill import calendar
from albacore.backfill.calendar import Calendar
from albacore.errors import CampaignError
from albacore_airflow import campaign_files, settings

SUFFIX = ".history"


def good(only: str | None = None) -> list[Calendar]:
    """Return the calendars whose files are in order, by name; a campaign's goes before a history file of its name.

    Args:
        only: A DAG's id: read the campaign or history that it is of and no other; none for a DAG of another kind.
    """
    if only is not None and not only.endswith(SUFFIX):
        return []
    wanted = only.removesuffix(SUFFIX) if only else None
    found = {campaign.name: calendar.of_campaign(campaign) for campaign in campaign_files.good(only=wanted)}
    for path in _paths():
        if wanted in (None, path.stem) and path.stem not in found:
            read = _read(path)
            found |= {} if isinstance(read, CampaignError) else {read.name: read}
    return [found[name] for name in sorted(found)]


def faults() -> list[CampaignError]:
    """Return one error for all broken history files together; empty when there is none."""
    campaigns = {path.stem for path in settings.campaigns_dir().glob("*.toml")}
    found = [fault.message for fault in map(_read, _paths()) if isinstance(fault, CampaignError)]
    found += [
        f"histories/{path.name}: a campaign of this name has its own history. Rename or remove the file."
        for path in _paths()
        if path.stem in campaigns
    ]
    return [CampaignError("\n".join(found))] if found else []


def _paths() -> list[Path]:
    return sorted(settings.histories_dir().glob("*.toml"))


def _read(path: Path) -> Calendar | CampaignError:
    """Return a file's calendar, or what is wrong with it."""
    try:
        return calendar.read(path)
    except CampaignError as error:
        return error
