"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from earnshaw.errors import EarnshawError


def check_writable(path: Path, endings: tuple[str, ...]) -> None:
    """Refuse, before any work is done, a file that could not be written."""
    if path.suffix.lower() not in endings:
        raise EarnshawError(f"cannot write {str(path)!r}; allowed endings: {', '.join(endings)}")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise EarnshawError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}")
    if path.is_dir() or not os.access(folder, os.W_OK):
        raise EarnshawError(f"cannot write {str(path)!r}: not a writable file")


def write_whole(path: Path, write: Callable[[str], None]) -> None:
    """Call `write` with a temporary name beside `path`, then put that file in its place.

    On failure or interruption an older file stays as it was.
    """
    handle, temporary = tempfile.mkstemp(dir=path.resolve().parent, suffix=path.suffix)
    os.close(handle)
    try:
        write(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""

    def write(name: str) -> None:
        Path(name).write_text(text, encoding="utf-8")

    write_whole(path, write)
