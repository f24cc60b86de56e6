"""A server on loopback that speaks as Azure Resource Manager does: long-running operations, throttling, refusals.

The real SDK talks to it. State changes with time, not with polling: whoever asks a machine itself sees it change too.
"""

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from azure_fake.group import COMPUTE, GROUP, SUBSCRIPTION, Group, RefusedError

LOCATION = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute"
SIZES = {
    "Standard_D4s_v5": {"family": "standardDSv5Family", "zones": ["1", "2"], "closed": []},
    "Standard_D4s_v4": {"family": "standardDSv4Family", "zones": ["1"], "closed": ["1"]},
    "Standard_B4ms": {"family": "standardBSFamily", "zones": ["1"], "closed": []},
    "Standard_F4": {"family": "standardFFamily", "zones": [], "closed": [], "fast": "False"},
}
PAGE = 2


@dataclass
class Fault:
    """What the next requests that match are answered with."""

    method: str
    pattern: str
    times: int
    refused: RefusedError


@dataclass
class FakeArm:
    """The service as tests see it.

    Attributes:
        requests: Method and path of every request, in order.
    """

    group: Group
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    bodies: dict[str, Any] = field(default_factory=dict)

    def fail(self, method: str, pattern: str, *, status: int, code: str, times: int = 1, **told: Any) -> None:
        """Refuse the next requests whose method is this and whose path matches."""
        refused = RefusedError(status, code, told.get("message", "no"), told.get("retry_after"))
        self.faults.append(Fault(method, pattern, times, refused))

    def fail_async(self, pattern: str, code: str) -> None:
        """Let the next creation of a matching machine fail after it was accepted."""
        self.group.async_faults.append((pattern, code))

    @property
    def names(self) -> list[str]:
        """The names of everything that is there."""
        with self.group.lock:
            self.group.tick()
            return sorted([*self.group.vms, *(part["name"] for part in self.group.parts.values())])

    def puts(self) -> list[str]:
        """Return the names of the machines that were asked for, in order."""
        return [path.rsplit("/", 1)[1] for method, path in self.requests if method == "PUT"]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any, dict[str, str]]:
        """Return status, body and headers."""
        with self.group.lock:
            self.requests.append((method, path))
            self.group.tick()
            for fault in self.faults:
                if fault.times and fault.method == method and re.search(fault.pattern, path):
                    fault.times -= 1
                    raise fault.refused
            if path.startswith(f"{COMPUTE}/virtualMachines/"):
                return self._vm(method, path.rsplit("/", 1)[1], query, body)
            if path.startswith("/operations/"):
                return self._operation(*path.split("/")[2:])
            if path in self.group.parts:
                return self._part(method, path)
            return 200, self._list(path, query), {}

    def _vm(self, method: str, name: str, query: dict[str, str], body: Any) -> tuple[int, Any, dict[str, str]]:
        if method == "PUT":
            self.bodies[name] = body
            status = self.group.put(name, body)
            operation = {"Azure-AsyncOperation": f"{self.url}/operations/create/{name}", "Retry-After": "1"}
            return status, self.group.shown(name), operation if status == 201 else {}
        if name not in self.group.vms:
            if method == "DELETE":
                return 204, None, {}
            raise RefusedError(404, "ResourceNotFound", f"{name} was not found")
        if method == "DELETE":
            self.group.delete(name)
            return 202, None, {"Location": f"{self.url}/operations/delete/{name}", "Retry-After": "1"}
        return 200, self.group.shown(name, view="$expand" in query), {}

    def _operation(self, verb: str, name: str) -> tuple[int, Any, dict[str, str]]:
        """Return how a long-running operation stands."""
        vm = self.group.vms.get(name)
        if verb == "delete":
            return (202 if vm else 200), None, {"Location": f"{self.url}/operations/delete/{name}"} if vm else {}
        state = {"Creating": "InProgress"}.get(vm.state, vm.state) if vm else "Canceled"
        failed = {"error": {"code": vm.fault, "message": "not enough capacity"}} if vm and vm.fault else {}
        return 200, {"status": state, **failed}, {}

    def _part(self, method: str, path: str) -> tuple[int, Any, dict[str, str]]:
        part = self.group.parts[path]
        if method == "DELETE":
            if part["vm"] in self.group.vms:
                raise RefusedError(409, "OperationNotAllowed", f"{part['name']} is attached to {part['vm']}")
            del self.group.parts[path]
            return 202, None, {}
        return 200, part, {}

    def _list(self, path: str, query: dict[str, str]) -> Any:
        """Return one page of a list."""
        if path == f"{COMPUTE}/virtualMachines":
            found = [self.group.shown(name) for name in self.group.vms]
        elif path == f"{COMPUTE}/disks":
            found = [{**part, "location": "eastus"} for part in self.group.parts.values() if "disks" in part["type"]]
        elif path == f"{GROUP}/resources":
            found = self._tagged(query["$filter"])
        elif path == f"{LOCATION}/skus":
            return {"value": [_sku(name, **about) for name, about in SIZES.items()]}
        elif path == f"{LOCATION}/locations/eastus/usages":
            return {"value": self._usages()}
        else:
            raise RefusedError(404, "ResourceNotFound", path)
        start = int(query.get("skip", "0"))
        page: dict[str, Any] = {"value": found[start : start + PAGE]}
        if len(found) > start + PAGE:
            rest = "&".join(f"{key}={value}" for key, value in query.items() if key != "skip")
            page["nextLink"] = f"{self.url}{path}?{rest.replace(' ', '%20')}&skip={start + PAGE}"
        return page

    def _tagged(self, asked: str) -> list[Any]:
        match = re.fullmatch(r"tagName eq '([^']*)' and tagValue eq '([^']*)'", asked)
        assert match, asked
        everything = [*(self.group.shown(name) for name in self.group.vms), *self.group.parts.values()]
        return [each for each in everything if each.get("tags", {}).get(match[1]) == match[2]]

    def _usages(self) -> list[Any]:
        used = 4 * len(self.group.vms)
        names = ["cores", "lowPriorityCores", *(about["family"] for about in SIZES.values())]
        return [
            {"name": {"value": name}, "currentValue": used, "limit": self.group.cores, "unit": "Count"}
            for name in names
        ]


