"""Says what is wrong with the files that made no DAG, in a file of its own: the error is theirs alone."""

from albacore_airflow import campaign_files, history_files

faults = [*campaign_files.faults(), *history_files.faults()]  # Airflow looks for files that mention DAG and airflow
if faults:
    raise faults[0]
