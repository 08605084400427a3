"""One server and one Chromium for all browser tests; each test gets a page that remembers what went wrong.

Screenshots go to $TOKENVIZ_SCREENSHOTS, or to a temporary folder: never into the tree.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
READY = "[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is a browser test."""
    for item in items:
        if Path(item.path).is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """One server for the whole run; yields its address."""
    yield from fresh_server()


def fresh_server() -> Iterator[str]:
    """Start a server on a free port, yield its address, stop it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "streamlit_app.py"), f"--server.port={port}",
               "--server.address=127.0.0.1", "--server.headless=true", "--server.fileWatcherType=none"]  # fmt: skip
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(process, address)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _wait_until_healthy(process: subprocess.Popen[bytes], address: str) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped with status {process.returncode}")
        try:
            with urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the server did not become healthy in 30 s")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@dataclass
class Watched:
    """A page with the server's address, its console errors, and its requests to anywhere else."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def open(self, path: str = "/") -> Page:
        """Go to a path of the app and wait until it has run."""
        self.page.goto(self.address + path)
        self.ready()
        return self.page

    def ready(self) -> None:
        """Wait until the script has stopped running."""
        self.page.wait_for_selector(READY, timeout=30_000)
        self.page.wait_for_timeout(300)
        self.page.wait_for_selector(READY, timeout=30_000)

    def shot(self, name: str) -> Path:
        """Keep a screenshot of the whole page."""
        folder = Path(os.environ.get("TOKENVIZ_SCREENSHOTS") or Path(tempfile.gettempdir()) / "tokenviz-screenshots")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        self.page.screenshot(path=path, full_page=True)
        return path

    def assert_clean(self) -> None:
        """No console errors (but the two 404s of a deep link) and no request beyond the server."""
        assert self.outside == []
        assert [e for e in self.errors if not re.search(r"_stcore/(health|host-config)", e)] == []


Visit = Callable[..., Watched]


@pytest.fixture
def visit(server: str, browser: Browser) -> Iterator[Visit]:
    """Open watched pages: ``visit(width=390, height=844, dark=True)``."""
    contexts = []

    def make(width: int = 1440, height: int = 900, *, dark: bool = False) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        watched = Watched(page, server)
        page.on(
            "console",
            lambda m: watched.errors.append(f"{m.text} {m.location.get('url', '')}") if m.type == "error" else None,
        )
        page.on("pageerror", lambda e: watched.errors.append(str(e)))
        page.on("request", lambda r: _note_outside(watched, r.url))
        return watched

    yield make
    for context in contexts:
        context.close()


def _note_outside(watched: Watched, url: str) -> None:
    if not url.startswith((watched.address, watched.address.replace("http", "ws"), "data:", "blob:")):
        watched.outside.append(url)
