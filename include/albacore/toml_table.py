"""Read TOML files strictly: every key is asked for by name and type, and what is left over is an error.

All files that people write for benchmarks go through here, so that a typo is never a silent default.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from albacore.errors import BenchmarkError

MAX_TIMEOUT_S = 86_400


class TomlTable:
    """A TOML table that is taken apart key by key; what is left at `end` is unknown."""

    def __init__(self, path: Path, where: str, content: Mapping[str, Any]) -> None:
        self.path, self.where, self.left = path, where, dict(content)

    @classmethod
    def read(cls, path: Path) -> "TomlTable":
        """Read a file."""
        try:
            return cls(path, "", tomllib.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise BenchmarkError(f"{path}: missing. Add it (docs/benchmark-contract.md).", path=path) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise BenchmarkError(f"{path}: cannot be read as TOML: {error}. Correct it.", path=path) from error

    def error(self, key: str, expected: str, given: object) -> BenchmarkError:
        """Return the error for a key that is not as expected."""
        return BenchmarkError(
            f"{self.path}: {self.where}{key}: expected {expected}, got {given}. Correct it.", path=self.path, key=key
        )

    def take(self, key: str, kind: type | tuple[type, ...], expected: str, default: Any = None) -> Any:
        """Remove and return a key's value of one kind; without a default it has to be there."""
        if key not in self.left and default is not None:
            return default
        if key not in self.left:
            raise self.error(key, expected, "nothing")
        value = self.left.pop(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.error(key, expected, repr(value))
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Remove and return a text."""
        text = self.take(key, str, "a text", default)
        if not text and default is None:
            raise self.error(key, "a text", "an empty one")
        return text

    def choice(self, key: str, choices: list[str], default: str | None = None) -> str:
        """Remove and return one of some texts."""
        text = self.text(key, default)
        if text not in choices:
            raise self.error(key, " or ".join(map(repr, choices)), repr(text))
        return text

    def seconds(self, key: str) -> float:
        """Remove and return a time limit above 0 and up to a day."""
        value = self.take(key, (int, float), "seconds above 0")
        if not 0 < value <= MAX_TIMEOUT_S:
            raise self.error(key, f"seconds above 0 and up to {MAX_TIMEOUT_S}", value)
        return float(value)

    def table(self, key: str, default: Mapping[str, Any] | None = None) -> "TomlTable":
        """Remove and return a table."""
        return TomlTable(self.path, f"[{key}] ", self.take(key, dict, "a table", default))

    def timeouts(self, verbs: tuple[str, ...]) -> Mapping[str, float]:
        """Remove and return the time limits of some verbs, and of no others."""
        table = self.table("timeouts_s")
        limits = {verb: table.seconds(verb) for verb in verbs}
        table.end()
        return MappingProxyType(limits)

    def end(self) -> None:
        """Refuse what nobody asked for."""
        for key in self.left:
            raise BenchmarkError(
                f"{self.path}: {self.where}unknown key {key!r}. Remove or rename it.", path=self.path, key=key
            )
