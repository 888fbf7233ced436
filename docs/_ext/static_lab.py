"""The lab as one file of the site, `_static/lab.html`: written by `earnshaw lab --write` itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def write(app, problem):
    if problem is None and app.builder.format == "html":
        file = Path(app.outdir) / "_static" / "lab.html"
        subprocess.run(
            [sys.executable, "-m", "earnshaw", "lab", "--write", str(file), "--json"],
            check=True,
            stdout=subprocess.DEVNULL,
        )


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
