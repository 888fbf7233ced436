"""Files that are written whole or not at all, and one line on what is wrong with them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from earnshaw.errors import EarnshawError
from earnshaw.limits import BYTES, check_memory

COPIES = 4  # of a file in memory: its bytes, its arrays, these as float64, and JAX's own
# What goes wrong in our own code on content that it has never seen.
STUMBLED = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError)


def as_path(path: str | os.PathLike[str], verb: str) -> Path:
    """The path, if it can be one; "cannot read 3; ..." where `verb` is "read"."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise EarnshawError(f"cannot {verb} {path!r}; allowed: the path of a file")
    return Path(path)


def check_writable(path: Path, endings: tuple[str, ...]) -> None:
    """Refuse, before any work is done, a file that could not be written."""
    if path.suffix.lower() not in endings:
        raise EarnshawError(f"cannot write {str(path)!r}; allowed endings: {', '.join(endings)}")
    with _writing(path):
        folder = path.resolve().parent
        if not folder.is_dir():
            raise EarnshawError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}")
        if path.is_dir() or not os.access(folder, os.W_OK):
            raise EarnshawError(f"cannot write {str(path)!r}: not a writable file")


def make_folder(path: Path) -> None:
    """Make a folder for files to be written, unless it is there."""
    if path.exists() and not path.is_dir():
        raise EarnshawError(f"{str(path)!r} is a file; allowed: a folder")
    with _writing(path):
        path.mkdir(parents=True, exist_ok=True)


def write_whole(path: Path, write: Callable[[str], None]) -> None:
    """Call `write` with a temporary name beside `path`, then put that file in its place.

    On failure or interruption an older file stays as it was.
    """
    with _writing(path):
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


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EarnshawError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


@contextmanager
def reading_file(path: str | os.PathLike[str], otherwise: str | None = None) -> Iterator[None]:
    """Where a file is read, what goes wrong is one line: "cannot read 'path': " and why.

    `otherwise` is why, if its content makes our own code stumble; None if that is no fault of it.
    """
    start = f"cannot read {str(path)!r}:"
    try:
        yield
    except FileNotFoundError:
        raise EarnshawError(f"{start} there is no such file") from None
    except OSError as error:
        raise EarnshawError(f"{start} {error.strerror or error}") from None
    except EarnshawError as error:
        raise EarnshawError(f"{start} {error}") from None
    except (*STUMBLED, ValueError):
        if otherwise is None:
            raise
        raise EarnshawError(f"{start} {otherwise}") from None


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to read bytes from; refused if it is none, or too large for memory.

    Pipes and devices are refused: what they hold has no end that could be known.
    """
    if path.exists() and not path.is_file():
        raise EarnshawError("it is a folder" if path.is_dir() else "it is not a file")
    with open(path, "rb") as file:
        check_size(os.fstat(file.fileno()).st_size)
        yield file


def check_size(count: int, copies: float = COPIES) -> None:
    """Refuse so many bytes of a file, kept `copies` times in memory, if they are too many."""
    check_memory({"bytes": count}, copies / BYTES)
