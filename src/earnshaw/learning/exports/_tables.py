"""A table in log r as an exported file holds it: one number a node instead of four."""

from __future__ import annotations

import numpy as np

from earnshaw.learning.exports._writing import literal, record
from earnshaw.numerics.log_table import LogTable

ROUNDING = 1e-14  # relative; what the polynomials of neighbouring intervals may differ by

# The four B-spline coefficients of an interval are the polar form of its polynomial at the knots
# (-2, -1, 0), (-1, 0, 1), (0, 1, 2), (1, 2, 3): x -> mean, x^2 -> mean of pairs, x^3 -> product.
POLAR = np.array([[1, -1, 2 / 3, 0], [1, 0, -1 / 3, 0], [1, 1, 2 / 3, 0], [1, 2, 11 / 3, 6]])


def b_spline(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B-spline coefficients from polynomials (intervals, 4), and the intervals where one begins.

    Neighbours share three of their four coefficients where the spline is smooth; where they do not
    (at kinks), a new spline begins, with four coefficients of its own.
    """
    points = coefficients @ POLAR.T
    gaps = np.max(np.abs(points[:-1, 1:] - points[1:, :-1]), axis=1)
    breaks = 1 + np.flatnonzero(gaps > ROUNDING * np.max(np.abs(points[1:]), axis=1))
    pieces = [np.concatenate([piece[0], piece[1:, 3]]) for piece in np.split(points, breaks)]
    return np.concatenate(pieces), breaks


def table_literal(table: LogTable) -> str:
    """The table as a dictionary literal for `parts.log_spline`."""
    spline, breaks = b_spline(np.asarray(table.coefficients))
    at_zero, slope = float(table.coefficients[0, 0]), float(table.slope_below)
    if table.exponent > 0 or slope != 0:
        sign = at_zero if table.exponent > 0 else -slope
        infinite = "math.inf" if sign > 0 else "-math.inf"
    fields = {
        "start": literal(float(table.start)),
        "step": literal(float(table.step)),
        "slope_below": literal(slope),
        "exponent": literal(table.exponent),
        "decay": literal(table.decay),
        "at_zero": literal(at_zero) if table.exponent == 0 and slope == 0 else infinite,
        "breaks": literal(breaks),
        "spline": literal(spline),
    }
    return record(fields)
