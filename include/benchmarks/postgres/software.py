"""Find the server's programs: those copied out of the wheel, or those of a PostgreSQL that is installed on the node.

The workloads' parameter `server` says which: "wheel", a major version such as "15", or the folder of the programs.
"""

from __future__ import annotations

import re
from pathlib import Path

WHEEL = "wheel"
VERSIONS = range(13, 19)
# Where Debian and Ubuntu, Red Hat and SUSE, and a build from source put a major version.
PLACES = (
    "/usr/lib/postgresql/{}/bin",
    "/usr/pgsql-{}/bin",
    "/usr/lib/postgresql{}/bin",
    "/usr/local/pgsql-{}/bin",
)


def programs(server: str, software: Path) -> Path:
    """Name the folder of the programs; when nothing is installed, the first place that was looked at.

    Args:
        server: See the module.
        software: The node's copy of the wheel's software.
    """
    if server == WHEEL:
        return software / "pgserver" / "pginstall" / "bin"
    if server.startswith("/"):
        return Path(server)
    places = [Path(place.format(server)) for place in PLACES]
    return next((place for place in places if (place / "postgres").is_file()), places[0])


def missing(server: str, path: Path) -> str:
    """Say what to do about a program that is not there."""
    if server == WHEEL:
        return f"{path}: expected the binary, nothing is there. Run `install` on this node first."
    places = server if server.startswith("/") else ", ".join(place.format(server) for place in PLACES)
    return (
        f"{path.name}: expected PostgreSQL {server} in one of {places}, it is not there. "
        f"Install it with the node's package manager (`apt-get install postgresql-{server}`), "
        f"or set server = {WHEEL!r}."
    )


def version(said: str) -> str | None:
    """Read `15.18` out of `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`; None when no version is in it."""
    found = re.search(r"\(PostgreSQL\) (\d+(?:\.\d+)?)", said)
    return found[1] if found else None


def lacking(config: dict[str, str], described: str, catalogue: dict[str, dict]) -> dict[str, str]:
    """Return the knobs of a config that this version lacks or takes other words for, each with the reason.

    Only knobs of the catalogue are dropped so: a name that no version knows is the config's own error.

    Args:
        config: Knob -> text.
        described: What `postgres --describe-config` says: name, context, group and type, tabs between.
        catalogue: The tables `[knob.*]` of knobs.toml.
    """
    lines = (line.split("\t") for line in described.splitlines())
    kinds = {fields[0]: fields[3] for fields in lines if len(fields) > 3}
    reasons = {}
    for name in config.keys() & catalogue.keys():
        if name not in kinds:
            reasons[name] = "this version has no such setting"
        elif catalogue[name]["kind"] == "choice" and kinds[name] == "BOOLEAN":
            reasons[name] = "this version takes on and off only"
    return dict(sorted(reasons.items()))
