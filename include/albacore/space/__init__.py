"""Space and Config: the ordered set of knobs that a campaign tunes, and one legal value for each of them.

The effective space (bounds computed from the node's facts) is stored with a campaign run as JSON; nothing later reads
knobs.toml again. Rules between knobs are kept by `repair`, which optimizers never see: they propose freely in [0,
1]^d and are told what was measured.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from albacore.errors import SpaceError
from albacore.space.knob import Kind, Knob, Value
from albacore.space.rules import AtMost, MemorySum, Rules

if TYPE_CHECKING:
    import numpy as np

__all__ = ["AtMost", "Config", "Kind", "Knob", "MemorySum", "Space", "Value"]

ID_LENGTH = 12


def _digest(data: object) -> str:
    """Return the first hex digits of the SHA-256 of canonical JSON; floats are written by repr."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]


class Config(Mapping[str, Value]):
    """One value per knob: immutable, hashable, equal when the digests are.

    Build it with `Space.config`, which checks the values; `Config(values)` is for values that were checked before
    they were stored.
    """

    __slots__ = ("_values", "id")

    _values: dict[str, Value]
    id: str

    def __init__(self, values: Mapping[str, Value]) -> None:
        object.__setattr__(self, "_values", dict(values))
        object.__setattr__(self, "id", _digest(sorted(self._values.items())))

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Config) else NotImplemented

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Config never changes; build another one to set {name!r}")

    def __reduce__(self) -> tuple[type["Config"], tuple[dict[str, Value]]]:
        return Config, (self._values,)

    def __repr__(self) -> str:
        return f"Config({self.id}: {self._values})"


