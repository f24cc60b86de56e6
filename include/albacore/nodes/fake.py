"""A node in memory: for unit tests, and for simulating failures that real nodes have too seldom.

Product code, not test code: whoever writes an operator or a policy tests it against this.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from albacore.errors import NodeError
from albacore.nodes import Result, check_name, relative_path
from albacore.nodes.job import AGENT

Answer = Result | NodeError | str
Jobs = Callable[[Mapping[str, Any]], Mapping[str, bytes]]
FACTS = {
    "ram_bytes": 8 * 2**30,
    "disk_bytes": 100 * 2**30,
    "disk_free_bytes": 50 * 2**30,
    "cores": 4,
    "cpu_model": "Fake",
    "kernel": "0",
    "os": "Fake",
    "python": "3.11.0",
    "boot_id": "fake",
}


def result(argv: Sequence[str] = (), *, returncode: int = 0, stdout: str = "", stderr: str = "") -> Result:
    """Return a result that took no time."""
    return Result(argv=tuple(argv), returncode=returncode, stdout=stdout, stderr=stderr, wall_s=0.0)


@dataclass(slots=True, kw_only=True)
class FakeNode:
    """A dictionary of files, and answers written beforehand.

    Attributes:
        files: Path -> content; what `put` writes and `get` reads.
        answers: First words of a command -> what running it gives. A text is standard output; a `NodeError` is raised;
            a list gives one after the other and its last for ever.
        jobs: Plays the agent: gets a job's spec, returns the files that the finished job has in its directory,
            `result.json` among them.
        is_reachable: When False, everything raises NodeError.
        calls: Every command that was run.
    """

    name: str = "fake"
    host: str = "fakehost"
    python: str = "python3"
    files: dict[str, bytes] = field(default_factory=dict)
    answers: dict[tuple[str, ...], Answer | list[Answer]] = field(default_factory=dict)
    jobs: Jobs | None = None
    is_reachable: bool = True
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_name(self.name)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 30) -> Result:
        """See `Node.run`; the longest entry of `answers` that begins the command wins."""
        self._reach()
        self.calls.append(tuple(argv))
        for length in range(len(argv), 0, -1):
            if tuple(argv[:length]) in self.answers:
                return self._scripted(tuple(argv[:length]), argv)
        if AGENT in argv and self.jobs:
            words = list(argv[argv.index(AGENT) + 1 :])
            return result(argv, stdout=json.dumps(self._agent(words[0], "".join(words[1:2]), stdin)))
        raise NodeError(f"node {self.name}: cannot run {argv[0]!r}: no answer was written for it.", node=self.name)

    def put(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """See `Node.put`."""
        target = str(relative_path(path))
        self._reach()
        self.files[target] = content

    def get(self, path: str, *, max_bytes: int = 8_000_000) -> bytes | None:
        """See `Node.get`."""
        source = str(relative_path(path))
        self._reach()
        content = self.files.get(source)
        if content is not None and len(content) > max_bytes:
            raise NodeError(f"node {self.name}: {source} is larger than {max_bytes} bytes.", node=self.name)
        return content

    def facts(self) -> Mapping[str, Any]:
        """See `Node.facts`."""
        self._reach()
        return dict(FACTS)

    def _reach(self) -> None:
        """Raise when the node has been made unreachable."""
        if not self.is_reachable:
            raise NodeError(f"node {self.name}: cannot be reached.", node=self.name)

    def _scripted(self, key: tuple[str, ...], argv: Sequence[str]) -> Result:
        """Return or raise the next answer."""
        answer = self.answers[key]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, NodeError):
            raise answer
        return result(argv, stdout=answer) if isinstance(answer, str) else answer

    def _agent(self, command: str, job_id: str, stdin: bytes) -> Mapping[str, Any]:
        """Answer as the agent would; every job is over as soon as it is started."""
        folder = f"jobs/{job_id}"
        if command == "start" and self.jobs and f"{folder}/spec.json" not in self.files:
            self.files[f"{folder}/spec.json"] = stdin
            self.files |= {f"{folder}/{name}": text for name, text in self.jobs(json.loads(stdin)).items()}
        if command == "forget":
            self.files = {path: text for path, text in self.files.items() if not path.startswith(f"{folder}/")}
        if f"{folder}/spec.json" not in self.files:
            return {"state": "unknown"}
        return {"state": "done" if f"{folder}/result.json" in self.files else "lost"}


def finished(digest: str, metrics: Mapping[str, tuple[float, str]], *, duration_s: float = 1.0) -> dict[str, bytes]:
    """Return the files of a job that went well: what `FakeNode.jobs` may return."""
    steps = [
        {"verb": verb, "rc": 0, "wall_s": 0.1, "timed_out": False, "stderr_tail": ""}
        for verb in ("start", "run", "stop")
    ]
    now = time.time()
    done = {"steps": steps, "started_at": now - duration_s, "ended_at": now, "digest": digest, "killed": False}
    figures = {name: {"value": value, "unit": unit} for name, (value, unit) in metrics.items()}
    return {"result.json": json.dumps(done).encode(), "metrics.json": json.dumps({"metrics": figures}).encode()}


def failed(digest: str, verb: str, rc: int, *, stderr: str = "", is_timed_out: bool = False) -> dict[str, bytes]:
    """Return the files of a job in which one verb failed."""
    step = {"verb": verb, "rc": rc, "wall_s": 0.1, "timed_out": is_timed_out, "stderr_tail": stderr}
    done = {"steps": [step], "started_at": 0.0, "ended_at": 1.0, "digest": digest, "killed": False}
    return {"result.json": json.dumps(done).encode()}
