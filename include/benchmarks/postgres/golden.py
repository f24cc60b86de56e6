"""Make the golden copy: the data that every sample of a workload on this node begins from.

It is built once per node, by a server that is then stopped, because a copy of a running server's files is torn. Each
node builds its own: ANALYZE draws its sample there, as it would on a machine of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contract import ConfigError, NodeError, give, remove
from postgres import USER, Node, named_uid
from server import end, launch

START_TIMEOUT_S, STOP_PATIENCE_S = 20.0, 30.0
# Only while loading: nothing is flushed, and tables made in the same transaction need no WAL.
LOADING = {
    "fsync": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "maintenance_work_mem": "64MB",
    "autovacuum": "off",
    "max_wal_size": "1GB",
}
BOOT = Path("/proc/sys/kernel/random/boot_id")
Fill = Callable[[Node], dict[str, Any]]


def keep(node: Node, parts: tuple[str, ...], fill: Fill) -> None:
    """Make the golden copy unless it is there already, made of the same parts.

    Args:
        node: Where.
        parts: All that decides what the copy holds, beside the node's seed and the server's version. A copy was never
            flushed to disk, so it is not trusted after a reboot.
        fill: Fills the running server and returns what to note beside the copy.

    Raises:
        NodeError: When the server fails while loading, or does not stop.
    """
    golden, note, fresh = node.golden, node.golden.with_suffix(".json"), node.golden.with_suffix(".new")
    expected = _identity(node, parts)
    if golden.is_dir() and note.is_file() and json.loads(note.read_text())["identity"] == expected:
        return
    note.unlink(missing_ok=True)
    end(fresh)
    for leftover in (golden, fresh):
        remove(leftover)
    golden.parent.mkdir(parents=True, exist_ok=True)
    try:
        found = _build(node, node.own(fresh), fill)
    except ConfigError as error:  # here the config is ours
        raise NodeError(f"the server failed while loading: {error}") from None
    fresh.rename(golden)
    note.write_text(json.dumps({"identity": expected, **found}, indent=1))


def noted(node: Node) -> dict[str, Any]:
    """Read what was noted when the golden copy was made."""
    return json.loads(node.golden.with_suffix(".json").read_text())


def digest(folder: Path) -> str:
    """Digest a folder's files by name and content; hidden files do not count."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            whole.update(f"{path.relative_to(folder)}\0{content}\n".encode())
    return whole.hexdigest()


def script(node: Node, text: str, variables: dict[str, object], timeout_s: float) -> None:
    """Have psql run a script, with variables, beside `seed`: a number in [0, 1) that the node's seed decides.

    Raises:
        NodeError: When it fails.
    """
    values = {"seed": f"{(node.seed % 1_000_003) / 1_000_003:.9f}", "ON_ERROR_STOP": "1", **variables}
    options = [f"--set={name}={value}" for name, value in values.items()]
    said = node.run("psql", "-Xq", *options, "-f", "-", timeout_s=timeout_s, text=text)
    if said.returncode:
        raise NodeError(f"cannot load the data: {said.stderr.strip()[-1000:]}")


def _identity(node: Node, parts: tuple[str, ...]) -> str:
    version = node.run("postgres", "--version", timeout_s=20).stdout
    return hashlib.sha256("\0".join((*parts, str(node.seed), version, BOOT.read_text())).encode()).hexdigest()


def _build(node: Node, data: Path, fill: Fill) -> dict[str, Any]:
    """Make a data directory, fill it, stop its server, and return what `fill` found."""
    give(data, None if node.uid is None else named_uid(node.uid))
    options = ("-D", str(data), "-A", "trust", "-U", USER, "--no-sync", "--no-locale", "-E", "UTF8")
    said = node.run("initdb", *options, timeout_s=60, named=True)
    if said.returncode:
        raise NodeError(f"initdb: {said.stderr.strip()[-1000:]}")
    give(data, node.uid)
    launch(node, data, START_TIMEOUT_S, LOADING)
    try:
        found = fill(node)
    finally:
        is_clean = end(data, patience_s=STOP_PATIENCE_S)
    if not is_clean:
        raise NodeError(f"{data}: the server did not stop within {STOP_PATIENCE_S:g} s, its data cannot be copied.")
    return found
