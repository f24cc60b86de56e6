"""Bring programs onto a node by its package manager, and leave nothing of them running.

The same text lies in every folder that needs it; see contract.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from contract import Node, NodeError

LOCK = Path("/run/lock/albacore-packages.lock")
# Where Debian's maintainer scripts ask whether they may start a service: 101 says no.
POLICY = Path("/usr/sbin/policy-rc.d")
REFUSE = "#!/bin/sh\nexit 101\n"
SYSTEMD = Path("/run/systemd/system")
PLACES = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"
WITHIN_S = 280
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C", "PATH": PLACES}
MANAGERS = {
    "apt-get": [
        ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", "update"],
        ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120", "install", "--no-install-recommends"],
    ],
    "dnf": [["dnf", "-q", "-y", "install"]],
}


def provide(node: Node, programs: dict[str, str], services: tuple[str, ...] = ()) -> None:
    """Have every program on the node, and a link to it in the node's directory.

    Args:
        node: Where.
        programs: Program -> package that holds it.
        services: What the packages would start by themselves; it is started neither now nor at the next boot.

    Raises:
        NodeError: When something is missing and cannot be installed, with who has to do what.
    """
    if missing := _missing(programs):
        _install(sorted({programs[name] for name in missing}), services)
    if missing := _missing(programs):
        raise NodeError(f"{', '.join(missing)}: expected after the installation in {PLACES}, nothing is there.")
    node.programs.mkdir(parents=True, exist_ok=True)
    for folder in (node.programs, node.programs.parent):
        folder.chmod(0o755)
    for name in programs:
        link = node.programs / name
        if not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(_found(name))


def _found(name: str) -> str:
    """Give the path of a program, empty when there is none."""
    return shutil.which(name, path=PLACES) or ""


def _missing(programs: dict[str, str]) -> list[str]:
    """List the programs that the node does not have."""
    return [name for name in programs if not _found(name)]


def _install(packages: list[str], services: tuple[str, ...]) -> None:
    """Install packages as root, one caller at a time.

    Raises:
        NodeError: Without root, without a known package manager, or when that fails.
    """
    manager = next((name for name in MANAGERS if _found(name)), "")
    wanted = " ".join(packages)
    if not manager:
        raise NodeError(f"{wanted}: expected on this node; its package manager is none of {', '.join(MANAGERS)}.")
    if os.geteuid() != 0:
        raise NodeError(
            f"{wanted}: expected on this node, and only root may install it. "
            f"Ask its administrator to run: {manager} install {wanted}"
        )
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        *before, install = MANAGERS[manager]
        with _no_services(services):
            for command in (*before, [*install, *packages]):
                _run(command)


def _run(command: list[str]) -> None:
    """Run one command of the package manager.

    Raises:
        NodeError: When it fails or takes too long.
    """
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **QUIET},
        )
    except subprocess.TimeoutExpired:
        raise NodeError(f"{' '.join(command)}: not done after {WITHIN_S} s. Run it by hand on this node.") from None
    if said.returncode:
        words = (said.stderr or said.stdout).strip()[-800:]
        raise NodeError(f"{' '.join(command)}: exit code {said.returncode}. Run it by hand on this node. {words}")


@contextlib.contextmanager
def _no_services(services: tuple[str, ...]) -> Iterator[None]:
    """Keep an installation from starting services; what an administrator has set up before is left as it is."""
    is_ours = POLICY.parent.is_dir() and not POLICY.exists()
    if is_ours:
        POLICY.write_text(REFUSE)
        POLICY.chmod(0o755)
    try:
        yield
    finally:
        if is_ours:
            POLICY.unlink(missing_ok=True)
        if SYSTEMD.is_dir():
            for name in services:
                subprocess.run(["systemctl", "disable", "--now", name], capture_output=True, check=False)
