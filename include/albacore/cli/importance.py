"""`albacore importance`: which knobs the scores of a campaign run depend on, and the line that tunes only these."""

import argparse
import json
import os
from collections.abc import Iterator
from typing import Any

from albacore.errors import UserError
from albacore.importance import FEWEST, Importance, important


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    found = commands.add_parser("importance", help="print which knobs the scores of a campaign run depend on")
    found.add_argument("run", help="id of a campaign run")
    found.add_argument("--keep", type=int, help="also print the line that tunes only so many knobs next time")
    found.add_argument("--store", help="SQLAlchemy URL of the store")
    found.set_defaults(command=_importance)


def _importance(arguments: argparse.Namespace) -> int:
    """Print the knobs by their importance; exit code 1 when the forest explains nothing."""
    from albacore import recorded, replay
    from albacore.importance import importance
    from albacore.store import Store, address

    store = Store(address.find(os.environ, arguments.store))
    store.migrate()
    scene = recorded.scene(store, store.run(arguments.run))
    found = importance(scene.space, replay.observations(scene), seed=scene.seed)
    if found is None:
        raise UserError(f"importance: run {arguments.run}: expected at least {FEWEST} scored configs. Let it go on.")
    for line in lines(found, arguments.keep):
        print(line)
    return 0 if found.explained > 0 else 1


def lines(found: Importance, keep: int | None = None) -> Iterator[str]:
    """Yield the importance of every knob for people.

    Args:
        found: What was computed.
        keep: How many knobs the last line, ready for a campaign file, names; None is no such line.
    """
    yield f"{found.configs} configs; a forest explains {found.explained:.0%} of the ranks of configs it has not seen"
    if found.explained <= 0:
        yield "  note: that is nothing, so the order below is chance. Measure more configs."
    for part in found.knobs:
        yield f"  {part.knob}: {part.mean:.3f} (95 % interval {part.low:.3f} to {part.high:.3f})"
    if keep is not None:
        yield "[space]"
        yield f"knobs = {json.dumps(list(important(found, keep)))}"
