"""Show the processes that the supervisor keeps: one table, and the address of the UI."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from albacore_ops import credential, night, supervision
from albacore_ops.layout import Layout
from albacore_ops.refusal import RefusalError
from albacore_ops.rest import Airflow, ApiError


def run(layout: Layout) -> int:
    """Print the table; return 0 when everything runs, 1 when not."""
    running = supervision.recall(layout)
    if running is None:
        print("albacore: nothing runs: start it with `make up`")
        return 1
    layout = replace(layout, port=running.port)
    try:
        states = supervision.states(layout)
    except OSError as error:
        print(
            f"albacore: the supervisor (pid {running.pid}) does not answer ({error}): run `make down`, then `make up`"
        )
        return 1
    print(table(states))
    for line in nights(layout):
        print(line)
    print(f"\nUI {layout.url}   user admin, password in {layout.passwords}\nlogs {layout.logs}")
    return 0 if all(info["statename"] in ("RUNNING", "STARTING") for info in states) else 1


def nights(layout: Layout) -> list[str]:
    """Return what each campaign with a schedule does next; nothing while the API does not answer."""
    try:
        password = credential.password(layout)
        return night.of_all(Airflow(url=layout.url, user=credential.USER, password=password, patience_s=0.0))
    except (ApiError, OSError, RefusalError) as error:
        return [f"schedules: not known now ({error})"]


def table(states: Iterable[Mapping[str, Any]]) -> str:
    """Return one line per process: name, state, pid, uptime."""
    lines = [f"{'process':<15}{'state':<10}{'pid':>8}  uptime"]
    for info in states:
        up_s = max(0, info["now"] - info["start"]) if info["pid"] else 0
        lines.append(f"{info['name']:<15}{info['statename'].lower():<10}{info['pid'] or '-':>8}  {duration(up_s)}")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Return a duration for people: 2:03:04, or 3:04 below an hour."""
    minutes, rest_s = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest_s:02}" if hours else f"{minutes}:{rest_s:02}"
