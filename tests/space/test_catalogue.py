"""Laws of knobs.toml: read strictly, one clear error each, bounds computed from facts."""

from pathlib import Path

import pytest

from albacore.errors import ExpressionError, SpaceError, UserError
from albacore.space.catalogue import Catalogue

GOOD = """
[knob.shared_buffers]
kind = "int"
unit = "MB"
default = 128
min = 16
max = "ram_bytes / 4 / 1048576"
log = true
special = [-1]
doc = "https://www.postgresql.org/docs/16/"
safety = "caution"
why = "too much starves the page cache"

[knob.work_mem]
kind = "int"
unit = "kB"
default = 4096
min = 64
max = 1000000
log = true
restart = false

[knob.min_wal_size]
kind = "int"
unit = "MB"
default = 80
min = 32
max = 4000

[knob.max_wal_size]
kind = "int"
unit = "MB"
default = 1024
min = 32
max = 8000

[knob.wal_compression]
kind = "choice"
choices = ["off", "pglz"]
default = "off"

[knob.fsync]
kind = "bool"
default = true

[[relation]]
less_or_equal = ["min_wal_size", "max_wal_size"]

[[memory]]
terms = { shared_buffers = 1, work_mem = 8 }
max_bytes = "ram_bytes * 0.6"

[deny]
fsync = "a crash loses committed data"
full_page_writes = "a crash corrupts pages"
"""
FACTS = {"ram_bytes": 4 * 1024**3 + 3, "cores": 2, "disk_bytes": 1e11}
KNOB = '[knob.a]\nkind = "int"\ndefault = 1\nmin = 1\nmax = 9\n'


def read(folder: Path, text: str) -> Catalogue:
    """Write a catalogue and read it."""
    path = folder / "knobs.toml"
    path.write_text(text)
    return Catalogue.read(path)


def test_a_catalogue_makes_a_space_on_a_machine(tmp_path: Path) -> None:
    """Bounds are computed from facts, denied knobs stay out, rules come along."""
    space = read(tmp_path, GOOD).space(FACTS, values=("on", "off"))
    assert space.names == ("shared_buffers", "work_mem", "min_wal_size", "max_wal_size", "wal_compression")
    buffers = space.knob("shared_buffers")
    assert (buffers.high, buffers.log, buffers.special, buffers.safety) == (1024, True, (-1,), "caution")
    assert not space.knob("work_mem").restart
    assert [(r.lower, r.upper) for r in space.relations] == [("min_wal_size", "max_wal_size")]
    assert space.memory[0].max_bytes == pytest.approx(0.6 * FACTS["ram_bytes"])


def test_a_campaign_selects_knobs_and_narrows_bounds(tmp_path: Path) -> None:
    """Selection keeps its order; bounds may be numbers or expressions; an absent one keeps the catalogue's."""
    bounds = {"work_mem": {"min": 128, "max": "cores * 4096", "default": None}}
    space = read(tmp_path, GOOD).space(FACTS, knobs=["work_mem", "min_wal_size"], bounds=bounds)
    assert space.names == ("work_mem", "min_wal_size")
    assert (space.knob("work_mem").low, space.knob("work_mem").high, space.knob("work_mem").default) == (
        128,
        8192,
        4096,
    )
    assert space.relations == ()


def test_a_sum_counts_the_knobs_that_are_not_tuned_with_their_default(tmp_path: Path) -> None:
    """Leaving out shared_buffers leaves its 128 MB less for work_mem."""
    space = read(tmp_path, GOOD).space(FACTS, knobs=["work_mem"])
    assert space.memory[0].terms == (("work_mem", 8.0),)
    assert space.memory[0].max_bytes == pytest.approx(0.6 * FACTS["ram_bytes"] - 128 * 1024**2)


