"""Compare the value that was asked for with the one the server says is in effect.

PostgreSQL accepts `128MB`, shows `16384` and means 8-kB pages: both are brought to the setting's base unit first. A
value that was silently changed would be measured under a wrong name.
"""

from __future__ import annotations

import math
import re

from contract import ConfigError

NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z]*)\s*\Z")
# https://www.postgresql.org/docs/16/config-setting.html#CONFIG-SETTING-NAMES-VALUES
SIZES = {"B": 1, "kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
TRUE = {"on", "true", "yes", "1", "t", "y"}
FALSE = {"off", "false", "no", "0", "f", "n"}
SHOWN_DIGITS = 1e-5  # reals are shown with six digits
AUTOMATIC = -1  # "choose yourself": the server then shows what it chose


def _factor(unit: str) -> float:
    """Give the size of a unit in bytes or seconds; a base unit may carry a number, as 8kB does."""
    count, name = re.match(r"(\d*)(.*)", unit).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return float(count or 1) * {**SIZES, **TIMES}[name]


def in_base_unit(text: str, unit: str) -> float:
    """Read a number as PostgreSQL does and return it in the setting's base unit.

    Raises:
        ValueError: When it is not a number, or its unit is unknown.
    """
    match = NUMBER.match(text)
    if not match or (match[2] and not unit) or (match[2] and match[2] not in {**SIZES, **TIMES}):
        raise ValueError(text)
    return float(match[1]) * (_factor(match[2]) / _factor(unit) if match[2] else 1.0)


def is_in_effect(asked: str, shown: str, unit: str, kind: str) -> bool:
    """Tell whether what the server shows is what was asked for.

    Args:
        asked: The value as the config has it.
        shown: `setting` in pg_settings.
        unit: The base unit, empty for none.
        kind: `vartype` in pg_settings: bool, integer, real, enum or string.
    """
    if kind == "bool":
        return (asked.lower() in TRUE and shown == "on") or (asked.lower() in FALSE and shown == "off")
    if kind not in ("integer", "real"):
        return asked.lower() == shown.lower()
    wanted, actual = in_base_unit(asked, unit), float(shown)
    rounding = 0.5 if kind == "integer" else 0.0
    return wanted == AUTOMATIC or math.isclose(wanted, actual, rel_tol=SHOWN_DIGITS, abs_tol=rounding)


def check(config: dict[str, str], rows: dict[str, tuple[str, str, str]]) -> dict[str, str]:
    """Check each value of a config and return what is in effect, as text with its unit.

    Args:
        config: What was asked for.
        rows: Setting, base unit and kind by name, from pg_settings.

    Raises:
        ConfigError: When a setting is unknown to the server, or its value is another one.
    """
    wrong = []
    for name, asked in config.items():
        shown, unit, kind = rows.get(name.lower(), ("nothing", "", "string"))
        if not is_in_effect(asked, shown, unit, kind):
            wrong.append(f"{name}: asked for {asked!r}, in effect is {shown!r} {unit}".rstrip())
    if wrong:
        raise ConfigError("the server did not take these values: " + "; ".join(wrong))
    return {name: " ".join(filter(None, rows[name.lower()][:2])) for name in config}
