"""Drive sysbench against the node's server, and decide from its words who is to blame."""

from __future__ import annotations

import re
import subprocess
from typing import Any

from contract import BlamedError, ConfigError, LoadError, Node, NodeError
from daemon import lost, processes
from server import SOCKET

DATABASE = "sbtest"
ERROR = re.compile(r"error (\d+)")
# https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference: what a config brings about.
DISK_FULL = {"1021"}
CONFIG = {"1037", "1038", "1040", "1041", "1114", "1135", "1197", "1203", "1205", "1206"}


def sysbench(node: Node, params: dict[str, Any], verb: str, *words: str, timeout_s: float) -> str:
    """Run sysbench's `oltp_read_write` and return what it said.

    Raises:
        BlamedError: Whoever is to blame when it fails.
    """
    command = [
        node.program("sysbench"),
        "oltp_read_write",
        "--db-driver=mysql",
        f"--mysql-socket={node.data / SOCKET}",
        "--mysql-user=root",
        f"--mysql-db={DATABASE}",
        f"--tables={params['tables']}",
        f"--table-size={params['rows']}",
        *words,
        verb,
    ]
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            cwd="/",
            env=node.surroundings(),
            **node.identity(),
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"sysbench {verb} was not done after {timeout_s:g} s.") from None
    if said.returncode:
        raise blame_of(node, f"{said.stdout}\n{said.stderr}")
    return said.stdout


def blame_of(node: Node, words: str) -> BlamedError:
    """Decide who is to blame for a run of sysbench that failed."""
    fatal = "\n".join(line for line in words.splitlines() if "FATAL" in line)[-800:]
    codes = set(ERROR.findall(fatal))
    if codes & DISK_FULL:
        return NodeError(fatal)
    if codes & CONFIG:
        return ConfigError(fatal)
    broken = lost(node, fatal or words.strip()[-800:]) if codes & {"2002", "2006", "2013", "2055"} else None
    return broken or (LoadError(fatal or words.strip()[-800:]) if processes(node.data) else lost(node, fatal))
