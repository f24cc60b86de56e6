"""Laws of knobs, configs and spaces."""

import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from albacore.errors import SpaceError
from albacore.space import AtMost, Config, Kind, Knob, MemorySum, Space
from albacore.space.knob import SPECIAL_SHARE

MB = 1024**2
SPACE = Space(
    knobs=(
        Knob(name="buffers", kind=Kind.INT, low=16, high=2048, default=128, log=True, unit="MB", special=(-1,)),
        Knob(name="work_mem", kind=Kind.INT, low=64, high=1_000_000, default=4096, log=True, unit="kB"),
        Knob(name="page_cost", kind=Kind.REAL, low=0.1, high=10.0, default=4.0, log=True),
        Knob(name="target", kind=Kind.REAL, low=0.0, high=1.0, default=0.9, special=(-1.0, 0.5)),
        Knob(name="wal_min", kind=Kind.INT, low=32, high=4000, default=80, unit="MB"),
        Knob(name="wal_mid", kind=Kind.INT, low=10, high=4000, default=90, unit="MB", special=(0,)),
        Knob(name="wal_max", kind=Kind.INT, low=2, high=5000, default=1024, unit="MB"),
        Knob(name="compression", kind=Kind.CHOICE, choices=("off", "pglz", "on"), default="off"),
        Knob(name="enable_nestloop", kind=Kind.BOOL, default=True),
    ),
    relations=(AtMost(lower="wal_min", upper="wal_mid"), AtMost(lower="wal_mid", upper="wal_max")),
    memory=(MemorySum(terms=(("buffers", 1.0), ("work_mem", 8.0)), max_bytes=3000.0 * MB),),
)
POINTS = st.lists(st.floats(0, 1), min_size=len(SPACE), max_size=len(SPACE)).map(np.array)
NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


@st.composite
def numeric_knobs(draw: st.DrawFn) -> Knob:
    """Draw a knob of any range that knobs.toml can hold."""
    log = draw(st.booleans())
    kind = draw(st.sampled_from([Kind.INT, Kind.REAL]))
    low = draw(st.floats(1e-6, 1e6) if log else NUMBERS)
    high = low + draw(st.floats(0, 1e9))
    if kind is Kind.INT:
        low, high = math.ceil(low), math.ceil(high)
    special = tuple(draw(st.lists(st.integers(-3, 3), max_size=3, unique=True)))
    return Knob(name="any", kind=kind, low=low, high=high, default=low, log=log, special=special)


@given(POINTS)
def test_decode_after_encode_is_the_same_config(point: np.ndarray) -> None:
    """A config survives the way through the unit cube: decode(encode(c)) == c, at any point of it."""
    config = SPACE.decode(point)
    assert SPACE.decode(SPACE.encode(config)) == config
    assert SPACE.config(config) == config


@settings(max_examples=300)
@given(numeric_knobs(), st.floats(0, 1))
@example(Knob(name="any", kind=Kind.REAL, low=1e-06, high=1.000001, log=True, default=1e-06, special=(0.0,)), 1.0)
def test_any_numeric_knob_decodes_inside_its_bounds_and_back(knob: Knob, u: float) -> None:
    """Every place of the interval is a legal value, and encoding it leads back to it."""
    value = knob.decode(u)
    assert knob.value(value) == value
    assert knob.decode(knob.encode(value)) == value
    assert 0 <= knob.encode(value) <= 1


@given(POINTS)
def test_no_config_breaks_a_rule(point: np.ndarray) -> None:
    """Relations and memory sums hold for everything that decode gives; special values have no size."""
    config = SPACE.decode(point)
    mid_is_sized = config["wal_mid"] != 0
    if mid_is_sized:
        assert config["wal_min"] <= config["wal_mid"] <= config["wal_max"]  # type: ignore[operator]
    buffers = 0 if config["buffers"] == -1 else config["buffers"]
    assert buffers * MB + 8 * config["work_mem"] * 1024 <= 3000 * MB  # type: ignore[operator]
    assert SPACE.repair(config) == config


def test_values_are_plain_python_after_decode_and_config() -> None:
    """Scalars of numpy print as np.str_('off') and would change the digest; none gets through."""
    raw = {**SPACE.default(), "compression": np.str_("pglz"), "page_cost": np.float64(1.5)}
    for config in (SPACE.config(raw), SPACE.decode(np.full(len(SPACE), 0.7))):
        assert {type(value) for value in config.values()} == {int, float, str, bool}
    assert SPACE.config(raw).id == SPACE.config({**raw, "compression": "pglz", "page_cost": 1.5}).id


def test_special_values_share_a_fifth_of_the_interval() -> None:
    """Uniform draws give special values 20 % in total, in equal parts (TUNA's hybrid knobs).

    20,000 draws: the standard error of a share of 0.2 is 0.0028, of 0.1 is 0.0021; four of them are 0.012.
    """
    knob = SPACE.knob("target")
    values = [knob.decode(u) for u in np.random.default_rng(3).random(20_000)]
    assert values.count(-1.0) / 20_000 == pytest.approx(SPECIAL_SHARE / 2, abs=0.012)
    assert sum(map(knob.is_special, values)) / 20_000 == pytest.approx(SPECIAL_SHARE, abs=0.012)


