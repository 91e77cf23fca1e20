"""Debian's Chromium, for tests of the page: a browser without a window, driven by Playwright."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from tests.support.programs import path_of

NAMES = ("chromium", "chromium-browser", "google-chrome")
WHY_MISSING = "no chromium on PATH: apt-get install chromium"


def path_of_chromium() -> str:
    """Return the path of the browser, empty without one."""
    return path_of("chromium", WHY_MISSING, names=NAMES)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser; as root it has no sandbox."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path_of_chromium(), args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        try:
            yield browser
        finally:
            browser.close()


def until(page: Page, expression: str, seconds: float = 15.0) -> Any:
    """Return what an expression becomes that is true; Playwright's own way evaluates texts, which the page forbids."""
    end = time.monotonic() + seconds
    while not (found := page.evaluate(expression)):
        assert time.monotonic() < end, f"{expression} stays {found!r}"
        page.wait_for_timeout(20)
    return found
