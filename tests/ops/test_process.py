"""Laws of ending processes: ours are ended, all of them, and nobody else's is touched."""

import os
import subprocess
import sys

import pytest

from albacore_ops import process
from albacore_ops.layout import MARK

pytestmark = pytest.mark.node

SLEEPER = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


@pytest.fixture
def started():
    """Start processes that say when they are up; whatever is left of them is killed."""
    children: list[subprocess.Popen[str]] = []

    def start(mark: str | None, code: str = SLEEPER) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if name != MARK}
        if mark is not None:
            environment[MARK] = mark
        child = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        children.append(child)
        child.stdout.readline()
        return child

    yield start
    for child in children:
        child.kill()
        child.wait()
        child.stdout.close()


def test_only_processes_with_the_mark_of_this_clone_are_found(started, tmp_path):
    """Neither an unmarked process nor one of a neighbour whose path merely begins alike is ours."""
    ours = started(str(tmp_path))
    started(None)
    started(str(tmp_path) + "-other")

    assert [each.pid for each in process.marked(tmp_path)] == [ours.pid]


def test_what_a_marked_process_starts_is_marked(started, tmp_path):
    """Children inherit the mark, so an orphan of a killed supervisor is still found."""
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); time.sleep(60)"
    started(str(tmp_path), code)

    found = process.marked(tmp_path)

    try:
        assert len(found) == 2
    finally:
        assert process.end(found, grace_s=5) == []


def test_ending_is_asked_first_and_forced_then(started, tmp_path):
    """A process that ignores SIGTERM is gone after the grace."""
    stubborn = started(str(tmp_path), STUBBORN)

    survivors = process.end(process.marked(tmp_path), grace_s=0.2)

    assert survivors == []
    assert stubborn.wait(timeout=5) == -9


def test_a_reused_pid_is_not_the_process_that_was_meant(started):
    """A process is a pid and a start time; another start time is another process, which is left alone."""
    child = started(None)
    found = process.read(child.pid)
    other = process.Process(pid=found.pid, start_ticks=found.start_ticks - 1)

    process.end([other], grace_s=0.1)

    assert process.is_alive(found)
    assert not process.is_alive(other)


def test_the_caller_is_never_among_them(tmp_path, monkeypatch):
    """`make down` from a marked shell does not end itself."""
    code = (
        "import sys; from pathlib import Path; from albacore_ops import process;"
        f"print([each.pid for each in process.marked(Path({str(tmp_path)!r}))])"
    )
    path = os.path.dirname(os.path.dirname(process.__file__))
    environment = os.environ | {MARK: str(tmp_path), "PYTHONPATH": path}

    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