def test_a_log_scale_spreads_evenly_over_magnitudes() -> None:
    """Half of the draws of a log knob lie below the geometric middle (sqrt(64 * 1e6) = 8000).

    4,000 draws: the standard error is 0.008; four of them are 0.032.
    """
    knob = SPACE.knob("work_mem")
    values = [knob.decode(u) for u in np.random.default_rng(5).random(4000)]
    assert sum(value < 8000 for value in values) / 4000 == pytest.approx(0.5, abs=0.032)  # type: ignore[operator]


def test_every_choice_and_whole_number_has_its_share() -> None:
    """Ends of a small range come up as often as the middle.

    3,000 draws over 3 values: the standard error of a third is 0.0086; four of them are 0.035.
    """
    knob = Knob(name="k", kind=Kind.INT, low=1, high=3, default=1)
    values = [knob.decode(u) for u in np.random.default_rng(9).random(3000)]
    for value in (1, 2, 3):
        assert values.count(value) / 3000 == pytest.approx(1 / 3, abs=0.035)


def test_text_is_what_a_config_file_reads() -> None:
    """Unit after numbers, none after special values, plain decimals, the system's words for true and false."""
    space = Space(
        knobs=(
            Knob(name="a", kind=Kind.INT, low=1, high=9, default=-1, special=(-1,), unit="MB"),
            Knob(name="b", kind=Kind.INT, low=1, high=9, default=8, unit="MB"),
            Knob(name="c", kind=Kind.REAL, low=1e-6, high=1.0, default=1e-05, log=True),
            Knob(name="d", kind=Kind.REAL, low=0.0, high=1e15, default=1e15, unit="ms"),
            Knob(name="e", kind=Kind.BOOL, default=False),
            Knob(name="f", kind=Kind.CHOICE, choices=("pglz",), default="pglz"),
        ),
        values=("yes", "no"),
    )
    wanted = {"a": "-1", "b": "8MB", "c": "0.00001", "d": "1000000000000000.0ms", "e": "no", "f": "pglz"}
    assert space.text(space.default()) == wanted


def test_equal_values_are_the_same_config() -> None:
    """Order of insertion does not count; kind of value does; the id is twelve hex digits."""
    a = Config({"x": 1, "y": "off"})
    b = Config({"y": "off", "x": 1})
    assert a == b and hash(a) == hash(b) and a.id == b.id
    assert Config({"x": 1}) != Config({"x": 1.0}) != Config({"x": True})
    assert len(a.id) == 12 and int(a.id, 16) >= 0
    assert pickle.loads(pickle.dumps(a)) == a


def test_a_config_never_changes() -> None:
    """Neither its values nor its id can be set."""
    config = SPACE.default()
    with pytest.raises(AttributeError):
        config.id = "other"
    with pytest.raises(TypeError):
        config["buffers"] = 1  # type: ignore[index]


def test_the_space_survives_json() -> None:
    """The effective space that a run stores is read back equal, with the same digest."""
    again = Space.from_json(json.loads(json.dumps(SPACE.to_json())))
    assert again == SPACE
    assert again.digest == SPACE.digest


@pytest.mark.parametrize(
    "data", [{}, {"knobs": 1}, {"knobs": [{"name": "a"}], "relations": [], "memory": [], "values": []}]
)
def test_json_that_is_no_space_is_refused(data: dict[str, object]) -> None:
    """A store from elsewhere gives a SpaceError."""
    with pytest.raises(SpaceError):
        Space.from_json(data)


def test_difference_names_the_knobs_in_their_order() -> None:
    """The verdict lists what differs from the default."""
    changed = SPACE.config({**SPACE.default(), "enable_nestloop": False, "buffers": -1})
    assert [knob.name for knob in SPACE.difference(SPACE.default(), changed)] == ["buffers", "enable_nestloop"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"buffers": 4096}, ["buffers", "4096 MB", "16 to 2048 MB or -1", "knobs.toml"]),
        ({"buffers": 1.5}, ["buffers", "whole number"]),
        ({"buffers": True}, ["buffers", "number"]),
        ({"page_cost": math.nan}, ["page_cost", "number"]),
        ({"page_cost": math.inf}, ["page_cost"]),
        ({"compression": "lz4"}, ["compression", "off, pglz, on"]),
        ({"enable_nestloop": 1}, ["enable_nestloop", "true or false"]),
        ({"nope": 1}, ["nope", "unknown knob"]),
        ({"wal_min": 4000}, ["wal_min = 4000", "wal_mid = 90"]),
        ({"work_mem": 1_000_000}, ["work_mem", "bytes"]),
    ],
)
def test_an_illegal_value_is_named_with_its_bounds(change: dict[str, object], words: list[str]) -> None:
    """A SpaceError says which knob, what was given, what is legal and what to do."""
    with pytest.raises(SpaceError) as caught:
        SPACE.config({**SPACE.default(), **change})
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_missing_knob_is_named() -> None:
    """A config has one value for every knob."""
    with pytest.raises(SpaceError, match="buffers"):
        SPACE.config({name: value for name, value in SPACE.default().items() if name != "buffers"})


