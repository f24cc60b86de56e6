"""The driver: does every fault again and again while campaigns run, in an order that follows from a seed.

A fault that finds nothing to strike at (no job runs just now) stays first in line until it does, and the next one has
its turn meanwhile. What was done is told line by line, and counted in the table at the end.
"""

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from clone import Clone
from faults.machines import Machine
from store.server import Server

from albacore_ops.rest import path

GAP_S = (4.0, 9.0)
"""From one fault to the next."""


@dataclass(slots=True, kw_only=True)
class World:
    """What can be struck, and what has to be healed later."""

    clone: Clone
    machines: list[Machine]
    server: Server | None
    rng: random.Random
    heals: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def machine(self) -> Machine | None:
        """Return a machine to which nothing is being done; one always stays whole."""
        whole = [each for each in self.machines if each.name not in self.broken]
        return self.rng.choice(whole) if len(whole) > 1 else None

    def heal_later(self, machine: Machine, after_s: float, heal: Callable[[], None]) -> None:
        """Have a machine made whole again after some seconds."""

        def whole() -> None:
            heal()
            self.broken.discard(machine.name)

        self.broken.add(machine.name)
        self.heals.append((time.monotonic() + after_s, whole))

    def heal(self, *, everything: bool = False) -> None:
        """Make whole what is due."""
        for entry in [e for e in self.heals if everything or e[0] <= time.monotonic()]:
            self.heals.remove(entry)
            entry[1]()


Strike = Callable[[World], str | None]
"""Does it and says to whom; None when there was nothing to strike at."""


def _kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _benchmark(world: World, title: str) -> str | None:
    """Kill the process with this title of some benchmark task that runs."""
    where = path("dags", "~", "dagRuns", "~", "taskInstances")
    found = world.clone.airflow.call("GET", where, query={"state": "running", "limit": 100})["task_instances"]
    tasks = [t for t in found if t["task_id"] == "benchmark"]
    world.rng.shuffle(tasks)
    for each in tasks:
        if pids := world.clone.processes(title.format(each["id"], each["id"][:30])):
            _kill(pids[0])
            return f"that of {each['dag_run_id'].rpartition('-')[2]}"
    return None


def task(world: World) -> str | None:
    return _benchmark(world, "airflow worker -- {0}")


def supervisor(world: World) -> str | None:
    return _benchmark(world, "LocalExecutor: {1}")


def component(name: str) -> Strike:
    """Return what kills one of Airflow's processes."""

    def strike(world: World) -> str | None:
        if not (pid := world.clone.component(name)):
            return None
        _kill(pid)
        return f"pid {pid}"

    return strike


def sshd_stop(world: World) -> str | None:
    if (machine := world.machine()) is None:
        return None
    away_s = world.rng.choice([5, 15, 45])  # the last one is longer than a node is waited for
    machine.server.kill()
    world.heal_later(machine, away_s, machine.server.start)
    return f"{machine.name} for {away_s} s"


def agent(world: World) -> str | None:
    for machine in world.rng.sample(world.machines, len(world.machines)):
        if machine.name not in world.broken and (found := machine.agents()):
            _kill(found[0]["pid"])
            return machine.name
    return None


def reboot(world: World) -> str | None:
    busy = [m for m in world.machines if m.name not in world.broken and m.agents()]
    if not busy or world.machine() is None:
        return None
    machine = world.rng.choice(busy)
    machine.reboot()
    world.heal_later(machine, 4, machine.server.start)
    return f"{machine.name}, away for 4 s"


def full_disk(world: World) -> str | None:
    if (machine := world.machine()) is None or not machine.link:
        return None
    filler = machine.fill_disk()
    world.heal_later(machine, 12, filler.unlink)
    return f"{machine.name} for 12 s"


def network(world: World) -> str | None:
    busy = [m for m in world.machines if m.name not in world.broken and m.agents()]
    if not busy or world.machine() is None:
        return None
    machine, away_s = world.rng.choice(busy), world.rng.choice([8, 20, 50])
    machine.cut(off=True)
    world.heal_later(machine, away_s, lambda: machine.cut(off=False))
    return f"{machine.name} for {away_s} s"