def _tupled(data: object) -> Any:
    """Return JSON data with its arrays as tuples."""
    if isinstance(data, dict):
        return {key: _tupled(value) for key, value in data.items()}
    return tuple(_tupled(value) for value in data) if isinstance(data, list | tuple) else data


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Knobs in their order, the rules between them, and the system's words for true and false.

    Attributes:
        relations: Pairs of knobs of which the first never exceeds the second.
        memory: Weighted sums of knobs, in bytes, with their limits.
        values: Text of true, text of false.
    """

    knobs: tuple[Knob, ...]
    relations: tuple[AtMost, ...] = ()
    memory: tuple[MemorySum, ...] = ()
    values: tuple[str, str] = ("on", "off")
    _default: Config = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.knobs:
            raise SpaceError(
                "space: expected at least one knob, got none. Name one in 'knobs' or add one to knobs.toml."
            )
        names = [knob.name for knob in self.knobs]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SpaceError(f"space: knob '{twice[0]}' is there twice. Remove one.", knob=twice[0])
        self.rules.check()
        # Kept, as a decision asks for the default's id once per fact of its log.
        object.__setattr__(self, "_default", Config({knob.name: knob.default for knob in self.knobs}))
        self.config(self.default())

    @property
    def rules(self) -> Rules:
        """The rules between the knobs."""
        return Rules(knobs={knob.name: knob for knob in self.knobs}, relations=self.relations, memory=self.memory)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the knobs in their order."""
        return tuple(knob.name for knob in self.knobs)

    @property
    def digest(self) -> str:
        """First 12 hex digits of the SHA-256 of the space as JSON."""
        return _digest(self.to_json())

    def __len__(self) -> int:
        return len(self.knobs)

    def knob(self, name: str) -> Knob:
        """Return a knob by its name.

        Raises:
            SpaceError: When the space has no such knob.
        """
        for knob in self.knobs:
            if knob.name == name:
                return knob
        raise SpaceError(
            f"space: unknown knob '{name:.64}'; it has {', '.join(self.names):.200}. Correct the name.", knob=name
        )

    def default(self) -> Config:
        """Return the config of the system's own defaults."""
        return self._default

    def config(self, values: Mapping[str, object]) -> Config:
        """Return checked values as a config; reals are rounded to their knob's grid.

        Raises:
            SpaceError: When a knob is unknown or missing, a value is not legal, or a rule between knobs is broken.
        """
        for name in values:
            self.knob(name)
        missing = [name for name in self.names if name not in values]
        if missing:
            raise SpaceError(
                f"config: no value for knob '{missing[0]}' ({len(missing)} missing). Give one for every knob.",
                knob=missing[0],
            )
        legal = {knob.name: knob.value(values[knob.name]) for knob in self.knobs}
        fault = self.rules.fault(legal)
        if fault:
            raise SpaceError(f"config: {fault}. Change one of these values, or the rule in knobs.toml.")
        return Config(legal)

    def repair(self, values: Mapping[str, Value]) -> Config:
        """Return legal values as a config, changed only where a rule between knobs asks for it."""
        return Config(self.rules.kept(values))

    def decode(self, u: "np.ndarray") -> Config:
        """Return the config at a point of the unit cube, repaired.

        Args:
            u: One place in [0, 1] per knob, in their order; outside is clipped.

        Raises:
            SpaceError: When the point has another dimension or a NaN.
        """
        places = [float(place) for place in u]
        if len(places) != len(self.knobs) or any(math.isnan(place) for place in places):
            raise SpaceError(
                f"decode: expected {len(self.knobs)} numbers, got {len(places)} or a NaN. A bug in the optimizer."
            )
        return self.repair({knob.name: knob.decode(place) for knob, place in zip(self.knobs, places, strict=True)})

    def encode(self, config: Mapping[str, Value]) -> "np.ndarray":
        """Return the point of a config; `decode` leads back to the same config."""
        import numpy as np

        return np.array([knob.encode(config[knob.name]) for knob in self.knobs], dtype=np.float64)

    def encode_all(self, configs: Sequence[Mapping[str, Value]]) -> "np.ndarray":
        """Return (n, d) points of n configs, also of none: what `encode` does of each, in a fraction of the time."""
        import numpy as np

        columns = [knob.encode_all([config[knob.name] for config in configs]) for knob in self.knobs]
        return np.array(columns, dtype=np.float64).reshape(len(self.knobs), len(configs)).T.copy()

    def text(self, config: Mapping[str, Value]) -> dict[str, str]:
        """Return name -> value as the system's config file wants it, in the order of the knobs."""
        return {knob.name: knob.text(config[knob.name], self.values) for knob in self.knobs}

    def difference(self, a: Mapping[str, Value], b: Mapping[str, Value]) -> list[Knob]:
        """Return the knobs in which two configs differ, in the order of the knobs."""
        return [knob for knob in self.knobs if a[knob.name] != b[knob.name]]

    @property
    def size(self) -> float:
        """How many combinations of values there are, before repair; infinite with a real range."""
        return math.prod(knob.size for knob in self.knobs)

    def all_configs(self) -> Iterator[Config]:
        """Yield every config of a space of finite size, in a fixed order; repair makes some come up more than once."""
        for values in itertools.product(*(knob.all_values() for knob in self.knobs)):
            yield self.repair(dict(zip(self.names, values, strict=True)))

    def to_json(self) -> dict[str, Any]:
        """Return the space as plain JSON data."""
        return {
            "knobs": [asdict(knob) for knob in self.knobs],
            "relations": [asdict(relation) for relation in self.relations],
            "memory": [asdict(part) for part in self.memory],
            "values": list(self.values),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Space":
        """Return the space that `to_json` wrote.

        Raises:
            SpaceError: When the data is not that of a space.
        """
        try:
            return cls(
                knobs=tuple(Knob(**_tupled(knob)) for knob in data["knobs"]),
                relations=tuple(AtMost(**part) for part in data["relations"]),
                memory=tuple(MemorySum(**_tupled(part)) for part in data["memory"]),
                values=(data["values"][0], data["values"][1]),
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise SpaceError(
                f"space: expected what Space.to_json writes, got {data!s:.80} ({error}). Open a new run."
            ) from error
