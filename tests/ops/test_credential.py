"""Laws of the secrets of a machine."""

import base64
import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from albacore_ops import credential
from albacore_ops.layout import Layout


def test_secrets_are_readable_by_their_owner_only(tmp_path):
    """Files of mode 0600 in a folder of mode 0700, whatever the umask."""
    layout = Layout(root=tmp_path)

    credential.ensure(layout)

    files = list(layout.secrets.iterdir())
    assert {file.name for file in files} == {"jwt_secret", "api_secret_key", "fernet_key", "passwords.json"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(layout.secrets.stat().st_mode) == 0o700


def test_secrets_are_made_once(tmp_path):
    """A second start keeps logins and stored connections valid."""
    layout = Layout(root=tmp_path)
    credential.ensure(layout)
    before = {file.name: file.read_text() for file in layout.secrets.iterdir()}

    credential.ensure(layout)

    assert {file.name: file.read_text() for file in layout.secrets.iterdir()} == before


def test_no_two_machines_share_a_secret(tmp_path):
    """Every clone gets its own."""
    first, second = Layout(root=tmp_path / "a"), Layout(root=tmp_path / "b")
    credential.ensure(first)
    credential.ensure(second)

    for name in ("jwt_secret", "api_secret_key", "fernet_key"):
        assert (first.secrets / name).read_text() != (second.secrets / name).read_text()


def test_of_two_writers_the_first_wins(tmp_path):
    """Nobody ever reads a secret that is replaced afterwards."""
    file = tmp_path / "secret"

    def write_and_read(text: str) -> str:
        credential.create_once(tmp_path / "secret", text)
        return file.read_text()

    with ThreadPoolExecutor(1) as pool:
        seen = list(pool.map(write_and_read, ["first", "second"]))

    assert seen == ["first", "first"]
    assert list(tmp_path.iterdir()) == [file]


def test_the_fernet_key_is_32_bytes_in_base64(tmp_path):
    """What Fernet requires; anything else fails at the first stored connection."""
    layout = Layout(root=tmp_path)
    credential.ensure(layout)

    assert len(base64.urlsafe_b64decode((layout.secrets / "fernet_key").read_text())) == 32


def test_the_password_is_the_one_in_the_file(tmp_path):
    """The follower logs in with what Airflow reads."""
    layout = Layout(root=tmp_path)
    Path(layout.secrets).mkdir(parents=True)
    layout.passwords.write_text(json.dumps({"admin": "p"}))

    assert credential.password(layout) == "p"
