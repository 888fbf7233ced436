"""``{earnshaw-commands}``: every command with its arguments and options, from Typer itself.

No copy is kept by hand: what the page says is what ``--help`` says.
"""

from __future__ import annotations

from typing import Any

import typer
from sphinx.util.docutils import SphinxDirective


def of_one_line(text: str | None) -> str:
    """Plain words of a help text, safe in a table of Markdown."""
    return " ".join((text or "").split()).replace("|", "\\|")


def code(text: str) -> str:
    return f"`{text}`"


def word(argument: Any) -> str:
    """What stands for an argument."""
    return (argument.metavar or argument.name).upper()


KINDS = {"int": "integer", "float": "number", "str": "text", "Path": "file"}


def kind(option: Any) -> str:
    """What an option takes, in words."""
    taken = option.type_descriptor.annotation
    inner = getattr(taken, "__args__", (taken,))[0]
    return KINDS.get(getattr(inner, "__name__", ""), "text")


def row(parameter: Any) -> tuple[str, str]:
    """How it is written, and what it is for."""
    is_flag = getattr(parameter, "is_flag", False)
    if parameter.param_type_name == "argument":
        names = [word(parameter)]
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
    written = ", ".join(code(name) for name in names)
    if not is_flag and parameter.param_type_name == "option":
        written += f" *{kind(parameter)}*"
    words = of_one_line(parameter.help)
    if parameter.default is not None and not callable(parameter.default) and not is_flag:
        words += f" Default: {code(str(parameter.default))}."
    if parameter.required:
        words += " Required."
    return written, words


def described(command: Any, path: str, level: int) -> list[str]:
    """The lines of a command and of its subcommands."""
    lines = [f"{'#' * level} {path}", "", (command.help or "").strip(), ""]
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    rows = [row(one) for one in shown if one.name != "help"]
    usage = " ".join(
        word(one) if one.required else f"[{word(one)}]"
        for one in command.params
        if one.param_type_name == "argument"
    )
    subcommands = getattr(command, "commands", {})
    ending = " COMMAND" if subcommands else f" [OPTIONS] {usage}".rstrip()
    lines += ["```text", f"{path}{ending}", "```", ""]
    if rows and not subcommands:
        lines += ["| option | what it is |", "|---|---|"]
        lines += [f"| {written} | {words} |" for written, words in rows]
        lines.append("")
    for name in sorted(subcommands):
        lines += described(subcommands[name], f"{path} {name}", level + 1)
    return lines


def reference() -> str:
    """All commands as Markdown."""
    from earnshaw.cli.main import app

    root = typer.main.get_command(app)
    lines = []
    for name in sorted(root.commands):
        lines += described(root.commands[name], f"earnshaw {name}", 2)
    return "\n".join(lines)


class Commands(SphinxDirective):
    """All commands, as sections."""

    def run(self):
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def setup(app):
    app.add_directive("earnshaw-commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
