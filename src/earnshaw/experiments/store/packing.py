"""Arrays as the bytes of an NPZ archive, without pickle."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of an NPZ archive; numbers and texts only."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(content: bytes) -> dict[str, np.ndarray]:
    """The arrays that `pack` made these bytes of, by name."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
