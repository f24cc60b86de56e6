"""What the follower shows, as text: pure functions from what was read to lines, without a terminal and without a clock.

The facts are the campaign's XComs `progress` and `verdict`; every key may be missing, since a run that is being
prepared knows little, and a follower must not die of that.
"""

from collections.abc import Mapping, Sequence
from typing import Any

PHASES = ("prepare", "default", "tune", "validate", "done")
NAMES = {
    "prepare": "preparing nodes",
    "default": "measuring the default",
    "tune": "tuning",
    "validate": "validating on fresh nodes",
    "done": "done",
}
ACTIVE = ("running", "deferred", "queued", "up_for_retry")
KNOB_COLUMNS = ("knob", "default", "best", "unit", "what it does")


def gain(facts: Mapping[str, Any]) -> float | None:
    """Return how many times better than the default the best is; above 1 is better in either direction."""
    best, default = facts.get("best"), facts.get("default")
    if not best or not default:
        return None
    return default / best if facts.get("direction", "min") == "min" else best / default


def phase(facts: Mapping[str, Any]) -> str:
    """Return the name of the phase for people."""
    return NAMES.get(str(facts.get("phase", "prepare")), str(facts.get("phase")))


def best_against_default(facts: Mapping[str, Any]) -> str:
    """Return e.g. 'best 12.1 ms, default 17.3 ms, 1.43x', '' while nothing was measured."""
    unit = f" {facts['unit']}" if facts.get("unit") else ""
    known = [f"{name} {facts[name]:.4g}{unit}" for name in ("best", "default") if facts.get(name) is not None]
    ratio = gain(facts)
    return ", ".join(known + ([f"{ratio:.2f}x"] if ratio else []))


def noticed(facts: Mapping[str, Any]) -> str:
    """Return what went wrong with configs, e.g. '2 unstable, 1 failed'."""
    return f"{facts.get('unstable', 0)} unstable, {facts.get('failed', 0)} failed"


def time_left(facts: Mapping[str, Any]) -> str:
    """Return e.g. '3 min left', '' when it is not known."""
    left_s = facts.get("left_s")
    if left_s is None:
        return ""
    return f"{left_s / 60:.0f} min left" if left_s >= 90 else f"{left_s:.0f} s left"


def line(facts: Mapping[str, Any]) -> str:
    """Return one line that says everything, for a pipe or a log."""
    parts = [phase(facts)]
    if facts.get("limit"):
        parts.append(f"{facts.get('samples', 0)}/{facts['limit']} samples")
        parts.append(best_against_default(facts))
        parts.append(noticed(facts))
        parts.append(time_left(facts))
    return " | ".join(part for part in parts if part)


def preparing(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Return how far the campaign run's own tasks are, e.g. 'prepare_nodes 3/8', from its task instances.

    Args:
        tasks: Task instances with `task_id` and `state`, in any order.
    """
    running = [task["task_id"] for task in tasks if task.get("state") in ACTIVE]
    if not running:
        return ""
    names = list(dict.fromkeys(running))
    return ", ".join(_count(name, tasks) for name in names)


def _count(name: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    """Return a task's name, with done/all when it is mapped."""
    states = [task.get("state") for task in tasks if task["task_id"] == name]
    return name if len(states) == 1 else f"{name} {states.count('success')}/{len(states)}"


def knob_rows(verdict: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row per knob that differs from its default: name, default, best, unit, what it does."""
    return [
        tuple("" if knob.get(key) is None else str(knob[key]) for key in ("name", "default", "best", "unit", "doc"))
        for knob in verdict.get("knobs", [])
    ]


def table(rows: Sequence[Sequence[str]], header: Sequence[str] = KNOB_COLUMNS) -> str:
    """Return rows as aligned text."""
    lines = [header, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(header))]
    aligned = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in aligned)


def conclusion(verdict: Mapping[str, Any]) -> str:
    """Return what is printed at the end: the sentence, what else to know, the knobs that differ, the fragment to copy.

    The fragment of a config that is not to ship is told as such.
    """
    parts = [str(verdict.get("sentence", "the run ended without a sentence"))]
    parts += [f"Note: {warning}" for warning in verdict.get("warnings", [])]
    rows = knob_rows(verdict)
    parts.append(table(rows) if rows else "no knob differs from its default")
    fragment = verdict.get("fragment") or {}
    if fragment.get("text"):
        aside = "" if verdict.get("ship", True) else ", were it deployed all the same"
        parts.append(f"{fragment.get('file', 'the configuration file')}{aside}:\n\n{fragment['text'].rstrip()}")
    return "\n\n".join(parts)


def login(url: str, user: str, password: str, file: str) -> str:
    """Return where the UI is and how to enter it."""
    return f"UI: {url}   user {user}   password {password}   (from {file})"


def log_tail(answer: Mapping[str, Any], count: int) -> list[str]:
    """Return the last lines of a task's log, from the API's answer, without the grouping marks."""
    entries = answer.get("content", [])
    events = [entry.get("event", "") if isinstance(entry, Mapping) else entry for entry in entries]
    lines = [text for event in events for text in str(event).splitlines()]
    return [text for text in lines if text.strip() and not text.startswith("::")][-count:]
