"""Make the golden copy of a YCSB workload: every record, saved by the server itself, and the server stopped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from contract import Node, NodeError, blame, read_json, remove
from daemon import end, failure
from resp import Connection, ReplyError
from server import DUMP, serve
from ycsb import DATA_SEED, insert, text

TOGETHER = 500
START_TIMEOUT_S = 30.0


def identity(node: Node, records: int) -> str:
    """Digest all that decides what the golden copy holds."""
    source = (node.system / "ycsb.py").read_text()
    return hashlib.sha256(f"{source}\0{records}".encode()).hexdigest()


def fill(node: Node, records: int) -> None:
    """Serve an empty directory, insert all records and have them saved.

    Raises:
        BlamedError: When the server fails; under its defaults that is the node's fault.
    """
    serve(node, {"save": ""}, START_TIMEOUT_S)
    letters = text(DATA_SEED)
    try:
        with Connection(node.port, timeout_s=100) as server:
            for first in range(0, records, TOGETHER):
                server.ask_many([insert(each, letters) for each in range(first, min(first + TOGETHER, records))])
            server.ask("SAVE")
    except (OSError, ReplyError) as error:
        raise NodeError(f"loading failed: {error}\n{failure(node, 'the server stopped')}") from None


def load(node: Node, records: int) -> None:
    """Make the golden copy unless it is there; half of one is never seen under its name."""
    note, expected = node.golden.with_suffix(".json"), identity(node, records)
    if note.is_file() and node.golden.is_dir() and json.loads(note.read_text())["identity"] == expected:
        return
    for old in (node.golden, node.data):
        end(old, patience_s=0)
        remove(old)
    note.unlink(missing_ok=True)
    node.own(node.data)
    try:
        fill(node, records)
    finally:
        end(node.data, patience_s=0)
    (node.data / "redis.conf").unlink()
    if not (node.data / DUMP).is_file():
        raise NodeError(f"{node.data / DUMP}: expected the saved data, nothing is there. {node.keep_log()}")
    node.golden.parent.mkdir(parents=True, exist_ok=True)
    node.data.rename(node.golden)
    Path(note).write_text(json.dumps({"identity": expected}))


def main() -> None:
    """Load the workload that the environment names."""
    with blame():
        load(Node.from_environment(), int(read_json("ALBACORE_PARAMS")["records"]))
