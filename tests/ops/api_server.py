"""A tiny real HTTP server that answers like Airflow's REST API, from a table of canned answers."""

import json
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN_PATH = "/auth/token"


class ApiServer(ThreadingHTTPServer):
    """Answer (method, path) from `answers`, a value or a list of values used up one by one; remember what was asked."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.answers: dict[tuple[str, str], Any] = {}
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.password = "right"
        self.valid_tokens: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: ApiServer

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def answer(self) -> None:
        path = urllib.parse.unquote(self.path.partition("?")[0])
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        self.server.asked.append((self.command, path, body))
        if path == TOKEN_PATH:
            return self.log_in(body)
        if self.headers.get("Authorization", "").removeprefix("Bearer ") not in self.server.valid_tokens:
            return self.send(401, {"detail": "who are you?"})
        found = self.server.answers.get((self.command, path))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if found is None:
            return self.send(404, {"detail": "not found"})
        return self.send(200, found)

    def log_in(self, body: dict[str, Any]) -> None:
        if body.get("password") != self.server.password:
            return self.send(401, {"detail": "wrong password"})
        token = f"token-{len(self.server.asked)}"
        self.server.valid_tokens.add(token)
        return self.send(201, {"access_token": token})

    def send(self, status: int, answer: Any) -> None:
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the names that http.server calls


@contextmanager
def serving(port: int = 0) -> Iterator[ApiServer]:
    """Serve until the block ends, on a free port unless one is given."""
    with ApiServer(port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
