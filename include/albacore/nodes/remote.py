"""Runs on a node that is reached over SSH: make its directory, or run one command in it.

The controller sends this text to the node's Python before every command, so nothing has to be installed first, and no
value ever passes a shell: what to do comes as JSON on standard input, behind it the command's own input. Standard
library only and no import of Albacore.
"""

import json
import os
import signal
import subprocess
import sys

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def make(directory: str, about: dict) -> dict:
    """Make the node's directory with its modes and the file that tells the agent which node it is."""
    uid = about["uid"]
    folder, parents = os.path.dirname(directory), []
    while not os.path.isdir(folder):
        parents.append(folder)
        folder = os.path.dirname(folder)
    for parent in reversed(parents):
        os.mkdir(parent)
        os.chmod(parent, 0o700 if uid is None else 0o711)
    if uid is not None and (closed := _closed(os.path.dirname(directory))):
        return {"error": f"expected every user to be able to pass through {closed}. Choose another 'directory'."}
    os.makedirs(f"{directory}/agent", exist_ok=True)
    if os.stat(directory).st_uid != os.geteuid():
        return {"error": f"expected {directory} to be ours, it belongs to uid {os.stat(directory).st_uid}. Remove it."}
    os.chmod(directory, 0o700 if uid is None else 0o1770)
    if uid is not None:
        os.chown(directory, 0, uid)
    fresh = f"{directory}/agent/.node.json.{os.getpid()}"
    with open(fresh, "w", encoding="utf-8") as file:
        json.dump(about, file)
    os.chmod(fresh, 0o644)
    os.replace(fresh, f"{directory}/agent/node.json")
    return {}


def _closed(folder: str) -> str:
    """Return the first of a folder and its parents that others may not pass through; "" when there is none."""
    while os.stat(folder).st_mode & 0o001:
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    return folder


def run(directory: str, argv: list, stdin: bytes, timeout_s: float) -> dict:
    """Run a command in the node's directory and a clean environment; one that takes too long is killed."""
    path = f"{os.path.dirname(sys.executable)}:{SYSTEM_PATH}"
    environment = {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": directory}
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return {"error": f"cannot run {argv[0]!r}: {error}."}
    try:
        out, err = process.communicate(stdin, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"error": f"expected {argv[0]!r} to end within {timeout_s:g} s. It was killed."}
    said = {"stdout": out.decode(errors="replace"), "stderr": err.decode(errors="replace")}
    return {"returncode": process.returncode, **said}


def answer(ask: dict, stdin: bytes) -> dict:
    """Do what is asked for."""
    os.umask(0o022)
    try:
        if sys.version_info < (3, 11):  # noqa: UP036 -- on the node it may be any
            return {"error": f"expected Python 3.11 or newer, {sys.executable} is {sys.version.split()[0]}."}
        if "about" in ask:
            return make(ask["directory"], ask["about"])
        return run(ask["directory"], ask["argv"], stdin, ask["timeout_s"])
    except OSError as error:
        return {"error": f"{error}."}


def main() -> None:
    """Read the question from standard input and write the answer to standard output."""
    source = sys.stdin.buffer
    ask = json.loads(source.read(int(source.readline())))
    print(json.dumps(answer(ask, source.read())))


if __name__ == "__main__":
    main()
