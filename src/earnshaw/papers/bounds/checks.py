"""Checks of what the bounds are asked for."""

from __future__ import annotations

from earnshaw.limits import check_integer, check_real


def check_samples(samples: int) -> int:
    """The number of samples, 1 or more: a number in a formula, of which none is drawn."""
    return check_integer("samples", samples, 1, 2**63 - 1)


def not_negative(what: str, value: float) -> float:
    """A finite number, 0 allowed."""
    return 0.0 if value == 0 else check_real(what, value, 0.0)
