"""Campaign files for tests that run Airflow: `noop`, small."""


def noop(**tables: str) -> str:
    """Return a campaign file of the system `noop`; a keyword replaces a table's line."""
    chosen = {
        "limits": "{ samples = 8, hours = 1.0 }",
        "optimizer": '{ name = "random" }',
        "policy": "{ rungs = [1, 3] }",
        "nodes": "{ tuning = 3, validation = 1 }",
        "validation": "{ repeats = 1 }",
        "params": "{ seconds = 0.0 }",
        "space": '{ knobs = ["size", "ratio", "delay", "threads", "cache"] }',
        **tables,
    }
    lines = [f"{key} = {value}" for key, value in chosen.items()]
    return "\n".join(['system = "noop"', 'workload = "sleep"', *lines]) + "\n"


LADDER = noop(
    limits="{ samples = 30, hours = 1.0 }",
    policy="{ rungs = [1, 3, 5] }",
    nodes="{ tuning = 5, validation = 2 }",
)
SMALL = noop()
