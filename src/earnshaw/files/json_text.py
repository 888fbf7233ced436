"""JSON, read with the limits that nothing we write comes near to.

Python's own reader takes 1e400 for infinity, a name that occurs twice for its last value, half of a
character for text; what is nested a thousand deep makes whatever walks over it fail.
"""

from __future__ import annotations

import json
import math
from typing import Any

from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_size

DEPTH = 32  # lists and objects in each other
LARGEST_INTEGER = 2**64
COPIES = 25  # of a text in memory: so much larger is a list of empty lists


def parsed(text: str | bytes, otherwise: str, finite: bool = True) -> Any:
    """The value of a JSON text; NaN and infinities only if not `finite`.

    `otherwise` begins the line on what is wrong where it is no JSON.
    """
    check_size(len(text), COPIES)
    try:
        found = json.loads(
            text, parse_constant=_refused if finite else None, object_pairs_hook=_one
        )
    except EarnshawError:
        raise
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise EarnshawError(f"{otherwise}: {error.msg} at {place}") from None
    except RecursionError:
        raise EarnshawError(f"{otherwise}: {_too_deep()}") from None
    except ValueError:  # no UTF-8, or an integer of thousands of digits
        raise EarnshawError(otherwise) from None
    _check(found, finite, 0)
    return found


def _one(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose names must differ: readers do not agree on which value would count."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise EarnshawError("it has a name twice in one object")
    return found


def _refused(name: str) -> Any:
    raise EarnshawError(f"it has the number {name}; allowed: finite numbers")


def _too_deep() -> str:
    return f"nested too deep; allowed: {DEPTH} levels"


def _check(value: Any, finite: bool, depth: int) -> None:
    """Refuse what is nested too deep, numbers out of range, and texts that are no text."""
    if isinstance(value, (dict, list)):
        if depth > DEPTH:
            raise EarnshawError(f"it is {_too_deep()}")
        for name in value if isinstance(value, dict) else ():
            check_text(name)
        for entry in value.values() if isinstance(value, dict) else value:
            _check(entry, finite, depth + 1)
    elif isinstance(value, str):
        check_text(value)
    elif isinstance(value, float):
        if finite and not math.isfinite(value):
            raise EarnshawError("it has a number beyond 1e308; allowed: finite numbers")
    elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise EarnshawError("it has an integer beyond 2^64; allowed: smaller ones")


def check_text(text: str) -> None:
    """Refuse halves of characters, which can be neither printed nor written again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise EarnshawError("it has a text with half of a character (a lone surrogate)") from None
