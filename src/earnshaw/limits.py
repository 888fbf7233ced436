"""One gate for numbers: what a computation would need is known before anything is allocated.

A size alone is an integer up to 2^31 - 1, which is as far as array indices go. What sizes need
together follows from their product,

    memory   units x dimensions x starts x ... numbers of 8 bytes, as often as they are kept
    time     units x units x dimensions x ... operations for one value of the loss

and more than `MEMORY` or `OPERATIONS` is refused in one line. Iterations need no gate of time: a
run shows its progress, can be interrupted, and goes on from its file. The environment variable
EARNSHAW_MEMORY, a number of GiB, sets another limit of memory.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from earnshaw.errors import EarnshawError, OutOfRange

LARGEST = 2**31 - 1  # an integer without a limit of its own: as far as indices of arrays go
MEMORY = 4.0  # GiB, unless EARNSHAW_MEMORY says otherwise
OPERATIONS = 1e13  # for one value of a loss: about an hour on one core
BYTES = 8  # of a float64
VARIABLE = "EARNSHAW_MEMORY"
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def check_integer(what: str, value: object, low: int, high: int = LARGEST) -> int:
    """Return `value` as an int in [low, high], or raise `OutOfRange`."""
    allowed = f"an integer from {low} to {high}"
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise OutOfRange(what, value, allowed)
    number = value.__index__()
    if not low <= number <= high:
        raise OutOfRange(what, value, allowed)
    return number


def check_dim(dim: object, low: int = 1, what: str = "dimension") -> int:
    """Return `dim` as an int of at least `low`, or raise `OutOfRange`."""
    if dim is None:
        raise EarnshawError(f"a {what} is needed; allowed: dim=, an integer from {low}")
    return check_integer(what, dim, low)


def check_real(what: str, value: object, low: float = -math.inf, high: float = math.inf) -> float:
    """Return `value` as a finite float strictly between low and high, or raise `OutOfRange`."""
    allowed = f"a number in ({low:g}, {high:g})"
    if isinstance(value, (bool, str)):
        raise OutOfRange(what, value, allowed)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise OutOfRange(what, value, allowed) from None
    if not (math.isfinite(number) and low < number < high):
        raise OutOfRange(what, value, allowed)
    return number


def check_width(value: object) -> float:
    """Return a standard deviation of inputs: so that sixth powers stay within float64's range."""
    return check_real("input width", value, 1e-30, 1e30)


ORACLES = "exact, float64, noisy:TAU, rounded:TAU or samples:N"  # `energy/oracle.py`


def check_oracle(name: object) -> tuple[str, float]:
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


def check_memory(sizes: Mapping[str, int], copies: float = 1.0) -> None:
    """Refuse arrays of prod(sizes) float64 numbers, kept `copies` times, that are too large.

    The names of the sizes are what the message says: {"units": 3, "dimensions": 2}.
    """
    allowed = allowed_memory()
    need = float(BYTES * copies) * _product(sizes)
    if need > allowed:
        raise EarnshawError(
            f"{_words(sizes)} need {_in_bytes(need)} of memory; allowed: {_in_bytes(allowed)} "
            f"({VARIABLE}, a number of GiB, sets another limit)"
        )


def check_work(what: str, sizes: Mapping[str, int]) -> None:
    """Refuse what takes prod(sizes) operations before it can show any progress."""
    if (need := _product(sizes)) > OPERATIONS:
        raise EarnshawError(
            f"{_words(sizes)} take {need:.0e} operations for {what}; allowed: {OPERATIONS:.0e}, "
            "about an hour"
        )


def allowed_memory() -> float:
    """The bytes that one computation may ask for."""
    given = os.environ.get(VARIABLE)
    try:
        gibibytes = MEMORY if given is None else check_real(VARIABLE, float(given), 0.0)
    except ValueError:
        raise EarnshawError(f"{VARIABLE} is {given!r}; allowed: a number of GiB") from None
    return gibibytes * 2**30


def _product(sizes: Mapping[str, int]) -> float:
    return math.prod(float(size) for size in sizes.values())


def _words(sizes: Mapping[str, int]) -> str:
    return " x ".join(f"{size} {name}" for name, size in sizes.items())


def _in_bytes(number: float) -> str:
    power = min(int(math.log2(max(number, 1.0)) // 10), len(UNITS) - 1)
    return f"{number / 1024**power:.3g} {UNITS[power]}"
