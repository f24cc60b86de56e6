"""What can go wrong, by who has to act.

```
AlbacoreError
├── UserError                 the person at the keyboard: a file, a flag, a name
│   ├── ExpressionError           a bound in knobs.toml that cannot be computed
│   ├── SpaceError                a knob, a value, a relation
│   ├── BenchmarkError            a benchmark folder
│   ├── CampaignError             a campaign file
│   └── HistoryError              a file of recorded samples, or a question about them
└── FailureError              raised while a sample is taken; becomes a recorded Failure
    ├── ConfigError               the config is to blame: scored with the crash score
    ├── LoadError                 the load generator
    ├── NodeError                 the node: the sample goes to another one
    └── PlatformError             Albacore, Airflow, the store
```

Every message has what was expected, what was given, where, and what to do.
"""

from typing import Any


class AlbacoreError(Exception):
    """Carry a message for people and the facts behind it as attributes.

    Args:
        message: What was expected, what was given, where, and what to do.
        **facts: The same as data, for programs.
    """

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts


class UserError(AlbacoreError):
    """Say that something a person wrote or typed has to be changed."""


class ExpressionError(UserError):
    """Say that an expression is not one that Albacore computes."""


class SpaceError(UserError):
    """Say that a knob, a value or a relation between knobs is not legal."""


class BenchmarkError(UserError):
    """Say that a benchmark folder does not keep the contract."""


class CampaignError(UserError):
    """Say that a campaign file does not describe a campaign."""


class HistoryError(UserError):
    """Say that a file of recorded samples cannot be read, or cannot answer what was asked of it."""


class FailureError(AlbacoreError):
    """Say that a sample could not be taken; subclasses say who is to blame."""


class ConfigError(FailureError):
    """Blame the config: refused, crashed, hung, out of memory, timed out under load."""


class LoadError(FailureError):
    """Blame the load generator."""


class NodeError(FailureError):
    """Blame the node: lost, disk full, rebooted."""


class PlatformError(FailureError):
    """Blame what Albacore runs on: Airflow, the store, a bug in an executable."""
