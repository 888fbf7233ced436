"""The page as one file that needs no server and asks nothing of anybody.

The modules are put into one script as they are, each in a function of its own, so that their names
cannot meet:

    const engine_js = (() => { const { Potential } = potentials_js; ... return { Engine }; })();

What the file carries is data in elements of their own: the tables, the worker's script, a state, a
replay. A Content-Security-Policy allows the two scripts by their hashes, and no request at all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from earnshaw.files.atomic import check_writable, write_text
from earnshaw.results import plain_values

FOLDER = Path(__file__).parent / "page"
ENDINGS = (".html", ".htm")

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:class|function\*?|const) (\w+)", re.MULTILINE)


def source_of(name: str) -> str:
    """A file of the page."""
    return (FOLDER / name).read_text(encoding="utf-8")


def bundled(entry: str) -> str:
    """A module and all that it imports, as one script without imports."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        source = source_of(f"{name}.js")
        for imported in _IMPORT.findall(source):
            add(imported[1])
        body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {found[2]}_js;", source)
        body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
        offered = ", ".join(_EXPORT.findall(source))
        done[name] = f"const {name}_js = (() => {{\n{body}\nreturn {{ {offered} }};\n}})();"

    add(entry)
    return "\n".join(done.values())


def lab_html(text: str = "", replay: dict[str, Any] | None = None) -> str:
    """The file: with the state `text`, as after # in the address, or a `replay`."""
    script, worker, style = bundled("main"), bundled("worker"), source_of("style.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "worker-src blob:; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    carried = {
        "tables": ("application/json", source_of("tables.json").strip()),
        "worker-source": ("text/plain", worker),
        "state": ("text/plain", text),
        "replay": ("application/json", json.dumps(plain_values(replay), allow_nan=False)),
    }
    elements = [
        f'<script type="{kind}" id="{name}">{_inside(content, kind)}</script>'
        for name, (kind, content) in carried.items()
    ]
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<title>earnshaw lab</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>"
    )
    body = "\n".join(
        ['<div id="lab"></div>', *elements, f'<script type="module">{script}</script>']
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n'
        f'<body class="earnshaw-page">\n{body}\n</body>\n</html>\n'
    )


def write_lab(path: str | Path, text: str = "", replay: dict[str, Any] | None = None) -> None:
    """Write that file, whole or not at all."""
    file = Path(path)
    check_writable(file, ENDINGS)
    write_text(file, lab_html(text, replay))


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _inside(content: str, kind: str) -> str:
    """Content that cannot end its element: in JSON < may be written otherwise."""
    if kind == "application/json":
        return content.replace("<", "\\u003c")
    if "</" in content or "<!--" in content:
        raise AssertionError("the worker's script must not contain the end of an element")
    return content
