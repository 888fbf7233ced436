"""The names of oracles, read without loading JAX: `oracle.py` says what each of them answers."""

from __future__ import annotations

from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.limits import check_integer, check_real

ORACLES = "exact, float64, noisy:TAU, rounded:TAU or samples:N"


def read_oracle(name: object) -> tuple[str, float]:
    """The kind that an oracle's name says, with its TAU or N (0 where it has none)."""
    kind, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind in ("exact", "float64") and not colon:
        return kind, 0.0
    try:
        if kind == "samples":
            return kind, check_integer("N of samples:N", int(number), 1)
        if kind in ("noisy", "rounded"):
            return kind, check_real(f"TAU of {kind}:TAU", float(number), 0.0)
    except EarnshawError:
        raise
    except ValueError:
        pass
    raise OutOfRange("oracle", name, ORACLES)
