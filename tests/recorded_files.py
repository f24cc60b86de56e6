"""A small file of recorded samples as the artifact publishes them: three configs on three nodes, one of them bad."""

HEADER = ",Suggestion,Config,Worker,Performance\n"
DEFAULT = "{'size': 8, 'ratio': 0.5, 'mode': 'off'}"
STEADY = "{'size': 16, 'ratio': 0.123456789, 'mode': 'on'}"
SHAKY = "{'size': 32, 'ratio': 0.25, 'mode': 'on'}"
CRASH = "{'size': 64, 'ratio': 0.75, 'mode': 'off'}"
ROWS = [
    (0, DEFAULT, 0, 100.0), (0, DEFAULT, 1, 104.0), (0, DEFAULT, 2, 96.0),
    (1, STEADY, 0, 120.0), (2, SHAKY, 1, 190.0), (3, CRASH, 2, 0.0),
    (4, SHAKY, 0, 189.0), (4, SHAKY, 2, 130.0), (5, STEADY, 1, 121.0), (5, STEADY, 2, 119.0),
]  # fmt: skip
"""Suggestion, config, worker, figure; more is better. Shaky is the fastest, but its range is 35 % of its mean."""


def text(rows=ROWS, *, shift=0.0):
    """Return the file; `shift` is added to every figure, so that another run has other content."""
    lines = [f'{i},{s},"{c}",{w},{p + shift if p else p}\n' for i, (s, c, w, p) in enumerate(rows)]
    return HEADER + "".join(lines)


def write(folder, *, runs=1, rows=ROWS):
    """Write files `azure-postgres-tpcc-TUNA_run_<i>.csv` into a folder; return their paths in order."""
    paths = []
    for i in range(runs):
        path = folder / f"azure-postgres-tpcc-TUNA_run_{i}.csv"
        path.write_text(text(rows, shift=float(i)))
        paths.append(path)
    return paths
