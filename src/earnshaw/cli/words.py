"""What the library says in Python's words, in those of the command line: on='sphere', --on sphere.

Only what is an option of the command that runs is translated; the rest is left as it is, as is what
stands between quotes, which the user has typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_KEYWORD = re.compile(r"""(?<!['"\w.=-])([a-z]\w*)=(?:'([^']*)'|"([^"]*)"|([\w.-]*\w))?""")


def as_options(message: str, options: Collection[str]) -> str:
    """The message with ``name='value'`` and ``name=`` as ``--name value`` and ``--name``."""

    def translated(found: re.Match[str]) -> str:
        name = f"--{found[1].replace('_', '-')}"
        if name not in options:
            return found[0]
        value = next((part for part in found.groups()[1:] if part), "")
        return f"{name} {value}".strip()

    return _KEYWORD.sub(translated, message)