def store(world: World) -> str | None:
    if world.server is None:
        return None
    world.server.restart()
    return "crash and recovery"


def clock(world: World) -> str | None:
    jumped = [m for m in world.machines if m.clock is not None and m.name not in world.broken]
    if not jumped:
        return None
    by_s = world.rng.choice([-7200, -60, 60, 7200])
    jumped[0].set_clock(by_s)
    world.heal_later(jumped[0], 15, lambda: jumped[0].set_clock(0))
    return f"{jumped[0].name} by {by_s:+d} s, and back after 15 s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault: its name, how it is made, and what does it. A node's faults are the quick ones of CI."""

    name: str
    how: str
    strike: Strike
    is_quick: bool = True


FAULTS = (
    Fault(name="benchmark task", how="SIGKILL to the task's process", strike=task),
    Fault(name="task's supervisor", how="SIGKILL to the executor's worker", strike=supervisor, is_quick=False),
    Fault(name="scheduler", how="SIGKILL", strike=component("scheduler"), is_quick=False),
    Fault(name="triggerer", how="SIGKILL", strike=component("triggerer"), is_quick=False),
    Fault(name="API server", how="SIGKILL", strike=component("api-server"), is_quick=False),
    Fault(name="sshd", how="SIGKILL with its sessions; started again after 5, 15 or 45 s", strike=sshd_stop),
    Fault(name="agent", how="SIGKILL to the supervisor of a job that runs", strike=agent),
    Fault(name="reboot", how="all of the node's processes and sshd killed, another boot id", strike=reboot),
    Fault(name="full disk", how="the node's tmpfs of 64 MB filled for 12 s", strike=full_disk),
    Fault(name="network", how="link down for 8, 20 or 50 s in mid-sample; SIGSTOP without root", strike=network),
    Fault(name="store", how="PostgreSQL crashes (pg_ctl -m immediate restart)", strike=store),
    Fault(name="clock", how="libfaketime on the agent: 1 min or 2 h, either way", strike=clock),
)


class Driver:
    """Do the faults in the background until told to stop; then everything is made whole."""

    def __init__(self, world: World, faults: tuple[Fault, ...] = FAULTS) -> None:
        self.world, self.faults = world, faults
        self.done: Counter[str] = Counter()
        self.lines: list[str] = []
        self._end = threading.Event()
        self._begun = time.monotonic()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._work: Future[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._work = self._pool.submit(self._strike)

    def _strike(self) -> None:
        """Round after round: every fault once, in an order of its own."""
        line: list[Fault] = []
        try:
            while not self._end.wait(self.world.rng.uniform(*GAP_S)):
                self.world.heal()
                struck = next((fault for fault in line if self._did(fault)), None)
                if struck is not None:
                    line.remove(struck)
                else:
                    line += [f for f in self.world.rng.sample(self.faults, len(self.faults)) if f not in line]
        finally:
            self.world.heal(everything=True)

    def _did(self, fault: Fault) -> bool:
        """Strike, and say whether there was something to strike at."""
        if (whom := fault.strike(self.world)) is None:
            return False
        self.done[fault.name] += 1
        self.lines.append(f"{time.monotonic() - self._begun:6.1f} s  {fault.name}: {whom}")
        print(self.lines[-1], flush=True)
        return True

    def stop(self) -> None:
        """End the faults, and expect that the driver itself went well."""
        self._end.set()
        if self._work:
            self._work.result(120)
        self._pool.shutdown()

    def table(self) -> str:
        """Return what was done how often, as Markdown; a fault that this machine cannot do is listed as not run."""
        rows = [f"| {f.name} | {f.how} | {self.done[f.name] or 'not run'} |" for f in self.faults]
        return "\n".join(["| fault | how it was made | times |", "|---|---|---|", *rows])
