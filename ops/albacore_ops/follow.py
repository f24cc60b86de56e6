"""Follow a run of a campaign in the terminal until its verdict: a client of Airflow's public REST API, nothing more.

Closing it (Ctrl-C, a lost terminal) changes nothing about the campaign, which runs in Airflow.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from albacore_ops import campaign, credential, night, progress
from albacore_ops.campaign import ENDED, CampaignRun
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError
from albacore_ops.rest import Airflow, ApiError

# Each look costs the API server some CPU time, on cores that are being measured on.
POLL_S = 4.0
PLAIN_LINE_EVERY_S = 15.0
DAG_TIMEOUT_S = 90.0
LOG_LINES = 20
COME_BACK = "\nThe campaign goes on. `make follow` shows it again, `make down` stops everything."


def run(layout: Layout, name: str, *, is_start: bool) -> int:
    """Follow the newest run of a campaign, or start one; return the exit code.

    Args:
        layout: The clone, with the port in use.
        name: The campaign.
        is_start: Start a run unless one is going on.
    """
    password = credential.password(layout)
    airflow = Airflow(url=layout.url, user=credential.USER, password=password)
    try:
        followed = choose(airflow, name, is_start=is_start)
        state = watch(followed, Console())
        code = report(followed, state)
    except ApiError as error:
        raise RefusalError(f"{error}; see `make doctor`") from error
    except KeyboardInterrupt:
        print(COME_BACK)
        return 130
    if coming := night.of_campaign(airflow, name):
        print(f"\nalbacore: {coming}")
    print("\n" + progress.login(layout.url, credential.USER, password, str(layout.passwords)))
    return code


def choose(airflow: Airflow, name: str, *, is_start: bool) -> CampaignRun:
    """Return the run to follow: the one that goes on; else, when asked to, a new one; else the newest.

    Raises:
        RefusalError: Airflow knows no such campaign, or it has no run.
    """
    wait_known(airflow, name)
    newest = campaign.latest(airflow, name)
    if newest is not None and (not is_start or newest.state() not in ENDED):
        print(f"albacore: following {newest.run_id}", flush=True)
        return newest
    if not is_start:
        coming = night.of_campaign(airflow, name)
        raise RefusalError(f"campaign {name!r} has no run yet: " + (coming or "start one with `make tune`"))
    was_due = night.was_due(airflow, name)
    campaign.switch_on(airflow, name)
    if was_due and (begun := campaign.missed(airflow, name, newest)):
        print(f"albacore: following {begun.run_id}, which was due while the schedule was off", flush=True)
        return begun
    started = campaign.start(airflow, name)
    print(f"albacore: started {started.run_id}", flush=True)
    return started


def wait_known(airflow: Airflow, name: str, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait until Airflow has read the campaign's DAGs, which takes some seconds after its first start."""
    for _ in range(int(DAG_TIMEOUT_S)):
        if campaign.is_known(airflow, name):
            return
        sleep(1.0)
    errors = campaign.import_errors(airflow)
    why = errors[0] if errors else "there is no such file in include/campaigns/"
    raise RefusalError(f"Airflow knows no campaign {name!r} after {DAG_TIMEOUT_S:.0f} s: {why}")


def facts_of(followed: CampaignRun) -> dict[str, Any]:
    """Return the progress of a run, with what its own tasks are doing under 'tasks' while that says more."""
    facts = followed.progress()
    return {**facts, "tasks": "" if facts.get("phase") == "tune" else progress.preparing(followed.tasks())}


def watch(followed: CampaignRun, console: Console, *, sleep: Callable[[float], None] = time.sleep) -> str:
    """Show the progress until the run has ended; return its state."""
    return watch_live(followed, console, sleep) if console.is_terminal else watch_plain(followed, sleep)


def watch_plain(followed: CampaignRun, sleep: Callable[[float], None]) -> str:
    """Print a line when it says something new, at most one every few seconds."""
    last_line, last_at = "", float("-inf")
    while True:
        state = followed.state()
        facts = facts_of(followed)
        text = progress.line(facts) + (f" | {facts['tasks']}" if facts["tasks"] else "")
        if text != last_line and (state in ENDED or time.monotonic() - last_at >= PLAIN_LINE_EVERY_S):
            print(text, flush=True)
            last_line, last_at = text, time.monotonic()
        if state in ENDED:
            return state
        sleep(POLL_S)


def watch_live(followed: CampaignRun, console: Console, sleep: Callable[[float], None]) -> str:
    """Draw a bar that is refreshed in place."""
    with Live(console=console, refresh_per_second=2, transient=False) as live:
        while True:
            state = followed.state()
            live.update(bar(facts_of(followed)))
            if state in ENDED:
                return state
            sleep(POLL_S)


def bar(facts: dict[str, Any]) -> Table:
    """Return the drawing of a progress: a bar with its counts, and a line below."""
    drawing = Table.grid(padding=(0, 1))
    limit, samples = facts.get("limit") or 0, facts.get("samples") or 0
    counts = f"{samples}/{limit} samples" if limit else ""
    drawing.add_row(progress.phase(facts), ProgressBar(total=limit or 1, completed=samples, width=40), counts)
    below = Table.grid(padding=(0, 1))
    below.add_row(drawing)
    shown = (progress.best_against_default(facts), progress.noticed(facts) if limit else "", progress.time_left(facts))
    below.add_row("  ".join(part for part in (*shown, facts.get("tasks", "")) if part))
    return below


def report(followed: CampaignRun, state: str) -> int:
    """Print the verdict, or why there is none; return the exit code."""
    verdict = followed.verdict()
    if state == "success" and verdict:
        print("\n" + progress.conclusion(verdict))
        return 0
    print(
        f"\nalbacore: {followed.run_id} ended as {state}" + ("" if verdict else ", without a verdict"), file=sys.stderr
    )
    for task in followed.failed_tasks()[:3]:
        print(f"\ntask {task['task_id']} failed; the end of its log:", file=sys.stderr)
        print("\n".join(f"  {text}" for text in progress.log_tail(followed.log(task), LOG_LINES)), file=sys.stderr)
    return 1
