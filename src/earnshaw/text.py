"""Words as people see them: a count with its noun; and what users write, as text, never more."""

from __future__ import annotations


def shown(text: object) -> str:
    r"""`text` as one line, with everything that cannot be seen escaped.

    That is line ends, control characters (a terminal would obey them), marks that change the
    direction of writing, and the bytes of file names that are not UTF-8, which Python keeps as
    lone surrogates (PEP 383): \n, \x1b, \u202e, \xff.
    """
    words = str(text)
    if words.isprintable():
        return words
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in words)


def plural(count: int, what: str) -> str:
    """A count with its noun: 1 unit, 2 units."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _escaped(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":  # a byte that is no UTF-8
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode("ascii")
