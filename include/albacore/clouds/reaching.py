"""Reaching: an address in the store becomes a node again, whichever cloud it is from; the private key is only named."""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from albacore.errors import NodeError
from albacore.nodes.ssh import SshNode
from albacore.nodes.ssh_link import Endpoint

Secret = Callable[[str], str]
"""Returns the private key's text of an Airflow connection's id; called when a connection is made."""


def node_at(name: str, address: Mapping[str, Any], secret: Secret) -> SshNode:
    """Return the node that an address stands for; nothing is contacted."""
    bastion = address["bastion"]
    return SshNode(
        name=name,
        host=address["host"],
        python=address["python"],
        endpoint=_endpoint(address["access"], secret),
        bastion=_endpoint(bastion, secret) if bastion else None,
        directory=PurePosixPath(address["directory"]),
        port=address["port"],
        uid=address["uid"],
        seed=number(name) % 2**31,
        listen=address.get("listen", "127.0.0.1"),
    )


def key_of(access: Mapping[str, Any], secret: Secret) -> tuple[str, Callable[[], str]]:
    """Return what a private key is called, and what reads it when it is needed."""
    if access["connection"]:
        return f"connection {access['connection']}", partial(secret, access["connection"])
    return f"key file {access['key_file']}", partial(_read, access["key_file"])


def number(text: str) -> int:
    """Return a number that depends on a text alone, unlike `hash`."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _endpoint(access: Mapping[str, Any], secret: Secret) -> Endpoint:
    """Return an sshd whose private key is read when it is needed."""
    key_name, key = key_of(access, secret)
    plain = {field: access[field] for field in ("address", "port", "user", "host_key")}
    return Endpoint(**plain, key_name=key_name, key=key)


def _read(path: str) -> str:
    """Return a key file's text."""
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise NodeError(f"key file {path}: cannot be read: {error}. Check 'key_file' in the inventory.") from error
