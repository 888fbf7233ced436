"""Arrays as the bytes of an NPZ archive, without pickle."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from earnshaw.files.npz import unpacked


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of an NPZ archive; numbers and texts only."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(content: bytes) -> dict[str, np.ndarray]:
    """The arrays that `pack` made these bytes of, by name."""
    return unpacked(content)
