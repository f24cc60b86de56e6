"""The secrets of this machine: made before the first process starts, readable by their owner only, never committed.

Airflow invents a secret per process where none is configured: its API then refuses every task, and logins end with a
restart. So they are files here, and airflow.cfg reads them.
"""

import base64
import contextlib
import json
import os
import secrets
from pathlib import Path

from albacore_ops.layout import Layout

USER = "admin"


def ensure(layout: Layout) -> None:
    """Make every secret that is missing; the existing ones stay."""
    layout.secrets.mkdir(mode=0o700, parents=True, exist_ok=True)
    layout.secrets.chmod(0o700)
    create_once(layout.secrets / "jwt_secret", secrets.token_urlsafe(48))
    create_once(layout.secrets / "api_secret_key", secrets.token_urlsafe(48))
    create_once(layout.secrets / "fernet_key", base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())
    create_once(layout.passwords, json.dumps({USER: secrets.token_urlsafe(12)}) + "\n")


def create_once(path: Path, text: str) -> None:
    """Write a file of mode 0600 unless it exists: whole or not at all, and the first of two writers wins."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    with contextlib.suppress(FileExistsError):
        # Unlike a rename, a link never replaces what another process has written and read meanwhile.
        os.link(draft, path)
    draft.unlink()


def password(layout: Layout) -> str:
    """Return the password of the user `admin`."""
    return str(json.loads(layout.passwords.read_text())[USER])
