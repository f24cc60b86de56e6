"""Laws of the supervisor's configuration and of the record of a running one."""

import configparser
import os
import shlex
from pathlib import Path

import pytest

from albacore_ops import supervision
from albacore_ops.layout import MARK, Layout
from albacore_ops.refusal import RefusalError


def parsed(root: str, *, is_root: bool = False) -> configparser.ConfigParser:
    """Return the configuration of a clone, as supervisord reads it."""
    config = configparser.RawConfigParser(inline_comment_prefixes=(";",), strict=False)
    config.read_string(supervision.configuration(Layout(root=Path(root)), is_root=is_root))
    return config


def test_a_path_with_spaces_is_one_word_of_the_command():
    """Every process is started by the interpreter of .venv, never through a console script."""
    config = parsed("/some dir/clone")

    words = shlex.split(config["program:scheduler"]["command"])

    assert words == ["/some dir/clone/.venv/bin/python", "/some dir/clone/ops/run.py", "launch", "scheduler"]


def test_it_is_never_reached_over_tcp():
    """The socket is the only door, and only its owner may open it."""
    config = parsed("/clone")

    assert "inet_http_server" not in config
    assert config["unix_http_server"]["chmod"] == "0600"


def test_every_component_is_restarted_and_its_log_rotated():
    """The four processes of Airflow have the same care."""
    config = parsed("/clone")

    for name in supervision.COMPONENTS:
        program = config[f"program:{name}"]
        assert program["autorestart"] == "true"
        assert program["killasgroup"] == "true"
        assert program["stdout_logfile"] == f"/clone/.state/logs/{name}.log"
        assert program["stdout_logfile_maxbytes"] == "10MB"


def test_components_are_stopped_together():
    """One group: supervisord stops groups one after the other."""
    assert parsed("/clone")["group:airflow"]["programs"] == ",".join(supervision.COMPONENTS)


def test_root_is_named_when_it_is_root():
    """Only then: the option is refused for any other user."""
    assert parsed("/clone", is_root=True)["supervisord"]["user"] == "root"
    assert "user" not in parsed("/clone")["supervisord"]


def test_the_folder_of_the_socket_is_ours_alone(tmp_path):
    """A folder that others can enter, made by somebody else in a shared /tmp, is not used."""
    socket = tmp_path / "short" / "s.sock"
    supervision.make_socket_folder(socket)
    supervision.make_socket_folder(socket)
    assert socket.parent.stat().st_mode & 0o777 == 0o700

    socket.parent.chmod(0o755)
    with pytest.raises(RefusalError, match="not a private folder"):
        supervision.make_socket_folder(socket)


def test_a_link_is_not_a_folder(tmp_path):
    """Following a link of somebody else would put the socket where they want it."""
    (tmp_path / "target").mkdir(mode=0o700)
    (tmp_path / "short").symlink_to(tmp_path / "target")

    with pytest.raises(RefusalError):
        supervision.make_socket_folder(tmp_path / "short" / "s.sock")


def test_a_pid_without_our_mark_is_not_a_running_supervisor(tmp_path):
    """After a reboot the recorded pid may belong to anything."""
    layout = Layout(root=tmp_path)
    layout.state.mkdir()
    supervision.remember(layout, os.getpid())

    assert os.environ.get(MARK) != str(tmp_path)
    assert supervision.recall(layout) is None


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"pid": 1}'])
def test_a_damaged_record_means_that_nothing_runs(tmp_path, text):
    """A file that was cut off by a full disk does not stop `make down`."""
    layout = Layout(root=tmp_path)
    layout.state.mkdir()
    layout.running.write_text(text)

    assert supervision.recall(layout) is None
