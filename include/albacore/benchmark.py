"""Benchmark: a system under tune and the workloads that are put on it, read from a folder of data and executables.

The folder keeps docs/benchmark-contract.md; here it is only read and checked. `knobs.toml` belongs to
`albacore.space.catalogue`: this module checks that the file exists.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from albacore import folder
from albacore.errors import BenchmarkError
from albacore.toml_table import TomlTable
from albacore.trial import Direction

NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
SYSTEM_VERBS = ("install", "start", "stop")
WORKLOAD_VERBS = ("load", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """How the verdict prints a config to copy.

    Attributes:
        file: Where the system looks for such a file.
        line: Format of one line; `{name}` is the knob, `{value}` its text.
    """

    file: str
    line: str

    def __post_init__(self) -> None:
        if "{name}" not in self.line or "{value}" not in self.line:
            raise BenchmarkError(
                f"[fragment] line: expected '{{name}}' and '{{value}}' in it, got {self.line!r}. Add them."
            )

    def render(self, texts: Mapping[str, str]) -> str:
        """Return the lines of the file, one per knob in the order given."""
        return "".join(
            self.line.replace("{name}", name).replace("{value}", text) + "\n" for name, text in texts.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A load, the figure it reports, and everything a job needs to know of it.

    Attributes:
        system: The benchmark folder that it belongs to.
        digest: Digest of that folder when it was read.
        metric: The figure that is tuned; `unit` and `direction` are its own.
        expected_s: A usual start + run + stop on a quiet node.
        timeouts_s: Verb -> seconds, for all five verbs.
        params: Name -> default, in the file's order.
        may_load_from_elsewhere: Whether `run` may be on another node than the system: both honour ALBACORE_HOST.
    """

    name: str
    system: str
    digest: str
    title: str
    metric: str
    unit: str
    direction: Direction
    expected_s: float
    timeouts_s: Mapping[str, float]
    params: Mapping[str, Any]
    may_load_from_elsewhere: bool = False

    @property
    def id(self) -> str:
        """`<system>/<workload>`, as campaigns write it."""
        return f"{self.system}/{self.name}"

    def params_with(self, overrides: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the parameters after a campaign's overrides; an int is taken where the default is a float.

        Raises:
            BenchmarkError: When a parameter does not exist or has another type than its default.
        """
        merged = dict(self.params)
        for name, value in overrides.items():
            if name not in merged:
                known = ", ".join(sorted(merged)) or "none"
                raise BenchmarkError(f"{self.id}: no parameter {name!r}; there are: {known}. Remove or rename it.")
            merged[name] = self._converted(name, merged[name], value)
        return MappingProxyType(merged)

    def _converted(self, name: str, default: Any, value: Any) -> Any:
        """Return an override in its default's type."""
        if isinstance(default, float) and type(value) is int:
            return float(value)
        if type(value) is not type(default):
            wanted, given = type(default).__name__, type(value).__name__
            raise BenchmarkError(
                f"{self.id}: parameter {name!r} is a {wanted}, got {given} {value!r}. Change the value."
            )
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A system under tune.

    Attributes:
        system: The folder's name.
        root: The folder.
        values: How booleans become text: keys "true" and "false".
        digest: SHA-256 over relative paths, executable bits and contents of the folder.
    """

    system: str
    root: Path
    title: str
    documentation: str
    timeouts_s: Mapping[str, float]
    values: Mapping[str, str]
    fragment: Fragment
    workloads: Mapping[str, Workload]
    digest: str

    @classmethod
    def read(cls, root: Path, system: str) -> "Benchmark":
        """Read `<root>/<system>` and check everything that can be checked without running it.

        Raises:
            BenchmarkError: Naming the file, the key and the remedy.
        """
        home = _folder(root, system)
        digest = _digest(home)
        table = TomlTable.read(home / "system.toml")
        timeouts_s = table.timeouts(SYSTEM_VERBS)
        values, fragment = table.table("values"), table.table("fragment")
        benchmark = cls(
            system=system,
            root=home,
            title=table.text("title"),
            documentation=table.text("documentation", ""),
            timeouts_s=timeouts_s,
            values=MappingProxyType({key: values.text(key) for key in ("true", "false")}),
            fragment=Fragment(file=fragment.text("file"), line=fragment.text("line")),
            workloads=MappingProxyType(_workloads(home, digest, timeouts_s)),
            digest=digest,
        )
        for each in (table, values, fragment):
            each.end()
        return benchmark

    def workload(self, name: str) -> Workload:
        """Return one workload.

        Raises:
            BenchmarkError: When there is none of that name.
        """
        if name not in self.workloads:
            known = ", ".join(sorted(self.workloads))
            raise BenchmarkError(f"benchmark {self.system!r}: no workload {name!r}; there are: {known}.", workload=name)
        return self.workloads[name]

    def archive(self) -> bytes:
        """Return the folder as a tar.gz; the same folder gives the same bytes."""
        return folder.archive(self.root)

    @property
    def knobs_path(self) -> Path:
        """Where the knob catalogue is."""
        return self.root / "knobs.toml"


def unpack(packed: bytes, destination: Path) -> None:
    """Make `destination` the folder that was packed by `Benchmark.archive`, replacing what was there.

    Raises:
        BenchmarkError: When the archive is damaged or holds anything but plain files below the folder.
    """
    try:
        folder.unpack(packed, destination)
    except (ValueError, OSError, EOFError) as error:
        raise BenchmarkError(f"benchmark archive for {destination}: {error} Pack the folder again.") from error


def _folder(root: Path, system: str) -> Path:
    """Return the folder of a system, checked for the files that every system has."""
    home = Path(root, system)
    if not NAME.fullmatch(system) or not home.is_dir():
        known = ", ".join(sorted(p.parent.name for p in Path(root).glob("*/system.toml"))) or "none"
        raise BenchmarkError(f"benchmark {system!r}: no such folder in {root}; there are: {known}.", system=system)
    for name in ("system.toml", "knobs.toml"):
        if not (home / name).is_file():
            raise BenchmarkError(f"{home / name}: missing. Add it (docs/benchmark-contract.md).", path=home / name)
    _check_verbs(home, SYSTEM_VERBS)
    return home


def _digest(home: Path) -> str:
    """Return the folder's digest, a link in it being the user's error."""
    try:
        return folder.digest(home)
    except ValueError as error:
        raise BenchmarkError(str(error)) from error


def _check_verbs(home: Path, verbs: tuple[str, ...]) -> None:
    """Refuse a folder where a verb is missing or cannot be executed."""
    for verb in verbs:
        path = home / verb
        if not path.is_file():
            raise BenchmarkError(f"{path}: missing. Write this executable (docs/benchmark-contract.md).", path=path)
        if not path.stat().st_mode & 0o100:
            raise BenchmarkError(f"{path}: not executable. Run: chmod +x '{path}'", path=path)
        if not path.read_bytes()[:4].startswith((b"#!", b"\x7fELF")):
            raise BenchmarkError(f"{path}: expected a program or a '#!' line. Add one, like '#!/usr/bin/env python3'.")


def _workloads(home: Path, digest: str, timeouts_s: Mapping[str, float]) -> dict[str, Workload]:
    """Read every workload below a system's folder, in the order of their names."""
    found = {}
    for path in sorted((home / "workloads").glob("*/")):
        if path.name.startswith((".", "__")):
            continue
        found[path.name] = _workload(path, home.name, digest, timeouts_s)
    if not found:
        raise BenchmarkError(
            f"{home / 'workloads'}: expected at least one workload. Add <name>/workload.toml, load and run."
        )
    return found


def _workload(home: Path, system: str, digest: str, timeouts_s: Mapping[str, float]) -> Workload:
    """Read one workload's folder."""
    if not NAME.fullmatch(home.name):
        raise BenchmarkError(f"{home}: expected a name like {NAME.pattern}. Rename the folder.")
    table = TomlTable.read(home / "workload.toml")
    _check_verbs(home, WORKLOAD_VERBS)
    workload = Workload(
        name=home.name,
        system=system,
        digest=digest,
        title=table.text("title"),
        metric=table.text("metric"),
        unit=table.text("unit"),
        direction=Direction(table.choice("direction", [d.value for d in Direction])),
        expected_s=table.seconds("expected_s"),
        timeouts_s=MappingProxyType({**timeouts_s, **table.timeouts(WORKLOAD_VERBS)}),
        params=MappingProxyType(dict(table.table("params", {}).left)),
        may_load_from_elsewhere=table.choice("load", ["beside", "anywhere"], "beside") == "anywhere",
    )
    table.end()
    return workload
