"""Runs on the node: the files of a job, read and written so that whoever looks at any moment sees them whole.

Standard library only and no import of Albacore: this file is copied to every node beside the agent.
"""

import contextlib
import json
import os
from typing import Any

TAIL_LINES = 20
TAIL_BYTES = 16_000


def put_json(path: str, content: object, *, is_durable: bool = False) -> None:
    """Replace a file in one step; a durable one also survives a power cut."""
    fresh = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}")
    with open(fresh, "w", encoding="utf-8") as file:
        json.dump(content, file)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(fresh, path)


def get_json(path: str, default: Any = None) -> Any:
    """Return a file's content, or the default when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


def tail(path: str) -> str:
    """Return the last lines of a log."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-TAIL_LINES:])
    return ""


def own_directory(path: str, uid: int | None) -> None:
    """Make a directory in which the node's uid may make files but may not replace ours."""
    os.makedirs(path, exist_ok=True)
    if uid is None:
        os.chmod(path, 0o700)
    else:
        os.chown(path, 0, uid)
        os.chmod(path, 0o1770)
