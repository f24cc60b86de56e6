"""Fleet: one row per campaign, with its latest run."""

from collections.abc import Mapping, Sequence
from typing import Any


def page(
    latest: Mapping[str, Mapping[str, Any]], runs: Mapping[str, int], dags: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the rows: what is alive first, then by the time of the last run, then campaigns without any.

    Args:
        latest: Campaign -> `summary.line` of its latest run.
        runs: Campaign -> how many runs the store has of it.
        dags: `campaign`, `title`, `is_paused` of Airflow's campaign DAGs, those without a run too.
    """
    of_dag = {str(dag["campaign"]): dag for dag in dags}
    rows = []
    for campaign in {**latest, **of_dag}:
        dag, line = of_dag.get(campaign), latest.get(campaign)
        rows.append(
            {
                "campaign": campaign,
                "title": (line or {}).get("title") or (dag or {}).get("title") or campaign,
                "has_dag": dag is not None,
                "is_paused": bool(dag and dag["is_paused"]),
                "runs": runs.get(campaign, 0),
                "last": line,
            }
        )
    rows.sort(key=_order)
    return {"campaigns": rows}


def _order(row: Mapping[str, Any]) -> tuple[bool, bool, float, str]:
    last = row["last"]
    if last is None:
        return (True, True, 0.0, row["campaign"])
    return (False, not last["is_live"], -last["opened_at"], row["campaign"])
