"""Find where the plan of a join tips on one node: the random_page_cost at which half of its draws change plan.

Runs on the node, with the environment of docs/benchmark-contract.md and the benchmark folder's own modules.
Prints JSON.
"""

import json
import math
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [os.environ["ALBACORE_SYSTEM_DIR"], os.environ["ALBACORE_WORKLOAD_DIR"]]

from contract import read_json, remove  # noqa: E402
from plans import capture  # noqa: E402
from postgres import Node  # noqa: E402
from server import end, launch, write_config  # noqa: E402
from session import Session  # noqa: E402
from sizes import sizes  # noqa: E402
from throughput import drawn  # noqa: E402

LOW, HIGH, STEPS = 0.25, 60.0, 10
STATEMENT = "stock_level"


def statements(params: dict[str, str]) -> dict[str, str]:
    """Return the join with every warehouse and district."""
    rows = sizes(params)
    places = [(w, d) for w in range(1, rows["warehouses"] + 1) for d in range(1, 11)]
    draws = {f"w={w} d={d}": {"w": w, "d": d, "o": rows["customers"] + 1} for w, d in places}
    found = drawn(Path(os.environ["ALBACORE_WORKLOAD_DIR"]) / "plans", draws)
    return {name: sql for name, sql in found.items() if name.startswith(f"{STATEMENT}[")}


def nested(session: Session, cost: float, asked: dict[str, str]) -> float:
    """Return which share of the draws is planned as a nested loop."""
    session.ask(f"SET random_page_cost = {cost};")
    found = capture(session, asked)
    shapes = [found["plan_shapes"][each] for each in found["plans"].values()]
    return sum("Nested Loop" in shape for shape in shapes) / len(shapes)


def crossover(session: Session, asked: dict[str, str]) -> float:
    """Bisect on a logarithmic scale; cheap random reads favour the nested loop over indexes."""
    low, high = LOW, HIGH
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if nested(session, middle, asked) > 0.5 else (low, middle)
    return math.sqrt(low * high)


def main() -> None:
    """Copy the golden data, start a server under the other knobs of the config, bisect, and leave nothing behind."""
    node, data = Node.from_environment(), Path(os.environ["ALBACORE_NODE_DIR"]) / "crossover"
    remove(data)
    os.system(f"cp -a --reflink=auto '{node.golden}' '{data}'")  # noqa: S605 - our own paths
    write_config(data / "postgresql.auto.conf", read_json("ALBACORE_CONFIG"))
    try:
        launch(node, data, 30.0)
        session = Session(node, statement_timeout_s=30.0)
        print(json.dumps({"crossover": round(crossover(session, statements(read_json("ALBACORE_PARAMS"))), 3)}))
        session.close()
    finally:
        end(data)
        remove(data)


if __name__ == "__main__":
    main()
