"""Links within the built site lead somewhere: to a file that is there, and to a place on it.

What MyST and Sphinx resolve they check themselves; this looks at the pages as they are in the end,
with what raw HTML, docstrings and the theme put there. A broken link is a warning of the build, and
so an error under ``-W``. Addresses elsewhere are not asked.
"""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

LINKS = {"a": "href", "link": "href", "img": "src", "iframe": "src", "script": "src"}
LOG = logging.getLogger(__name__)


class Page(HTMLParser):
    """Where a page points, and where it can be pointed at."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = {"", "top"}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.places |= {value for name in ("id", "name") if (value := about.get(name))}
        if link := about.get(LINKS.get(tag, "")):
            self.links.add(link)


def broken(folder: Path) -> list[tuple[str, str]]:
    """(page, link) of every link within a built site that leads nowhere."""
    read = cache(Page)
    found = []
    for file in sorted(folder.rglob("*.html")):
        if "_static" in file.relative_to(folder).parts:
            continue
        for link in sorted(read(file).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            target = file if not path else (file.parent / path).resolve()
            if target.is_dir():
                target /= "index.html"
            there = target.is_file()
            place = unquote(parts.fragment)
            if there and target.suffix == ".html" and "_static" not in target.parts:
                there = place in read(target).places
            if not there:
                found.append((str(file.relative_to(folder)), link))
    return found


def check(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for page, link in broken(Path(app.outdir)):
            LOG.warning("%s: nothing is at %s", page, link, type="links")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check, priority=900)  # after static_lab
    return {"parallel_read_safe": True, "parallel_write_safe": True}