def test_a_denied_knob_needs_the_campaigns_word(tmp_path: Path) -> None:
    """Naming fsync is an error that says why; allowed, the knob is marked."""
    catalogue = read(tmp_path, GOOD)
    with pytest.raises(SpaceError, match="a crash loses committed data"):
        catalogue.space(FACTS, knobs=["fsync"])
    assert catalogue.space(FACTS, knobs=["fsync"], allow_denied=True).knob("fsync").safety == "denied"
    with pytest.raises(SpaceError, match="full_page_writes"):
        catalogue.space(FACTS, knobs=["full_page_writes"], allow_denied=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["at least one [knob.<name>]"]),
        ("[knob]", ["at least one [knob.<name>]"]),
        ("[knob.a\n", ["not TOML"]),
        (KNOB + KNOB, ["not TOML", "only once"]),
        (KNOB + "[knobs.b]\n", ["knobs", "spelling"]),
        ("knob = 1", ["knob", "tables"]),
        ("[knob]\na = 1", ["'a'", "expected a table"]),
        (KNOB + "minimum = 1", ["'a'", "unknown key 'minimum'"]),
        (KNOB + "log = 1", ["'a'", "log", "bool"]),
        (KNOB + "special = -1", ["'a'", "special", "list"]),
        (KNOB + 'safety = "safe"', ["'a'", "safety", "durable or caution"]),
        (KNOB + 'safety = "caution"', ["'a'", "why"]),
        (KNOB.replace("min = 1", "min = true"), ["'a'", "min", "got True"]),
        (KNOB.replace('"int"', '"integer"'), ["'a'", "kind", "int, real, choice, bool"]),
        (KNOB.replace("default = 1\n", ""), ["'a'", "default"]),
        (KNOB + '[[relation]]\nless_or_equal = ["a", "b"]', ["relation", "'b'"]),
        (KNOB + '[[relation]]\nless_or_equal = ["a"]', ["relation", "first"]),
        (KNOB + '[[relation]]\nless = ["a", "a"]', ["relation", "less_or_equal"]),
        (KNOB + "[relation]\na = 1", ["relation", "tables"]),
        (KNOB + "[[memory]]\nterms = { b = 1 }\nmax_bytes = 9", ["memory", "'b'"]),
        (KNOB + "[[memory]]\nterms = { a = true }\nmax_bytes = 9", ["memory", "'a'", "number"]),
        (KNOB + "[[memory]]\nterms = {}\nmax_bytes = 9", ["memory", "terms"]),
        (KNOB + "[deny]\na = true", ["deny.a", "why"]),
    ],
)
def test_a_broken_file_gives_one_error_with_its_place(tmp_path: Path, text: str, words: list[str]) -> None:
    """The message names file, knob or table, key and remedy."""
    with pytest.raises(SpaceError) as caught:
        read(tmp_path, text)
    assert all(word in str(caught.value) for word in [*words, "knobs.toml"]), caught.value
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (KNOB.replace("min = 1", "min = 10"), ["'a'", "min 10 is above max 9"]),
        (KNOB.replace("min = 1\n", ""), ["'a'", "missing"]),
        (KNOB.replace("max = 9", 'max = "cores.real"'), ["'a'", "max", "column 1"]),
        (KNOB.replace("max = 9", 'max = "cores ** 9"'), ["'a'", "max"]),
        (KNOB.replace("max = 9", 'max = "round(1,-99999999999)"'), ["'a'", "max", "digits"]),
        (KNOB.replace("max = 9", f'max = "{"x" * 10_000}"'), ["'a'", "max", "200 characters"]),
        (KNOB.replace("default = 1", "default = 11"), ["'a'", "11 is outside 1 to 9"]),
        (KNOB + '[[memory]]\nterms = { a = 1 }\nmax_bytes = "ram"', ["memory", "max_bytes", "'ram'"]),
        ('[knob.c]\nkind = "choice"\ndefault = "x"\nchoices = []', ["'c'", "choices"]),
        ('[knob.c]\nkind = "bool"\ndefault = "on"', ["'c'", "true or false"]),
    ],
)
def test_bounds_that_make_no_range_are_refused_on_the_machine(tmp_path: Path, text: str, words: list[str]) -> None:
    """What depends on facts is told when the space is made, with file, knob and key."""
    with pytest.raises(UserError) as caught:
        read(tmp_path, text).space(FACTS)
    assert all(word in str(caught.value) for word in [*words, "knobs.toml"]), caught.value
    assert len(str(caught.value)) < 700


def test_names_of_the_campaign_are_checked(tmp_path: Path) -> None:
    """Unknown knobs, bounds of a knob that is not tuned, unknown keys of bounds, a knob named twice."""
    catalogue = read(tmp_path, GOOD)
    for arguments, word in (
        ({"knobs": ["nope"]}, "unknown knob 'nope'"),
        ({"knobs": ["work_mem"], "bounds": {"shared_buffers": {"max": 99}}}, "not tuned"),
        ({"bounds": {"work_mem": {"maximum": 1}}}, "unknown key 'maximum'"),
        ({"knobs": ["work_mem", "work_mem"]}, "twice"),
        ({"knobs": []}, "at least one"),
    ):
        with pytest.raises(SpaceError, match=word):
            catalogue.space(FACTS, **arguments)  # type: ignore[arg-type]


def test_a_missing_fact_names_the_known_ones(tmp_path: Path) -> None:
    """A node that does not report its memory is told so."""
    with pytest.raises(ExpressionError, match="unknown name 'ram_bytes'; known are cores"):
        read(tmp_path, GOOD).space({"cores": 2})


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A missing file, a folder, a binary and a huge file each give one error."""
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge.toml").write_bytes(b"# " * 1_000_000)
    for name in ("missing.toml", "", "binary.toml", "huge.toml"):
        with pytest.raises(SpaceError):
            Catalogue.read(tmp_path / name)
