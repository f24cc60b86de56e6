"""Headers: what the browser must not do with our pages (OWASP, "Content Security Policy Cheat Sheet").

Scripts, styles, pictures and data come from this server alone; nothing inline runs. Why the charts can live with it is
in docs/decisions/plotly-from-its-wheel.md.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"  # Airflow's UI shows the pages in a frame
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}


class Headers:
    """Add the headers to every answer, to errors too."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        """Serve a request."""

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *own]
            await send(message)

        await self.app(scope, receive, marked)