INT = {"kind": "int", "low": 1, "high": 9, "default": 1}


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({**INT, "low": 10}, "above max"),
        ({**INT, "default": 10}, "outside"),
        ({**INT, "low": None}, "missing"),
        ({**INT, "low": 0, "log": True}, "log scale"),
        ({**INT, "special": (1.5,)}, "whole"),
        ({**INT, "high": 2.0**60}, "2^53"),
        ({**INT, "high": math.nan}, "2^53"),
        ({**INT, "choices": ("a",)}, "choices"),
        ({"kind": "choice", "default": "a"}, "choices"),
        ({"kind": "choice", "choices": ("a", "a"), "default": "a"}, "distinct"),
        ({"kind": "choice", "choices": ("a",), "default": "b"}, "expected one of a"),
        ({"kind": "bool", "default": True, "low": 1}, "no min"),
        ({"kind": "bool", "default": "on"}, "true or false"),
    ],
)
def test_a_knob_that_makes_no_sense_is_refused(fields: dict[str, object], word: str) -> None:
    """Bounds, scale, choices and default are checked when the knob is made."""
    with pytest.raises(SpaceError, match="knob 'k'") as caught:
        Knob(name="k", **fields)  # type: ignore[arg-type]
    assert word in str(caught.value)


def test_a_default_outside_the_range_is_legal_when_it_is_special() -> None:
    """PostgreSQL's wal_buffers is -1 by default, its range begins at 4."""
    assert Knob(name="k", kind=Kind.INT, low=4, high=9, default=-1, special=(-1,)).default == -1


def knob(name: str, low: int, high: int, unit: str = "MB") -> Knob:
    """Return an int knob with its low bound as default."""
    return Knob(name=name, kind=Kind.INT, low=low, high=high, default=low, unit=unit)


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        ({"relations": (AtMost(lower="a", upper="zz"),)}, "zz"),
        ({"relations": (AtMost(lower="a", upper="b"), AtMost(lower="b", upper="a"))}, "circle"),
        ({"relations": (AtMost(lower="c", upper="a"),)}, "units differ"),
        ({"relations": (AtMost(lower="high", upper="a"),)}, "no value of 'a' reaches"),
        ({"relations": (AtMost(lower="b", upper="a"),)}, "is above"),
        ({"memory": (MemorySum(terms=(("a", 1.0), ("zz", 1.0)), max_bytes=1e9),)}, "zz"),
        ({"memory": (MemorySum(terms=(("a", -1.0),), max_bytes=1e9),)}, "weight"),
        ({"memory": (MemorySum(terms=(("a", 1.0),), max_bytes=1.0),)}, "lowest values need"),
        ({"memory": (MemorySum(terms=(("c", 1.0),), max_bytes=1e9),)}, "memory sum"),
    ],
)
def test_rules_that_cannot_be_kept_are_refused(rules: dict[str, object], word: str) -> None:
    """Unknown knobs, circles, different units and limits below the minimum are errors of the catalogue."""
    knobs = (knob("a", 1, 9), knob("b", 2, 9), knob("c", 1, 9, unit="ms"), knob("high", 50, 60))
    with pytest.raises(SpaceError) as caught:
        Space(knobs=knobs, **rules)  # type: ignore[arg-type]
    assert word in str(caught.value)


def test_empty_and_doubled_spaces_are_refused() -> None:
    """A space has at least one knob and each only once."""
    with pytest.raises(SpaceError, match="at least one"):
        Space(knobs=())
    with pytest.raises(SpaceError, match="twice"):
        Space(knobs=(knob("a", 1, 9), knob("a", 1, 9)))


def test_decode_refuses_points_of_another_space() -> None:
    """Too few numbers or a NaN are a bug in an optimizer, not a config."""
    for point in (np.zeros(3), np.full(len(SPACE), np.nan)):
        with pytest.raises(SpaceError):
            SPACE.decode(point)


def test_all_configs_of_a_small_space() -> None:
    """A finite space can be walked through; its size says how far."""
    space = Space(knobs=(knob("a", 1, 3), Knob(name="b", kind=Kind.BOOL, default=True)))
    assert space.size == 6
    assert len({config.id for config in space.all_configs()}) == 6
    assert SPACE.size == math.inf


def test_the_module_is_light() -> None:
    """DAG files read spaces: neither numpy nor anything heavier comes with them."""
    code = "import sys, albacore.space, albacore.space.catalogue, albacore.optimizers; sys.exit('numpy' in sys.modules)"
    include = Path(__file__).parents[2] / "include"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(include)}, check=False).returncode == 0
