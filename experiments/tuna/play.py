"""Play the studies; goes on where it was ended.

python experiments/tuna/play.py                       # all of them
python experiments/tuna/play.py ladder noise-5 --runs 20 --minutes 9 --processes 1
"""

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

import ledger
from studies import FIRST, STUDIES, VETOED, Study
from tqdm import tqdm

from albacore.simulation.contest import Shipped, judged, played_by
from albacore.simulation.fleet import Fleet
from albacore.simulation.world import World

Task = tuple[str, str, int]
"""Study, contestant, run."""


def play(study_name: str, name: str, run: int) -> tuple[list[Shipped], float]:
    """Play one run; return what it and its twin with a veto ship, and the default's share of the optimum."""
    study = STUDIES[study_name]
    world, seed = _world(study, run)
    played = played_by(study.contest, world, name, seed=seed)
    names = [name] + ([VETOED[name]] if name in VETOED else [])
    default = float(world.surface.truth(world.surface.point(world.surface.space.default())[None, :])[0])
    return [judged(world, played, one, run) for one in names], default / world.surface.optimum


def _world(study: Study, run: int) -> tuple[World, int]:
    """Return where a run takes place, and the seed of its decisions."""
    if not study.per_system:
        return World(study.contest.setting, run), run
    system = FIRST + (run - FIRST) // study.per_system  # the same first configs, on another node
    fleet = Fleet(study.contest.setting.weather, run, prefix=f"run{run}-")
    return World(study.contest.setting, system, fleet=fleet), system


def missing(names: list[str], runs: int | None) -> list[Task]:
    """Return what has not been played yet."""
    found = []
    for study in (STUDIES[name] for name in names):
        known = {(row["contestant"], row["run"]) for row in ledger.rows(study)}
        found += [(study.name, *task) for task in study.tasks(runs) if task not in known]
    return found


def results(tasks: list[Task], processes: int, until: float) -> Iterator[tuple[Task, tuple[list[Shipped], float]]]:
    """Yield what was played as it ends; nothing is begun after `until`."""
    left, going = iter(tasks), {}
    with ProcessPoolExecutor(processes) as pool:
        while True:
            while len(going) < processes and time.monotonic() < until and (task := next(left, None)):
                going[pool.submit(play, *task)] = task
            if not going:
                return
            for done in wait(going, return_when=FIRST_COMPLETED).done:
                yield going.pop(done), done.result()


def main() -> None:
    """Play what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", nargs="*", choices=[*STUDIES, []], help="which; without one all of them")
    parser.add_argument("--runs", type=int, help="at most so many of each")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing after so many")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time (default: 2)")
    arguments = parser.parse_args()
    tasks = missing(arguments.study or list(STUDIES), arguments.runs)
    until = time.monotonic() + 60 * arguments.minutes
    for (study, *_), (shipped, default) in tqdm(
        results(tasks, arguments.processes, until), total=len(tasks), unit="run", file=sys.stderr
    ):
        for found in shipped:
            ledger.write(STUDIES[study], found, default)


if __name__ == "__main__":
    main()
