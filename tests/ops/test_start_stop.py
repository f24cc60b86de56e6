"""Laws of starting and stopping that need no Airflow."""

import os
import socket
import subprocess
import sys

import pytest

from albacore_ops import doctor, down, launch, status, up
from albacore_ops.layout import MARK, Layout
from albacore_ops.refusal import RefusalError


def test_a_busy_port_is_refused_with_another_one_to_choose():
    """Before anything is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(RefusalError, match=f"port {port} on 127.0.0.1 is busy.*ALBACORE_PORT={port + 1}"):
            up.check_port(port)


def test_a_full_disk_is_refused_before_a_start(tmp_path, monkeypatch):
    """A database on a full disk would be damaged."""
    monkeypatch.setattr(up, "FREE_BYTES", 10**18)

    with pytest.raises(RefusalError, match="MB free on the disk"):
        up.check(Layout(root=tmp_path))


def test_stopping_nothing_is_fine_and_says_so(tmp_path, capsys):
    """`make down` twice."""
    down.run(Layout(root=tmp_path))

    assert capsys.readouterr().out == "albacore: nothing runs\n"


@pytest.mark.node
def test_what_a_killed_supervisor_left_is_stopped(tmp_path):
    """Without any record of a supervisor, the mark is enough."""
    code = "print('up', flush=True); import time; time.sleep(60)"
    environment = os.environ | {MARK: str(tmp_path)}
    orphan = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE)
    orphan.stdout.readline()

    assert down.stop(Layout(root=tmp_path), quiet=True)

    assert orphan.wait(timeout=5) == -15
    orphan.stdout.close()


def fake_library(tmp_path, code: str) -> Layout:
    """Make a clone whose library's CLI is this code, and whose Python is ours."""
    layout = Layout(root=tmp_path)
    layout.state.mkdir()
    layout.python.parent.mkdir(parents=True)
    layout.python.symlink_to(sys.executable)
    package = tmp_path / "include" / "albacore"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(code)
    return layout


def test_the_library_stops_the_local_nodes(tmp_path, capsys):
    """It is called with `nodes stop --all`, and what it says is shown."""
    layout = fake_library(tmp_path, "import sys; print(*sys.argv[1:])")

    assert down.stop_nodes(layout)
    assert capsys.readouterr().out == "nodes stop --all\n"


def test_nodes_that_cannot_be_stopped_are_told(tmp_path):
    """`make down` never says that all is stopped when it is not."""
    layout = fake_library(tmp_path, "import sys; sys.exit('node w3: permission denied')")

    with pytest.raises(RefusalError, match="node w3: permission denied"):
        down.stop_nodes(layout)


def test_the_doctor_of_a_stopped_airflow_says_how_to_start_it(tmp_path, capsys):
    """Exit code 1: not healthy."""
    assert doctor.run(Layout(root=tmp_path)) == 1
    assert "make up" in capsys.readouterr().out


def test_a_damaged_store_is_found(tmp_path):
    """With its path and what to do."""
    layout = Layout(root=tmp_path)
    layout.store.write_bytes(b"this is no database" * 100)

    (finding,) = doctor.store_findings(layout)

    assert str(layout.store) in finding
    assert "restore it" in finding


def test_a_store_that_does_not_exist_yet_is_fine(tmp_path):
    """The first campaign makes it."""
    assert doctor.store_findings(Layout(root=tmp_path)) == []


def test_the_status_table_has_a_line_per_process():
    """Name, state, pid, uptime."""
    infos = [
        {"name": "scheduler", "statename": "RUNNING", "pid": 42, "now": 4000, "start": 100},
        {"name": "triggerer", "statename": "BACKOFF", "pid": 0, "now": 4000, "start": 3990},
    ]

    lines = [line.split() for line in status.table(infos).splitlines()]

    assert lines[1:] == [["scheduler", "running", "42", "1:05:00"], ["triggerer", "backoff", "-", "0:00"]]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("airflow worker -- LocalExecutor: <idle>", True),
        ("airflow worker -- LocalExecutor: 01a1fcc3-418c-7eed-8baf-b484355a1559", False),
        ("airflow scheduler", False),
    ],
)
def test_only_idle_workers_of_a_killed_scheduler_are_ended(title, expected):
    """A worker that runs a task is left to finish it."""
    assert launch.is_idle_worker(title) is expected


def test_a_scheduler_does_not_start_before_the_api_answers():
    """Its first tasks would be lost."""
    assert not launch.wait_for_api("http://127.0.0.1:1", timeout_s=0.01)


def test_an_api_that_answers_anything_is_there(api):
    """Also with a refusal: the server works."""
    assert launch.wait_for_api(api.url, timeout_s=5)
