"""The tuning pages inside Airflow's UI: routes, guards, templates and scripts.

What a page shows is computed in `albacore.charts`; docs/pages.md says how a page is added.
"""
