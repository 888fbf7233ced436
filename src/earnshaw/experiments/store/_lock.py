"""One writer at a time, held by the operating system, so that even kill -9 releases it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from earnshaw.errors import EarnshawError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def only_writer(store: Path) -> Iterator[None]:
    """Hold the lock of a store, or say which process has it."""
    path = store.with_name(store.name + ".lock")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise EarnshawError(
            f"cannot write {str(store)!r}: {error.strerror}; allowed: a store in a writable folder"
        ) from None
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                owner = os.read(handle, 20).decode(errors="replace").strip() or "unknown"
                raise EarnshawError(
                    f"the store {str(store)!r} is in use by process {owner}; wait until that ends, "
                    "or choose another store"
                ) from None
        with suppress(OSError):  # a full disk: the lock holds all the same
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)  # releases it; the file stays, or a third process could lock another one
