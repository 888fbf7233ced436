"""A real Chromium, driven by Playwright; tests that need it skip where it is absent."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from lab_page import HOST, Opened


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium of the system's."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        yield browser
        browser.close()


@pytest.fixture
def modules(chromium: Any) -> Iterator[Any]:
    """An empty page that may import the lab's modules as they are in the folder."""
    with Opened(chromium, HOST + "empty.html") as page:
        yield page


@pytest.fixture
def lab(chromium: Any) -> Iterator[Any]:
    """The lab, with nothing behind it; it must not have complained at the end."""
    with Opened(chromium, HOST) as page:
        page.wait_for_function("window.lab?.frames > 1")
        yield page
