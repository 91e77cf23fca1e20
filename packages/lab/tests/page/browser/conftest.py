"""A browser for the tests of the page; each page that opens has to stay without console errors."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.support.chromium import WHY_MISSING, chromium, path_of_chromium

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not path_of_chromium():
        pytest.skip(WHY_MISSING)
    with chromium() as running:
        yield running


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opener]:
    """Open an address; at the end there has been no error in any console, and no request to anywhere else."""
    faults: list[str] = []
    expected: list[str] = []

    def open_page(address: str, *, allow: tuple[str, ...] = (), ready: bool = True, **options: Any) -> Page:
        expected.extend(allow)
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **options})
        page.set_default_timeout(15_000)
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        origin = address.partition("/#")[0]
        page.on("request", lambda request: None if request.url.startswith(origin) else faults.append(request.url))
        page.goto(address)
        if ready:
            page.wait_for_selector("body[data-ready=yes]")
        return page

    yield open_page
    for context in browser.contexts:
        context.close()
    assert [fault for fault in faults if not any(part in fault for part in expected)] == []
