"""Docstrings are plain text with formulas: |x| is no substitution, units_ no link, * no emphasis.

Before napoleon reads them, an indented block after a blank line becomes a literal one. Afterwards,
what reStructuredText would take for markup is escaped, but for literals and fields.
"""

from __future__ import annotations

import re

# What stays as it is: literals, roles, and the emphasis that napoleon puts around parameters.
KEPT = re.compile(r"(``.*?``|:\w+:`.*?`|`[^`]*`|\*\*\\?\*{0,2}\w+\*\*|\*\*[\w, ]+\*\*)")
FIELD = re.compile(r"\s*(:\w+[^:]*:|\.\. )")
RETURNED = re.compile(r"\s*(?:\* )?\*[^*]+\*(?= --|$)")  # the type, as napoleon has it
MARKUP = re.compile(r"(\||(?<=\w)_(?!\w)|(?<!\*)\*(?!\*))")


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def with_literal_blocks(app, what, name, obj, options, lines):
    """Formulas stand on lines of their own, four spaces in; examples begin with >>>."""
    new: list[str] = []
    inside = False
    for line in lines:
        before = [one for one in new if one.strip()]
        begins = (
            line.startswith("    ")
            and not inside
            and bool(new)
            and not new[-1].strip()
            and bool(before)
            and indent(before[-1]) == 0
            and not before[-1].startswith(("- ", ">>>", "..."))
        )
        if begins:
            new += ["::", ""]
            inside = True
        elif line.strip() and not line.startswith("    "):
            inside = False
        new.append(line)
    lines[:] = new


def escaped(text: str) -> str:
    parts = KEPT.split(text)
    return "".join(part if i % 2 else MARKUP.sub(r"\\\1", part) for i, part in enumerate(parts))


def with_escapes(app, what, name, obj, options, lines):
    literal = False
    for i, line in enumerate(lines):
        if line.strip() == "::":
            literal = True
            continue
        if literal and line.strip() and not line.startswith("    "):
            literal = False
        if literal or line.lstrip().startswith((">>>", "...")):
            continue
        field = FIELD.match(line)
        start = field.end() if field else 0
        if re.match(r"\s*\* ", line):  # a list
            start = line.index("*") + 1
        returned = field is not None and field[1] == ":returns:"
        if (returned or line[:start].endswith("*")) and (kind := RETURNED.match(line[start:])):
            start += kind.end()
        lines[i] = line[:start] + escaped(line[start:])


def without_aliases(app, what, name, obj, skip, options):
    """Fields of a named tuple stand in its signature; that they have numbers says nothing."""
    return True if str(obj.__doc__).startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-skip-member", without_aliases)
    app.connect("autodoc-process-docstring", with_literal_blocks, priority=100)
    app.connect("autodoc-process-docstring", with_escapes, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
