"""The pages of the site: every public name is in the reference, every link leads somewhere.

What the tutorials, how-tos and the gallery run, they run when the site is built (`.ci/run`).
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import earnshaw as ew

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md"))
    if "_build" not in path.parts
)
FENCED = re.compile(r"^(`{3,}|~{3,}|:{3,}).*?^\1", re.S | re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def names_in_the_reference() -> list[str]:
    pages = (path for path in (DOCS / "api").glob("*.md") if path.stem != "modules")
    directive = r"^\.\. auto(?:class|function):: (?:earnshaw\.lab\.widget\.)?(\w+)$"
    return [name for path in pages for name in re.findall(directive, path.read_text(), re.M)]


def test_every_public_name_is_in_the_reference_once():
    assert sorted(names_in_the_reference()) == sorted(ew.__all__)


def headings(path: Path) -> set[str]:
    """The anchors of a page, as MyST and GitHub make them."""
    text = FENCED.sub("", path.read_text())
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    slugs = (re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles)
    return set(slugs)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """Files and anchors within the repository; addresses elsewhere are not asked."""
    lost = []
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = page if not target else (page.parent / target).resolve()
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in headings(path)):
            lost.append(link)
    assert not lost


FORMULA = re.compile(r"^\$\$.*?\$\$", re.S | re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_sentence_goes_on_as_a_list(page):
    """A line of a paragraph that begins with "+ " or "1. " would be an item."""
    lines = FORMULA.sub("", FENCED.sub("", page.read_text())).splitlines()
    item = re.compile(r" {0,3}(\d+[.)]|[-+*:]) ")
    for before, line in itertools.pairwise(lines):
        inside = before.startswith("  ") or item.match(before)  # of a list
        assert inside or not before.strip() or not item.match(line), line


def test_a_broken_link_of_the_site_is_found(tmp_path, monkeypatch):
    """What the site's build warns of: a file that is not there, a place that a page lacks."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    pytest.importorskip("sphinx", reason="the extra docs")
    from whole_links import broken

    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="start">x</h1><a href="#start"></a><a href="deep/one.html#two%20words"></a>'
        '<img src="lost.png"><a href="deep/one.html#lost"></a><a href="https://example.org/"></a>'
    )
    (tmp_path / "deep" / "one.html").write_text(
        '<p id="two words"><a href="../index.html#top"></a><a href="lost.html"></a>'
    )
    assert sorted(broken(tmp_path)) == [
        ("deep/one.html", "lost.html"),
        ("index.html", "deep/one.html#lost"),
        ("index.html", "lost.png"),
    ]


def test_every_page_is_in_the_contents():
    """A page that no toctree names would be a warning of Sphinx; here without Sphinx."""
    named = set()
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.S | re.M):
            for line in block.splitlines():
                if line.strip() and not line.startswith(":"):
                    name = line.rpartition("<")[2].rstrip(">").strip()
                    named.add((page.parent / name).resolve())
    pages = {
        p.with_suffix("").resolve() for p in (*DOCS.rglob("*.md"), *DOCS.glob("tutorials/*.py"))
    }
    assert pages - named == {(DOCS / "index").resolve()}
