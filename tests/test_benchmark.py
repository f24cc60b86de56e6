"""A benchmark folder is read strictly, digested by what matters, and copied without surprises."""

import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from albacore import folder
from albacore.benchmark import Benchmark, Fragment, unpack
from albacore.errors import BenchmarkError
from albacore.trial import Direction

NOOP = Path(__file__).parents[1] / "include" / "benchmarks" / "noop"
SYSTEM, WORKLOAD = "system.toml", "workloads/sleep/workload.toml"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of noop that a test may break."""
    shutil.copytree(NOOP, tmp_path / "noop", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "noop"


def read(copy: Path) -> Benchmark:
    """Read the copy."""
    return Benchmark.read(copy.parent, "noop")


def edit(path: Path, old: str, new: str) -> None:
    """Replace one text in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_workload_knows_its_figure_and_all_its_limits(copy: Path):
    """Everything a job needs is on the workload, the system's own limits included."""
    workload = read(copy).workload("sleep")

    assert (workload.id, workload.metric, workload.unit, workload.direction) == (
        "noop/sleep",
        "score",
        "points",
        Direction.MAX,
    )
    assert dict(workload.timeouts_s) == {"install": 20, "start": 10, "stop": 10, "load": 10, "run": 60}
    assert workload.digest == read(copy).digest


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (SYSTEM, "[values]", "colour = 1\n[values]", r"system.toml: \[timeouts_s\] unknown key 'colour'"),
        (SYSTEM, 'title = "', 'colour = 1\ntitle = "', "system.toml: unknown key 'colour'"),
        (SYSTEM, "start = 10", "", r"system.toml: \[timeouts_s\] start: expected seconds above 0, got nothing"),
        (SYSTEM, "start = 10", 'start = "10"', r"start: expected seconds above 0, got '10'"),
        (SYSTEM, "start = 10", "start = true", r"start: expected seconds above 0, got True"),
        (SYSTEM, "start = 10", "start = -1", r"start: expected seconds above 0 and up to 86400, got -1"),
        (SYSTEM, "start = 10", "start = nan", r"start: expected seconds above 0 and up to 86400, got nan"),
        (SYSTEM, '= "on"', "= true", r"system.toml: \[values\] true: expected a text, got True"),
        (SYSTEM, "{value}", "", r"expected '{name}' and '{value}'"),
        (SYSTEM, "[values]", "[values", "system.toml: cannot be read as TOML"),
        (WORKLOAD, '"max"', '"up"', "direction: expected 'min' or 'max', got 'up'"),
        (WORKLOAD, 'metric = "score"', 'metric = ""', "metric: expected a text, got an empty one"),
        (WORKLOAD, "[params]", "[parms]", "workload.toml: unknown key 'parms'"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(copy: Path, name: str, old: str, new: str, message: str):
    """Nothing that a person mistyped becomes a default in silence."""
    edit(copy / name, old, new)

    with pytest.raises(BenchmarkError, match=message):
        read(copy)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda root: (root / "stop").unlink(), "stop: missing"),
        (lambda root: (root / "stop").chmod(0o644), "stop: not executable. Run: chmod"),
        (lambda root: (root / "stop").write_text("echo"), "stop: expected a program or a '#!' line"),
        (lambda root: (root / "knobs.toml").unlink(), "knobs.toml: missing"),
        (lambda root: (root / WORKLOAD).unlink(), "workload.toml: missing"),
        (lambda root: (root / "workloads/sleep/run").chmod(0o600), "run: not executable"),
        (lambda root: shutil.rmtree(root / "workloads"), "expected at least one workload"),
        (lambda root: (root / "link").symlink_to("/etc/passwd"), "expected a plain file, found a link"),
    ],
)
def test_a_damaged_folder_is_refused_with_the_remedy(copy: Path, damage: Callable[[Path], object], message: str):
    """What a node would stumble over hours later is said now."""
    damage(copy)

    with pytest.raises(BenchmarkError, match=message):
        read(copy)


