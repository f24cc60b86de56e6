"""Albacore in Airflow: tasks, operators and triggers. The science is in `albacore`; here is only who calls it when."""
