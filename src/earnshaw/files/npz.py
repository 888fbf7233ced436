"""NPZ archives, read only where they are what they say: the one reader of arrays from files.

Nothing is allocated before it is known to be there. The directory of the archive says how large its
entries are once they are unpacked, the header of each entry how large its array is; both must
agree, and stay within what memory allows (`atomic.check_size`). Pickled objects, structures and
dates are refused. NumPy's own `np.load` believes what a header says, and reserves the memory for
it.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, BinaryIO

import numpy as np
from numpy.lib import format as npy

from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_size

ENTRIES = 100_000  # arrays of an archive, at most
AXES = 8  # of an array, at most
KINDS = "biufU"  # truth values, integers, real numbers, texts
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
DAMAGED = "not an NPZ file, a damaged one, or one with pickled objects"


class Archive(Mapping[str, np.ndarray]):
    """The arrays of an NPZ archive by name, each read and checked when it is asked for."""

    def __init__(self, file: BinaryIO) -> None:
        """`file` is the archive, and stays open."""
        try:
            self._zip = zipfile.ZipFile(file)
            entries = self._zip.infolist()
        except Exception:  # foreign bytes
            raise EarnshawError(DAMAGED) from None
        check_size(sum(entry.file_size for entry in entries))
        self._entries = {entry.filename.removesuffix(".npy"): entry for entry in entries}
        if len(self._entries) < len(entries) or len(entries) > ENTRIES:
            raise EarnshawError(f"it has an array twice, or more than {ENTRIES} arrays")

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            with self._zip.open(self._entries[name]) as file:
                return self._array(file, self._entries[name].file_size)
        except EarnshawError as error:
            raise EarnshawError(f"its array {name!r} {error}") from None
        except Exception:  # foreign bytes: whatever the decoders of zip and NPY make of them
            raise EarnshawError(DAMAGED) from None

    @staticmethod
    def _array(file: IO[bytes], size: int) -> np.ndarray:
        """The array of an entry of `size` bytes."""
        # Headers are literals of Python, which NumPy reads without running anything.
        shape, by_columns, dtype = HEADERS[npy.read_magic(file)](file)
        if dtype.kind not in KINDS or dtype.fields or dtype.subdtype or dtype.hasobject:
            raise EarnshawError(f"has the type {dtype}; allowed: numbers, texts, true and false")
        if len(shape) > AXES or min(shape, default=0) < 0:
            raise EarnshawError(f"has shape {shape}; allowed: up to {AXES} axes")
        if math.prod(shape) * dtype.itemsize != size - file.tell():
            raise EarnshawError(f"does not have the {math.prod(shape)} entries of its header")
        flat = np.frombuffer(file.read(), dtype).astype(dtype.newbyteorder("="))
        if dtype.kind == "U":
            _check_characters(flat)
        return flat.reshape(shape, order="F" if by_columns else "C")


def _check_characters(texts: np.ndarray) -> None:
    """Refuse texts with numbers that are no character, or half of one."""
    codes = np.ascontiguousarray(texts).view(np.uint32) if texts.dtype.itemsize else np.zeros(0)
    if np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))):
        raise EarnshawError("has texts that are none")


def unpacked(content: bytes) -> dict[str, np.ndarray]:
    """All arrays of the bytes of an archive."""
    return dict(Archive(io.BytesIO(content)))
