"""The lab's page in Chromium, for tests: served from its folder, with nobody behind it."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "src" / "earnshaw" / "lab" / "page"
HOST = "http://lab.test/"  # nobody's: every request to it is answered from the folder
SIZE = {"width": 1280, "height": 800}


class Opened:
    """A page of a context of its own, whose errors are the test's."""

    def __init__(self, browser: Any, address: str, folder: bool = True, **how: Any) -> None:
        self.context = browser.new_context(viewport=SIZE, **how)
        if folder:
            self.context.route("**/*", _from_folder)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(address)

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, kind: Any, *rest: Any) -> None:
        self.context.close()
        if kind is None:
            assert self.errors == []


def _from_folder(route: Any) -> None:
    name = route.request.url.removeprefix(HOST).split("#")[0] or "index.html"
    file = PAGE / name
    if name == "empty.html":
        route.fulfill(body="<!doctype html>", content_type="text/html")
    elif name == "replay.json":
        route.fulfill(body="null", content_type="application/json")
    elif file.is_file():
        kind = mimetypes.guess_type(name)[0] or "text/plain"
        route.fulfill(body=file.read_bytes(), content_type=kind)
    else:
        route.fulfill(status=404, body="")
