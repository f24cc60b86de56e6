"""Laws of the first step: it runs on any Python 3, and what it cannot do it says in one line."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap

SOURCE = Path(bootstrap.__file__)


def fake_python(folder: Path, name: str, version: str) -> Path:
    """Make an executable that calls itself this version."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {version}\necho {path}\n")
    path.chmod(0o755)
    return path


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script as a user does."""
    command = [sys.executable, str(SOURCE), *arguments]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


def test_its_syntax_is_that_of_python_3_6():
    """An interpreter that is too old reads the file far enough to say so."""
    ast.parse(SOURCE.read_text(), feature_version=(3, 6))


def test_another_python_is_refused_in_one_line_with_the_remedy(tmp_path, monkeypatch):
    """$PYTHON of an unsupported version is never used, and never silently replaced."""
    monkeypatch.setenv("PYTHON", str(fake_python(tmp_path, "python3.13", "3.13")))

    with pytest.raises(bootstrap.Refusal) as refusal:
        bootstrap.find_python("tune")

    assert "3.11 or 3.12 is needed" in str(refusal.value)
    assert "3.13" in str(refusal.value)
    assert "make tune PYTHON=" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_interpreter_that_does_not_run_is_passed_over(tmp_path, monkeypatch):
    """A name on the PATH that only prints an error (a version switcher's stub) does not end the search."""
    stub = tmp_path / "python3.12"
    stub.write_text("#!/bin/sh\necho 'not installed' >&2\nexit 127\n")
    stub.chmod(0o755)
    good = fake_python(tmp_path, "python3.11", "3.11")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYTHON", raising=False)

    assert bootstrap.find_python("up") == str(good)


def test_a_python_without_venv_is_refused_with_the_package_to_install(tmp_path):
    """Debian's python3 has no ensurepip; the message names its package."""
    bare = tmp_path / "python3.11"
    bare.write_text(f'#!/bin/sh\ncase "$3" in *ensurepip*) exit 1;; esac\necho 3.11\necho {bare}\n')
    bare.chmod(0o755)

    with pytest.raises(bootstrap.Refusal, match=r"apt install python3\.11-venv"):
        bootstrap.check_venv_module(str(bare))


def test_a_full_disk_is_refused_before_anything_is_written():
    """The message says how much there is and how much is needed."""
    with pytest.raises(bootstrap.Refusal, match=r"GB free on the disk of .*, 1000000\.0 GB needed: free some space"):
        bootstrap.check_disk(1_000_000 * bootstrap.GIB)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "the disk is full"),
        ("WARNING: Retrying after NewConnectionError\nERROR: No matching distribution found", "cannot be reached"),
        ("some line\nERROR: Package 'x' requires a different Python", "requires a different Python"),
        ("Permission denied: '/x'", "Permission denied"),
        ("", "no output"),
    ],
)
def test_a_failed_install_is_explained_in_one_line(output, expected):
    """Full disk and missing network are told apart; anything else shows the last error."""
    line = bootstrap.explain(output, "pip failed")

    assert expected in line
    assert "\n" not in line


def test_no_network_ends_an_install_with_exit_code_2(tmp_path, monkeypatch, capsys):
    """Pip that cannot reach its index becomes the line about the network, nothing is stamped as installed."""
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\necho 'WARNING: Retrying: NewConnectionError(...)'\nexit 1\n")
    pip.chmod(0o755)
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", str(pip))
    monkeypatch.setattr(bootstrap, "STATE", str(tmp_path / "state"))

    with pytest.raises(bootstrap.Refusal, match="package index cannot be reached"):
        bootstrap.install(["requirements.txt"])


@pytest.mark.parametrize("bad", [":", ";", "%", "?", "#", '"', "'", "$"])
def test_a_path_that_cannot_be_written_into_a_url_is_refused(monkeypatch, tmp_path, bad):
    """Such a clone is refused at once instead of failing later in another program's words."""
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path / f"a{bad}b"))

    with pytest.raises(bootstrap.Refusal, match="move the clone"):
        bootstrap.check_path()


def test_a_path_with_spaces_is_accepted(monkeypatch, tmp_path):
    """Spaces are not refused, they work."""
    spaced = tmp_path / "some dir with spaces"
    spaced.mkdir()
    monkeypatch.setattr(bootstrap, "ROOT", str(spaced))

    bootstrap.check_path()


def test_an_install_is_finished_only_with_the_stamp_of_these_pins(monkeypatch, tmp_path):
    """A half-finished install and one of other pins are both installed again."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "requirements.txt").write_text("a==1\n")
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path))
    monkeypatch.setattr(bootstrap, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", sys.executable)

    assert not bootstrap.is_installed(extra=False)
    Path(bootstrap.stamp_path(False)).write_text(bootstrap.digest(["requirements.txt"]))
    assert bootstrap.is_installed(extra=False)
    (tmp_path / "requirements.txt").write_text("a==2\n")
    assert not bootstrap.is_installed(extra=False)


def test_a_refusal_is_the_only_line_on_stderr_and_the_exit_code_is_2(tmp_path):
    """What a user sees of the commonest mistake: one line, no traceback."""
    python = fake_python(tmp_path, "python3.9", "3.9")
    copied = tmp_path / "clone" / "ops" / "bootstrap.py"
    copied.parent.mkdir(parents=True)
    copied.write_text(SOURCE.read_text())

    done = subprocess.run(
        [sys.executable, str(copied), "up"],
        env=os.environ | {"PYTHON": str(python)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("albacore: Python 3.11 or 3.12 is needed, found ")


def test_settings_for_other_projects_do_not_reach_the_install(monkeypatch):
    """PYTHONPATH or PIP_USER of the user's shell would put packages or imports elsewhere."""
    for name in ("PYTHONPATH", "PIP_USER", "PIP_TARGET", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "elsewhere")

    assert not {"PYTHONPATH", "PIP_USER", "PIP_TARGET", "VIRTUAL_ENV"} & set(bootstrap.clean_environment())
