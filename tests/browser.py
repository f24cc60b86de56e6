"""Chromium without a window, driven by tests; every complaint of its console is kept."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

expect.set_options(timeout=30_000)  # milliseconds; the default of 5 s is short beside a busy Airflow on two cores
NAMES = ("chromium", "chromium-browser", "google-chrome")
HARMLESS = ("GL Driver Message", "An iframe which has both allow-scripts and allow-same-origin")
"""What the graphics driver of a machine without a graphics card says, and what Chromium says of Airflow's own frame."""


def executable() -> str:
    """Return the browser; where there is none, root installs it, and others are told how."""
    if not any(map(shutil.which, NAMES)) and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=True, capture_output=True, timeout=300)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=True, capture_output=True, timeout=600)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, f"no browser: expected one of {', '.join(NAMES)} on the PATH. Run 'apt-get install chromium' as root."
    return found


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Start the browser, and end it."""
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


@dataclass(slots=True)
class Listener:
    """Keeps what goes wrong in a page and its frames: errors of the console, of scripts, and failed requests.

    Attributes:
        only: Keep what the console says of addresses with this text; Airflow's UI around ours has words of its own.
    """

    only: str = ""
    complaints: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> Page:
        """Listen to a page."""
        page.on("console", lambda message: self._console(message))
        page.on("pageerror", lambda error: self._say(self.only in (error.stack or ""), f"script: {error}"))
        page.on("response", lambda r: self._say(r.status >= 500 and self.only in r.url, f"{r.status}: {r.url}"))
        page.on("dialog", lambda dialog: self._say(True, f"dialog: {dialog.message}"))
        return page

    def _console(self, message: ConsoleMessage) -> None:
        is_ours = self.only in message.location.get("url", "") or self.only in message.text
        self._say(message.type in ("error", "warning") and is_ours, f"{message.type}: {message.text}")

    def _say(self, is_wrong: bool, text: str) -> None:
        if is_wrong and not any(word in text for word in HARMLESS):
            self.complaints.append(text)
