"""The choices by name, and how a person writes one: `NAME` or `NAME:key=value,key=value`.

`min:threshold=0.15` is the rule `min` with another threshold. The keys are the attributes of the kind.
"""

from dataclasses import fields, replace
from typing import Any

from albacore.errors import UserError
from albacore.policies.albacore import Albacore
from albacore.policies.choice import Choice
from albacore.policies.rule import Rule

DEFAULT = "albacore"
REFERENCE = "tuna"
CURVE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 16.0, 1e6)
"""Settings of `care` that make the trade-off curve of the default choice, from speed alone to least risk."""

CHOICES: dict[str, Choice] = {
    "albacore": Albacore(),
    "tuna": Rule(threshold=0.30),
    "artifact": Rule(threshold=0.30, penalty="artifact"),
    "min": Rule(),
    "mean": Rule(statistic="mean"),
    "median": Rule(statistic="median"),
    "p10": Rule(statistic="p10"),
    "mean-sd": Rule(statistic="mean", sds=1.0),
    "mean-2sd": Rule(statistic="mean", sds=2.0),
    "mean-half-range": Rule(statistic="mean", slope=0.5),
    "mean-range": Rule(statistic="mean", slope=1.0),
    "mean-0.30": Rule(statistic="mean", threshold=0.30),
    "median-0.30": Rule(statistic="median", threshold=0.30),
    "p10-0.30": Rule(statistic="p10", threshold=0.30),
    "min-0.15": Rule(threshold=0.15),
    "min-0.20": Rule(threshold=0.20),
    "mean-0.15": Rule(statistic="mean", threshold=0.15),
    "mean-0.20": Rule(statistic="mean", threshold=0.20),
    "min-0.30-adjusted": Rule(threshold=0.30, adjust="range"),
    "mean-0.30-adjusted": Rule(statistic="mean", threshold=0.30, adjust="range"),
    "mean-0.20-adjusted": Rule(statistic="mean", threshold=0.20, adjust="range"),
    "min-0.30-all-adjusted": Rule(threshold=0.30, adjust="all"),
}
"""Name -> choice; docs/policies.md says what each is."""


def choice(text: str) -> Choice:
    """Return the choice that a person wrote.

    Raises:
        UserError: For an unknown name or key, or a value out of range.
    """
    name, _, settings = text.partition(":")
    if name not in CHOICES:
        raise UserError(f"--policy {text}: expected one of {', '.join(CHOICES)}, got {name!r}.")
    kind: Any = CHOICES[name]
    known = {field.name: field for field in fields(kind)}
    given: dict[str, Any] = {}
    for setting in filter(None, settings.split(",")):
        key, equals, value = setting.partition("=")
        if not equals or key not in known:
            raise UserError(f"--policy {text}: expected KEY=VALUE with one of {', '.join(known)}, got {setting!r}.")
        given[key] = _typed(text, key, value, getattr(kind, key))
    return replace(kind, **given)


def _typed(text: str, key: str, value: str, now: object) -> object:
    if isinstance(now, str):
        return value
    try:
        return float(value)
    except ValueError as error:
        raise UserError(f"--policy {text}: expected a number for {key!r}, got {value!r}.") from error
