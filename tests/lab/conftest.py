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


@pytest.fixture(scope="module")
def opened(chromium: Any) -> Iterator[Any]:
    """One page with the lab for all tests of a module; it must not have complained at the end."""
    with Opened(chromium, HOST) as page:
        page.wait_for_function("window.lab?.frames > 1")
        yield page


@pytest.fixture
def lab(opened: Any) -> Any:
    """The lab at its first scene, with nothing behind it."""
    opened.evaluate(
        """() => { lab.selected = null; lab.map.show(false); lab.undone = [];
                   lab.target = undefined; lab.controls.openScene("earnshaw"); }"""
    )
    return opened
