"""Airflow's public REST API, as far as following a campaign needs it: the standard library, no Airflow.

Nothing here knows what a campaign is. A server that is being restarted by the supervisor is waited for; an expired
login is renewed; anything else becomes an ApiError that says which request failed and how.
"""

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
UNAUTHORIZED = 401


class ApiError(Exception):
    """Say that the API refused a request, or did not answer in time.

    Attributes:
        status: The HTTP status; 0 when there was no answer.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def path(*parts: str) -> str:
    """Return an API path of quoted parts: run ids hold colons and plus signs."""
    return "/api/v2/" + "/".join(urllib.parse.quote(part, safe="~") for part in parts)


def request(method: str, url: str, *, body: Json | None = None, token: str = "", timeout_s: float = 30.0) -> Any:
    """Send one request and return the JSON of its answer, None when it has none.

    Raises:
        ApiError: The server refused.
        OSError: The server did not answer.
    """
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310 - our own http address
    try:
        with urllib.request.urlopen(asked, timeout=timeout_s) as answer:  # noqa: S310 - as above
            text = answer.read()
    except urllib.error.HTTPError as error:
        detail = error.read(500).decode("utf-8", "replace")
        raise ApiError(f"{method} {url}: HTTP {error.code} {detail}", error.code) from error
    except http.client.HTTPException as error:
        raise ConnectionError(f"{method} {url}: the answer broke off: {error!r}") from error
    return json.loads(text) if text else None


@dataclass(slots=True, kw_only=True)
class Airflow:
    """Talk to one Airflow as one user.

    Attributes:
        url: Its address, without a slash at the end.
        user: The login name.
        password: The password; it is sent to `url` only.
        patience_s: How long a server that does not answer is waited for.
        sleep: How to wait.
    """

    url: str
    user: str
    password: str
    patience_s: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    _token: str = field(default="", init=False, repr=False)

    def call(self, method: str, where: str, *, body: Json | None = None, query: Json | None = None) -> Any:
        """Return the JSON that the API answers.

        Args:
            method: GET, POST or PATCH.
            where: What `path` returned.
            body: What is sent as JSON.
            query: Query parameters.

        Raises:
            ApiError: The API refused, or did not answer within the patience.
        """
        url = self.url + where + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")
        waited_s, pause_s = 0.0, 0.5
        while True:
            try:
                return self._call_logged_in(method, url, body)
            except OSError as error:
                if waited_s >= self.patience_s:
                    raise ApiError(f"{method} {url}: no answer for {waited_s:.0f} s ({error})") from error
                self.sleep(pause_s)
                waited_s, pause_s = waited_s + pause_s, min(2 * pause_s, 5.0)

    def find(self, where: str, *, query: Json | None = None) -> Any:
        """Return what `call` returns for a GET, or None when the API knows no such thing."""
        try:
            return self.call("GET", where, query=query)
        except ApiError as error:
            if error.status == http.client.NOT_FOUND:
                return None
            raise

    def _call_logged_in(self, method: str, url: str, body: Json | None) -> Any:
        """Send one request, logging in first, and again when the login has expired."""
        fresh = not self._token
        if fresh:
            self._log_in()
        try:
            return request(method, url, body=body, token=self._token)
        except ApiError as error:
            if error.status != UNAUTHORIZED or fresh:
                raise
        self._log_in()
        return request(method, url, body=body, token=self._token)

    def _log_in(self) -> None:
        """Exchange the password for a token."""
        body = {"username": self.user, "password": self.password}
        self._token = str(request("POST", self.url + "/auth/token", body=body)["access_token"])
