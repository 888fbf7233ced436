"""A real Chromium, driven by Playwright; tests that need it skip where it is absent."""

from __future__ import annotations

import mimetypes
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "src" / "earnshaw" / "lab" / "page"
HOST = "http://lab.test/"  # nobody's: every request to it is answered from the folder


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
    context = chromium.new_context()
    context.route("**/*", _from_folder)
    page = context.new_page()
    page.goto(HOST + "empty.html")
    yield page
    context.close()


def _from_folder(route: Any) -> None:
    name = route.request.url.removeprefix(HOST)
    file = PAGE / name
    if name == "empty.html":
        route.fulfill(body="<!doctype html>", content_type="text/html")
    elif file.is_file():
        kind = mimetypes.guess_type(name)[0] or "text/plain"
        route.fulfill(body=file.read_bytes(), content_type=kind)
    else:
        route.fulfill(status=404, body="")
