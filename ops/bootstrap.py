"""Turn a fresh clone into one that runs: find a Python, make `.venv`, install the pins, hand over to `albacore_ops`.

This file is the only one that meets the user's own Python, whichever that is, so it is written for Python 3.6 and the
standard library: an interpreter that is too old gets one line of advice instead of a SyntaxError. Everything that can
stop it is a Refusal: one line on stderr with the remedy, exit code 2, nothing left running. Nothing outside the clone
is written.

Usage: `python3 ops/bootstrap.py COMMAND [ARGUMENT ...]`; the commands are listed by `make help`.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
VENV = os.path.join(ROOT, ".venv")
STATE = os.path.join(ROOT, ".state")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
SUPPORTED = ("3.11", "3.12")
# A path with one of these breaks a URL, a PATH-like variable or the supervisor's configuration file.
FORBIDDEN_IN_PATH = ":;?#%\"'$\\`\n\t"
GIB = 1024**3
FIRST_INSTALL_BYTES = 3 * GIB
# A user's settings for other projects, which would send an install or an import elsewhere.
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIREMENT", "VIRTUAL_ENV")
# What pip says when the package index cannot be reached, and when the disk is full.
NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|Network is unreachable"
    r"|ConnectTimeoutError|Connection refused|ProxyError|Max retries exceeded|Read timed out|Could not fetch URL"
)
DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded")
NO_INTERPRETER = "Python {} is needed, found {}: install one of them, or name it: make {} PYTHON=/path/to/python3.11"


class Refusal(Exception):
    """Say in one line what is missing and what the user can do."""


def say(line):
    """Print one line of progress at once, also into a pipe."""
    print("albacore: " + line, flush=True)


def clean_environment():
    """Return the environment without settings meant for other Python projects."""
    return {name: value for name, value in os.environ.items() if name not in FOREIGN}


def probe(interpreter):
    """Return (version such as '3.11', absolute path) of an interpreter, or None when it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"
    try:
        output = subprocess.check_output(
            [interpreter, "-I", "-c", code], stderr=subprocess.DEVNULL, env=clean_environment(), timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = output.decode("utf-8", "replace").splitlines()
    return (lines[0], lines[1]) if len(lines) == 2 else None


def find_python(command):
    """Return the path of the first supported interpreter; $PYTHON, when it is set, is the only candidate."""
    asked = os.environ.get("PYTHON")
    candidates = [asked] if asked else ["python3.12", "python3.11", "python3", sys.executable]
    found = []
    for candidate in candidates:
        probed = probe(candidate)
        if probed and probed[0] in SUPPORTED:
            return probed[1]
        if probed or asked:
            found.append("{} ({})".format(candidate, probed[0] if probed else "does not run"))
    seen = ", ".join(dict.fromkeys(found)) or "none"
    raise Refusal(NO_INTERPRETER.format(" or ".join(SUPPORTED), seen, command))


def check_path():
    """Refuse a clone whose path cannot be written into a URL or a configuration file."""
    bad = sorted(set(ROOT) & set(FORBIDDEN_IN_PATH))
    if bad:
        raise Refusal(
            "the path of this clone, {!r}, contains {}: move the clone".format(ROOT, " ".join(map(repr, bad)))
        )
    if not os.access(ROOT, os.W_OK):
        raise Refusal("{} is not writable: clone it as the user who runs it".format(ROOT))


def check_disk(needed_bytes):
    """Refuse to begin what cannot be finished on this disk."""
    free = shutil.disk_usage(ROOT).free
    if free < needed_bytes:
        raise Refusal(
            "{:.1f} GB free on the disk of {}, {:.1f} GB needed: free some space, or move the clone".format(
                free / GIB, ROOT, needed_bytes / GIB
            )
        )


def check_venv_module(interpreter):
    """Refuse an interpreter that cannot make a virtual environment (Debian ships the module in its own package)."""
    command = [interpreter, "-I", "-c", "import venv, ensurepip"]
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
    if run.returncode != 0:
        version = (probe(interpreter) or ("3", ""))[0]
        raise Refusal(
            "{} has no venv module: apt install python{}-venv (or name another PYTHON)".format(interpreter, version)
        )


def digest(requirement_files):
    """Return what an environment is made from: the pins and the interpreter."""
    made_from = hashlib.sha256((probe(VENV_PYTHON) or ("",))[0].encode())
    for name in requirement_files:
        with open(os.path.join(ROOT, name), "rb") as file:
            made_from.update(file.read())
    return made_from.hexdigest()


def stamp_path(extra):
    """Return the file that says that an install was finished."""
    return os.path.join(VENV, ".albacore-dev" if extra else ".albacore-run")


def is_installed(extra):
    """Return whether the environment holds exactly the pins: finished, unchanged, and its Python still runs."""
    try:
        with open(stamp_path(extra)) as file:
            return file.read().strip() == digest(requirement_files(extra))
    except OSError:
        return False


def requirement_files(extra):
    """Return the pinned files of an install, in order."""
    return ["requirements.txt", "requirements-dev.txt"] if extra else ["requirements.txt"]


def make_venv(interpreter):
    """Make `.venv` anew unless it has a working Python of the same version."""
    have, want = probe(VENV_PYTHON), probe(interpreter)
    if have and want and have[0] == want[0] and os.path.isdir(os.path.join(VENV, "lib")) and has_pip():
        return
    shutil.rmtree(VENV, ignore_errors=True)
    say("making .venv with {} ({})".format(interpreter, want[0] if want else "?"))
    run = subprocess.run(
        [interpreter, "-I", "-m", "venv", VENV],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=clean_environment(),
    )
    if run.returncode != 0:
        shutil.rmtree(VENV, ignore_errors=True)
        raise Refusal(explain(run.stdout.decode("utf-8", "replace"), "python -m venv failed"))


def has_pip():
    """Return whether `.venv` can install: a venv whose making was interrupted cannot."""
    command = [VENV_PYTHON, "-I", "-m", "pip", "--version"]
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
    return run.returncode == 0


def explain(output, what):
    """Return one line with the remedy for the output of a failed command."""
    if DISK_FULL.search(output):
        return "the disk is full: free 3 GB (also in $TMPDIR), then run the same command again"
    if NO_NETWORK.search(output):
        return (
            "the package index cannot be reached: check the network (or pip's index and proxy settings) and try again"
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines
    return "{}: {}".format(what, errors[-1] if errors else "no output")


def install(names):
    """Install the pinned files with pip, showing how far it is; what is half installed is completed."""
    arguments = [VENV_PYTHON, "-I", "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check"]
    # The cache is only for picking up an interrupted install, hence inside the clone and removed at the end.
    arguments += ["--retries", "2", "--cache-dir", os.path.join(STATE, "pip-cache")]
    total = 0
    for name in names:
        arguments += ["-r", os.path.join(ROOT, name)]
        with open(os.path.join(ROOT, name)) as file:
            total += sum(1 for line in file if "==" in line and "win32" not in line)
    pip = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment())
    try:
        output = show_progress(pip.stdout, total)
        code = pip.wait()
    except BaseException:
        pip.terminate()
        pip.wait()
        raise
    if code != 0:
        raise Refusal(explain(output, "pip could not install the pinned packages"))
    shutil.rmtree(os.path.join(STATE, "pip-cache"), ignore_errors=True)


def show_progress(stream, total):
    """Return all output of pip, printing a line at most every 5 s (on a terminal: one line, rewritten)."""
    lines, collected, last = [], 0, 0.0
    on_terminal = sys.stdout.isatty()
    for raw in stream:
        line = raw.decode("utf-8", "replace").rstrip()
        lines.append(line)
        collected += line.startswith(("Collecting", "Requirement already satisfied"))
        writing = line.startswith("Installing collected packages")
        if writing or time.time() - last > (0.2 if on_terminal else 5):
            last = time.time()
            text = "unpacking {} packages".format(collected) if writing else "fetching {}/{}".format(collected, total)
            if on_terminal:
                print("\ralbacore: installing: {:<40}".format(text), end="", flush=True)
            else:
                say("installing: " + text)
    if on_terminal:
        print()
    return "\n".join(lines)


@contextlib.contextmanager
def one_at_a_time():
    """Hold the clone's install lock; a second `make` waits for the first."""
    os.makedirs(STATE, mode=0o700, exist_ok=True)
    with open(os.path.join(STATE, "install.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another make installs in this clone: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_command():
    """Put `albacore` into `.venv/bin`; a console script of pip's would need the project to be built and installed."""
    shutil.copy2(os.path.join(ROOT, "ops", "albacore"), os.path.dirname(VENV_PYTHON))


def prepare(command, extra):
    """Make `.venv` hold the pins, doing nothing when it does already."""
    check_path()
    if is_installed(extra):
        write_command()
        return
    interpreter = find_python(command)
    with one_at_a_time():
        if is_installed(extra):
            return
        check_venv_module(interpreter)
        fresh = not os.path.exists(stamp_path(False))
        check_disk(FIRST_INSTALL_BYTES if fresh else FIRST_INSTALL_BYTES // 3)
        started = time.time()
        make_venv(interpreter)
        names = requirement_files(extra)
        install(names)
        for each in {False, extra}:
            with open(stamp_path(each), "w") as file:
                file.write(digest(requirement_files(each)) + "\n")
        write_command()
        say("installed in .venv in {:.0f} s".format(time.time() - started))


def hand_over(interpreter, arguments):
    """Replace this process by `albacore_ops` under the given interpreter."""
    main = os.path.join(ROOT, "ops", "run.py")
    environment = clean_environment()
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    os.execve(interpreter, [interpreter, main, *arguments], environment)


def main(arguments):
    """Run one command; return the exit code."""
    command = arguments[0] if arguments else "up"
    try:
        if command == "down":
            # Stopping must work when .venv is gone or half made: it needs a Python, no packages.
            hand_over(VENV_PYTHON if probe(VENV_PYTHON) else find_python(command), arguments)
        prepare(command, extra=command == "dev")
        if command not in ("install", "dev"):
            hand_over(VENV_PYTHON, arguments)
    except Refusal as refusal:
        print("albacore: {}".format(refusal), file=sys.stderr)
        return 2
    except OSError as error:
        print("albacore: {}".format(explain(str(error), "the system refused")), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nalbacore: interrupted; the same command picks up where this stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
