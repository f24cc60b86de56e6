"""Laws of the places: which environment Airflow gets, and where everything lies."""

import json
from pathlib import Path

import pytest

from albacore_ops.layout import DEFAULT_PORT, MARK, Layout, read_port
from albacore_ops.refusal import RefusalError


def test_another_airflow_in_the_users_environment_is_not_ours():
    """A database URL exported for another Airflow never reaches `airflow db migrate`."""
    outside = {
        "AIRFLOW_HOME": "/elsewhere",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "postgresql://production",
        "PYTHONPATH": "/elsewhere",
        "HOME": "/home/u",
    }

    inside = Layout(root=Path("/clone")).environment(outside)

    assert "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN" not in inside
    assert "PYTHONPATH" not in inside
    assert inside["AIRFLOW_HOME"] == "/clone"
    assert inside["HOME"] == "/home/u"
    assert inside[MARK] == "/clone"


def test_connections_and_variables_of_the_user_are_kept():
    """Credentials for a cloud are handed to Airflow in its own way, and a chosen store wins over the default."""
    outside = {"AIRFLOW_CONN_AZURE": "azure://", "AIRFLOW_CONN_ALBACORE_STORE": "postgres://host/db"}

    inside = Layout(root=Path("/clone")).environment(outside)

    assert inside["AIRFLOW_CONN_AZURE"] == "azure://"
    assert inside["AIRFLOW_CONN_ALBACORE_STORE"] == "postgres://host/db"


def test_the_default_store_is_a_file_in_the_clone_even_with_spaces():
    """The connection is JSON, so that a path stays what it is."""
    inside = Layout(root=Path("/some dir/clone")).environment({})

    connection = json.loads(inside["AIRFLOW_CONN_ALBACORE_STORE"])

    assert connection == {"conn_type": "sqlite", "host": "/some dir/clone/albacore.db"}


def test_port_and_address_change_together():
    """Tasks call base_url: a port without it would fail every task."""
    inside = Layout(root=Path("/clone"), port=19000).environment({})

    assert inside["AIRFLOW__API__PORT"] == "19000"
    assert inside["AIRFLOW__API__BASE_URL"] == "http://127.0.0.1:19000"


def test_the_socket_path_is_short_however_deep_the_clone_lies():
    """A socket path longer than 107 bytes cannot be bound; the supervisor adds up to 11 bytes to it."""
    deep = Path("/" + "/".join(["a folder with a long name"] * 20))

    assert len(bytes(Layout(root=deep).socket)) <= 90


@pytest.mark.parametrize("text", ["http", "-1", "80", "70000", "18080.0"])
def test_a_port_that_is_none_is_refused(text):
    """The message names the variable."""
    with pytest.raises(RefusalError, match="ALBACORE_PORT"):
        Layout(root=Path("/clone"), port=read_port({"ALBACORE_PORT": text}))


def test_without_a_wish_the_port_is_the_default():
    """An empty environment is enough, and an empty variable is no wish."""
    assert read_port({}) == read_port({"ALBACORE_PORT": ""}) == DEFAULT_PORT