def test_what_folders_share_counts_as_their_own(copy: Path, tmp_path: Path):
    """A link to a file beside the folder is that file: same digest, same archive, and plain when unpacked."""
    (copy / "shared.py").write_text("ONE = 1\n")
    alone = folder.digest(copy), folder.archive(copy)
    beside = copy.parent / "several"
    beside.mkdir()
    (copy / "shared.py").rename(beside / "shared.py")
    (copy / "shared.py").symlink_to("../several/shared.py")

    assert (folder.digest(copy), folder.archive(copy)) == alone
    folder.unpack(alone[1], tmp_path / "node")
    assert not (tmp_path / "node" / "shared.py").is_symlink()
    assert folder.digest(tmp_path / "node") == alone[0]


def test_a_link_to_nothing_or_to_a_folder_is_refused(copy: Path):
    """Only files are shared."""
    (copy / "shared").symlink_to("../nothing")
    with pytest.raises(BenchmarkError, match="expected a plain file"):
        read(copy)
    (copy / "shared").unlink()
    (copy / "shared").symlink_to("workloads")
    with pytest.raises(BenchmarkError, match="expected a plain file"):
        read(copy)


@pytest.mark.parametrize("name", ["none", "../noop", "Noop", ""])
def test_an_unknown_benchmark_is_answered_with_the_known_ones(copy: Path, name: str):
    """A typo costs one look."""
    with pytest.raises(BenchmarkError, match="there are: noop"):
        Benchmark.read(copy.parent, name)
    with pytest.raises(BenchmarkError, match="there are: sleep"):
        read(copy).workload("slep")


def test_overrides_keep_the_types_of_the_defaults(copy: Path):
    """A campaign can change a parameter, but neither invent one nor turn a number into a text."""
    workload = read(copy).workload("sleep")

    assert workload.params_with({"seconds": 2})["seconds"] == 2.0
    with pytest.raises(BenchmarkError, match="no parameter 'secs'; there are: fail_on, noise, seconds, slow_on"):
        workload.params_with({"secs": 2})
    with pytest.raises(BenchmarkError, match="'seconds' is a float, got str '2'"):
        workload.params_with({"seconds": "2"})


def test_the_digest_sees_contents_names_and_executable_bits_only(copy: Path):
    """What tools drop and what file systems differ in does not make another benchmark."""
    first = folder.digest(copy)
    (copy / "__pycache__").mkdir()
    for dropping in ("__pycache__/a.pyc", "noop.py~", ".noop.py.swp", "#noop.py#"):
        (copy / dropping).write_text("x")
    (copy / "knobs.toml").touch()
    (copy / "knobs.toml").chmod(0o600)
    assert folder.digest(copy) == first

    (copy / "knobs.toml").chmod(0o700)
    assert folder.digest(copy) != first
    (copy / "knobs.toml").chmod(0o600)
    (copy / "knobs.toml").rename(copy / "knobs2.toml")
    assert folder.digest(copy) != first


def test_an_unpacked_archive_is_the_same_benchmark(copy: Path, tmp_path: Path):
    """Packing loses nothing that the digest sees, and what was there before is gone."""
    target = tmp_path / "unpacked" / "noop"
    target.mkdir(parents=True)
    (target / "stale").write_text("x")

    unpack(read(copy).archive(), target)

    assert Benchmark.read(target.parent, "noop").digest == read(copy).digest
    assert not (target / "stale").exists()
    assert [path.name for path in target.parent.iterdir()] == ["noop"]


def test_the_archive_depends_on_the_folder_alone(copy: Path, tmp_path: Path):
    """Times and owners are not in it: two controllers make the same bytes."""
    shutil.copytree(copy, tmp_path / "later" / "noop", copy_function=shutil.copy)

    assert folder.archive(tmp_path / "later" / "noop") == read(copy).archive()


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out"])
def test_no_member_of_an_archive_leaves_the_folder(tmp_path: Path, name: str):
    """An archive is read from a store that others may write to."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())

    with pytest.raises(BenchmarkError, match="not a plain file below the folder"):
        unpack(packed.getvalue(), tmp_path / "inside")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("packed", [b"", b"no archive"])
def test_a_damaged_archive_is_a_benchmark_error(tmp_path: Path, packed: bytes):
    """Whatever the bytes are, the message names the archive."""
    with pytest.raises(BenchmarkError, match="benchmark archive"):
        unpack(packed, tmp_path / "inside")


def test_a_fragment_prints_values_as_they_are():
    """A value with braces is text, never a format."""
    assert Fragment(file="f", line="{name} = {value}").render({"a": "{name}"}) == "a = {name}\n"