def _sku(name: str, *, family: str, zones: list[str], closed: list[str], fast: str = "True") -> Any:
    can = {"vCPUs": "4", "AcceleratedNetworkingEnabled": fast, "PremiumIO": "True", "LowPriorityCapable": "True"}
    info = {"type": "Zone", "restrictionInfo": {"zones": closed}, "reasonCode": "NotAvailableForSubscription"}
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": family,
        "locationInfo": [{"location": "eastus", "zones": zones}],
        "restrictions": [info] if closed else [],
        "capabilities": [{"name": key, "value": value} for key, value in can.items()],
    }


def _handler(arm: FakeArm) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # head and body in one packet: two would wait for each other's confirmation

        def _handle(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            url = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            try:
                status, told, headers = arm.answer(self.command, url.path.rstrip("/"), query, body)
            except RefusedError as refused:
                status, headers = refused.status, {}
                told = {"error": {"code": refused.code, "message": refused.message}}
                if refused.retry_after is not None:
                    headers["Retry-After"] = str(refused.retry_after)
            content = b"" if told is None else json.dumps(told).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()

        do_GET = do_PUT = do_DELETE = _handle  # noqa: N815 -- the names that http.server looks for

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


@contextlib.contextmanager
def serving(group: Group | None = None) -> Iterator[FakeArm]:
    """Give a running service; what stands behind its machines is ended afterwards."""
    arm = FakeArm(group=group or Group())
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(arm))
    server.daemon_threads = True
    arm.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield arm
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        arm.group.close()
