"""A reproduction as a page to read."""

from __future__ import annotations

from pathlib import Path

from earnshaw.experiments.tables import markdown
from earnshaw.files.atomic import write_text
from earnshaw.papers.reproductions.reproduction import Reproduction


def write_page(path: Path, made: Reproduction, command: str) -> None:
    """The readable table with its remarks, the command and the version that made it."""
    shown = made.shown or made.rows
    lines = [f"# {made.title} ({made.name}, {made.preset})", "", *markdown(shown), ""]
    lines += [f"- {remark}" for remark in made.remarks]
    lines += [f"- made by `{command}`, earnshaw {made.code}", ""]
    write_text(path, "\n".join(lines))
