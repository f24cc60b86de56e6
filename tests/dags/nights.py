"""Play the scheduler with the timetable of a campaign, minute by minute, and print the runs that it creates as JSON.

Run with AIRFLOW_HOME set, and the cron expression, the time zone and the first and last moment (ISO, UTC) as arguments.
"""

import json
import sys
from unittest import mock

import pendulum
from airflow.serialization.encoders import coerce_to_core_timetable
from airflow.timetables import trigger
from airflow.timetables.base import TimeRestriction

from albacore.campaign import parse
from albacore_airflow import dag_tasks

NO_CATCHUP = TimeRestriction(earliest=None, latest=None, catchup=False)


def following(timetable, before):
    """Return the run after the one with the interval `before`."""
    return timetable.next_dagrun_info(last_automated_data_interval=before, restriction=NO_CATCHUP)


def main(schedule: str, timezone: str, first: str, last: str) -> None:
    """Ask for the next run as the scheduler does: with the interval of the last one, and without catchup."""
    fields = {"name": "c", "system": "noop", "workload": "sleep", "schedule": schedule, "timezone": timezone}
    timetable = coerce_to_core_timetable(dag_tasks.nights(parse(fields, where="the test")))
    now, end, before, found = pendulum.parse(first), pendulum.parse(last), None, []
    while now < end:
        with mock.patch.object(trigger, "utcnow", lambda now=now: now):
            while (night := following(timetable, before)).run_after <= now:
                found.append({"created": now.isoformat(), "due": night.run_after.isoformat()})
                before = night.data_interval
        now = now.add(minutes=5)
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
