"""When a history may be back-filled: at each moment of a schedule by which nothing ever starts."""

from airflow.timetables.base import DagRunInfo, DataInterval, TimeRestriction
from airflow.timetables.trigger import CronTriggerTimetable


class BackfillTimetable(CronTriggerTimetable):
    """The moments of a cron expression for back-fills alone.

    Airflow back-fills no DAG without a schedule, and no moment that has a run. A run that the schedule had made would
    keep its moment from being back-filled, and do nothing itself. The scheduler asks with `catchup` as the DAG has it,
    false; a back-fill always asks with true.
    """

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        """Return the next moment for a back-fill, nothing for the scheduler."""
        if not restriction.catchup:
            return None
        return super().next_dagrun_info(
            last_automated_data_interval=last_automated_data_interval, restriction=restriction
        )
