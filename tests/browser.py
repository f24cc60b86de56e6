"""Chromium without a window, driven by tests; every complaint of its console is kept."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
HARMLESS = ("GL Driver Message",)
"""What the graphics driver of a machine without a graphics card says."""


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
    """Keeps what goes wrong in a page and its frames: errors of the console, of scripts, and failed requests."""

    complaints: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> Page:
        """Listen to a page."""
        page.on("console", lambda m: self._say(m.type in ("error", "warning"), f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: self._say(True, f"script: {error}"))
        page.on("response", lambda r: self._say(r.status >= 500, f"{r.status}: {r.url}"))
        page.on("dialog", lambda dialog: self._say(True, f"dialog: {dialog.message}"))
        return page

    def _say(self, is_wrong: bool, text: str) -> None:
        if is_wrong and not any(word in text for word in HARMLESS):
            self.complaints.append(text)
