"""What earnshaw says when an input cannot be used.

Every error is a `ValueError` whose message is one line: what was wrong, then what is allowed. The
command line prints that line and exits with code 2, so the words below are user interface.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EarnshawError(ValueError):
    """An input that earnshaw cannot use.

    Examples
    --------
    >>> import earnshaw as ew
    >>> try:
    ...     ew.activation("rleu")
    ... except ew.EarnshawError as error:
    ...     isinstance(error, ValueError)
    True
    """


class UnknownName(EarnshawError):
    """A name that is not in the list it was looked up in; `also` may be suggested too."""

    def __init__(
        self, what: str, name: object, known: Iterable[str], also: Iterable[str] = ()
    ) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(str(name), [*known, *also], n=3, cutoff=0.55)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
        super().__init__(f"unknown {what} {name!r}; {hint}")


class OutOfRange(EarnshawError):
    """A number outside the range in which the object exists."""

    def __init__(self, what: str, value: object, allowed: str) -> None:
        try:
            text = repr(value)
        except ValueError:  # an integer of more digits than Python converts
            text = "a number of thousands of digits"
        shown = text if len(text) <= 60 else text[:57] + "..."
        super().__init__(f"{what} is {shown}; allowed: {allowed}")


class MissingExtra(EarnshawError, ImportError):
    """A library that is not installed because it belongs to an extra."""

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(
            f"{what} needs {library}; install it with: pip install 'earnshaw[{extra}]'"
        )


class NotSquareIntegrable(EarnshawError):
    """A function with E[sigma(X)^2] infinite or undefined: it has no potential."""


class BadExpression(EarnshawError):
    """A formula that does not parse, or that uses a name outside the whitelist."""
