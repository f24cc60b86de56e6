"""Studies: what is played for which figure of the TUNA paper.

A study is a world, who plays in it, and how many runs. Runs are numbered by their seeds: those of the first look at
the simulation were 0 to 9, all that is compared here starts at 1000.
"""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "include"), str(Path(__file__).parent), str(ROOT / "experiments" / "workbench")]

from albacore.simulation import worlds  # noqa: E402
from albacore.simulation.contest import Contest  # noqa: E402
from albacore.simulation.playing import Plan  # noqa: E402
from albacore.simulation.world import Setting  # noqa: E402

FIRST = 1000
SYSTEMS = 10
"""Systems that are tuned thirty times each, for transferability."""
VETOED = {name: f"{name}-veto" for name in ("tuna", "asynchronous", "racing", "ocba")}
"""Who else is judged by the same run: the contestant that differs by the final veto only."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """Some contestants in one contest.

    Attributes:
        per_system: Runs that share a system and the first configs, each on a node of its own (TUNA §3.2.1); 0: every
            run has a system of its own.
    """

    name: str
    figure: str
    contest: Contest
    runs: int
    per_system: int = 0

    @property
    def digest(self) -> str:
        """What a recorded run is of: another definition is played anew."""
        parts = (self.contest.setting, self.contest.plan, self.contest.optimizer, self.per_system)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]

    def tasks(self, most: int | None = None) -> Iterator[tuple[str, int]]:
        """Yield contestant and run, run by run, so that whatever has been played is paired."""
        for run in range(FIRST, FIRST + min(self.runs, most or self.runs)):
            for name in self.contest.contestants:
                yield name, run


def _study(
    name: str, figure: str, *contestants: str, runs: int, optimizer: str = "forest", setting: Setting | None = None
) -> Study:
    contest = Contest(setting=setting or worlds.plain(), contestants=contestants, optimizer=optimizer)
    return Study(name=name, figure=figure, contest=contest, runs=runs)


def _alone(setting: Setting) -> Setting:
    """Return the same with one node."""
    return replace(setting, weather=replace(setting.weather, nodes=1))


def _noise(name: str, world: str) -> Study:
    found = _study(name, "Fig. 2", "traditional", runs=100, setting=_alone(worlds.by_name(world)))
    return replace(found, contest=replace(found.contest, plan=Plan(samples=100)))


def _transfer() -> Study:
    found = _study("transfer", "Fig. 5", "traditional", runs=30 * SYSTEMS, setting=_alone(worlds.plain()))
    return replace(found, contest=replace(found.contest, plan=Plan(samples=50)), per_system=30)


STUDIES = {
    study.name: study
    for study in (
        _study("ladder", "Fig. 11, §4", "tuna", "asynchronous", "rerun", runs=100),
        _noise("noise-0", "quiet"),
        _noise("noise-5", "noise-5"),
        _noise("noise-10", "noise-10"),
        _study("baselines", "Fig. 11, 17", "traditional", "naive", runs=100),
        _study("ablations", "Fig. 19, 20", "tuna-no-adjuster", "tuna-no-detector", runs=100),
        _transfer(),
        _study("repeats", "§4", "tpe-repeats", runs=100),
        _study("equal-cost", "Fig. 16", "traditional-equal-cost", runs=100),
        _study("second-optimizer", "Fig. 18", "tuna", "traditional", runs=30, optimizer="gp"),
        _study("racing", "§4", "racing", runs=100),
        _study("ocba", "§4", "ocba", runs=100),
        _study("surrogate", "§4", "stable-forest", runs=100),
        _study("chosen-adjuster", "§4", "tuna-cross-validated", runs=100),
    )
}
