"""History: what was measured before, by this program or another, as values.

A file of recorded samples becomes one `HistoricalRun` per tuning run in it. Nothing is judged here: policies, the
replay lab and the import into the store start from these values.

| format | recognised by | module |
|---|---|---|
| the TUNA artifact's raw file, one tuning run each | columns Suggestion, Config, Worker, Performance | `artifact` |
| sample file `*.samples.csv.gz`, configs and manifest.json beside it | columns method, run, seq, … | `sample_file` |
| our own export: a table with `*.run.json` beside it | that file | `exported` |

`read` looks at the columns, never at the name alone. To add a format, write a module with `COLUMNS` and `runs`, and
name it in `FORMATS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from albacore.trial import Direction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """The samples of one run as columns of equal length, in the order in which they were published.

    The arrays cannot be written to.

    Attributes:
        order: Rising place of the sample inside the run; not always time.
        suggestion: Number of the suggestion that it belongs to; 0 is the default config.
        config_id: Id of its config.
        node: Name of the node inside the run.
        value: The figure as published, in the run's unit; failure codes are left in.
        is_failed: Whether the value is a failure code, no measurement.
        is_default: Whether the config is the default.
    """

    order: NDArray[np.int64]
    suggestion: NDArray[np.int64]
    config_id: NDArray[np.object_]
    node: NDArray[np.object_]
    value: NDArray[np.float64]
    is_failed: NDArray[np.bool_]
    is_default: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for name in self.__slots__:
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.order)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistoricalRun:
    """One tuning run out of a file of recorded samples.

    Attributes:
        workload: Label such as `azure/postgres/tpcc`; runs with the same label are of one workload.
        method: How it was sampled, as the file says: `TUNA`, `traditional`, …
        number: Number of the run among those of its workload and method.
        direction: Which way the value improves.
        metric: What was measured; `performance` where the file does not say.
        unit: Unit of the value; empty where the file does not say.
        source: The file it came from.
        digest: SHA-256 of that file's bytes, hexadecimal.
        samples: What was measured.
        configs: Config id -> knob -> value; read from disk when first asked for.
    """

    workload: str
    method: str
    number: int
    direction: Direction
    metric: str
    unit: str
    source: Path
    digest: str
    samples: Samples
    configs: Mapping[str, Mapping[str, Any]]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes that took samples, sorted; numbers by their size."""
        return tuple(sorted(set(self.samples.node.tolist()), key=lambda name: (len(name), name)))


def read(path: Path, *, label: str | None = None, direction: Direction | None = None) -> list[HistoricalRun]:
    """Return the runs of a file of recorded samples, by method and number.

    Args:
        path: A file of one of the formats above; plain or gzip.
        label: Workload to use instead of the one that the file's name says.
        direction: To use instead of what manifest.json or the known workloads say.

    Raises:
        HistoryError: When the file is not there, of no known format, has a row that does not parse (file and line are
            named), or when nothing says which way its value improves.
    """
    from albacore.history.table import Table

    if (whole := _beside(path)) is not None:
        from albacore.history import exported

        return exported.runs(whole, label=label, direction=direction)
    table = Table.open(path)
    for module in _formats():
        if set(module.COLUMNS) <= set(table.header):
            return module.runs(table, label=label, direction=direction)
    raise table.error(1, "the columns of a format in albacore/history", f"the columns {', '.join(table.header)[:200]}")


def _beside(path: Path) -> Path | None:
    """Return the file with all of a run, when the path is that of an export."""
    from albacore.history import export

    return export.beside(path)


def _formats() -> tuple[Any, ...]:
    from albacore.history import artifact, sample_file

    return artifact, sample_file
