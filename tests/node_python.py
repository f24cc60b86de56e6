"""The Python of nodes that are this machine: a node's path holds no spaces, the path of a clone may."""

import atexit
import shlex
import shutil
import sys
import tempfile
from pathlib import Path


def _without_spaces(program: str) -> str:
    """Return the program, or one of the same effect at a path without spaces, removed when this process ends."""
    if " " not in program:
        return program
    folder = tempfile.mkdtemp(prefix="alb-python-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    wrapper = Path(folder, "python")
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(program)} "$@"\n')
    wrapper.chmod(0o755)
    Path(folder).chmod(0o755)
    return str(wrapper)


PYTHON = _without_spaces(sys.executable)
