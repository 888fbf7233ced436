"""Rows of a store as values. SQLite keeps what it is given, a text in a column of numbers too."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from earnshaw.errors import EarnshawError
from earnshaw.files.json_text import check_text, parsed

NUMBERS, TEXT, BYTES, NONE = (int, float), (str,), (bytes,), (type(None),)
PLAIN = (*NUMBERS, *TEXT, *NONE, bool)  # what a number of a result may be
Columns = dict[str, tuple[type, ...]]
OF_RUN: Columns = {
    "id": (int,),
    **dict.fromkeys(("name", "kind", "version", "start"), TEXT),
    **dict.fromkeys(("cells", "done", "failed"), (int,)),
}
OF_CELL: Columns = {
    "settings": TEXT,
    "seed": (int,),
    "numbers": (*TEXT, *NONE),
    "error": (*TEXT, *NONE),
    "seconds": (*NUMBERS, *NONE),
    "end": (*TEXT, *NONE),
    "arrays": (*BYTES, *NONE),
}
OF_CHECKPOINT: Columns = {"fraction": NUMBERS, "note": TEXT, "state": BYTES, "seconds": NUMBERS}


class Damaged(EarnshawError):
    """A row that no store of ours has."""


def typed(rows: Iterable[tuple], columns: Columns) -> Iterator[tuple]:
    """The rows, if every entry is of a type that its column may have."""
    for row in rows:
        for value, (name, types) in zip(row, columns.items(), strict=True):
            if type(value) not in types:
                raise Damaged(f"it is damaged: the {name} of a row is {_words(value)}")
            if isinstance(value, str):
                _readable(name, value)
        yield row


@functools.lru_cache(maxsize=100_000)  # the seeds of a setting share it
def settings_of(text: str) -> dict[str, Any]:
    """Settings from their JSON text; shared, so not to be changed."""
    return _object("settings", text)


def numbers_of(text: str | None) -> dict[str, Any] | None:
    """The numbers of a result from their JSON text; None where there is no result."""
    if text is None:
        return None
    found = _object("numbers", text)
    if not all(isinstance(value, PLAIN) for value in found.values()):
        raise Damaged("it is damaged: the numbers of a row are lists or objects")
    return found


def _object(name: str, text: str) -> dict[str, Any]:
    try:
        found = parsed(text, "no JSON")
    except EarnshawError as error:
        raise Damaged(f"it is damaged: the {name} of a row: {error}") from None
    if not isinstance(found, dict):
        raise Damaged(f"it is damaged: the {name} of a row are no names and values")
    return found


def _readable(name: str, text: str) -> None:
    try:
        check_text(text)
    except EarnshawError:
        raise Damaged(f"it is damaged: the {name} of a row is no text") from None


def _words(value: Any) -> str:
    return {str: "a text", bytes: "bytes", type(None): "missing"}.get(type(value), "a number")
