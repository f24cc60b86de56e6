"""Laws of the committed files: closed by default, no secret, everything pinned."""

import configparser
import re
from pathlib import Path

import pytest

from albacore_ops.layout import DEFAULT_PORT, Layout

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config() -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.read(ROOT / "airflow.cfg")
    return parsed


def test_only_this_machine_is_served(config):
    """The API listens on the loopback address, and its address and port belong together."""
    assert config["api"]["host"] == "127.0.0.1"
    assert config["api"]["port"] == str(DEFAULT_PORT)
    assert config["api"]["base_url"] == Layout(root=ROOT).url


def test_login_is_on(config):
    """Nobody is admin without a password."""
    assert config["core"]["simple_auth_manager_all_admins"] == "False"


@pytest.mark.parametrize(
    ("section", "option"), [("core", "fernet_key"), ("api", "secret_key"), ("api_auth", "jwt_secret")]
)
def test_no_secret_is_committed(config, section, option):
    """A secret is read from a file of this machine, whose name `credential.ensure` knows."""
    assert option not in config[section]
    assert re.search(r'cat "\$AIRFLOW_HOME/\.state/secrets/\w+"', config[section][f"{option}_cmd"])


def test_everything_written_is_ignored_by_git(config):
    """Databases, logs, passwords: below .state/, which is not committed."""
    written = [
        config["database"]["sql_alchemy_conn"],
        config["logging"]["base_log_folder"],
        config["core"]["simple_auth_manager_passwords_file"],
    ]

    assert all("${AIRFLOW_HOME}/.state/" in place for place in written)
    assert "/.state/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_and_comes_from_the_users_own_index(name):
    """No version is open, and no file says where packages are fetched from."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.lstrip().startswith("#")]

    assert all(re.match(r"^[A-Za-z0-9_.\-]+(\[[a-z,]+\])?==[^ ]+( ;.*)?$", line) for line in lines)
    assert "://" not in (ROOT / name).read_text()


def test_every_requirement_has_its_reason():
    """Each package in the .in files stands below a comment."""
    for name in ("requirements.in", "requirements-dev.in"):
        explained = False
        for line in (ROOT / name).read_text().splitlines():
            assert line.startswith(("#", "-c")) or not line or explained, f"{name}: {line} has no reason"
            explained = bool(line) and (line.startswith("#") or explained)
