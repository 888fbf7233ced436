"""Numbers that carry their first and second derivatives, in ball arithmetic.

A `Taylor` is f with its gradient and Hessian in a few variables at one place (or over a box of
places). Sums, products and functions of one variable follow Leibniz and Faa di Bruno to second
order:

    (f g)_ij = f_ij g + f_i g_j + f_j g_i + f g_ij,     h(f)_ij = h'(f) f_ij + h''(f) f_i f_j.
"""

from __future__ import annotations

from flint import arb, arb_mat

from earnshaw.landscape.proofs._balls import outer


class Taylor:
    """value, first (n, 1), second (n, n)."""

    __slots__ = ("first", "second", "value")

    def __init__(self, value: arb, first: arb_mat, second: arb_mat) -> None:
        self.value, self.first, self.second = value, first, second

    def __add__(self, other: Taylor | arb | int) -> Taylor:
        if isinstance(other, Taylor):
            return Taylor(
                self.value + other.value, self.first + other.first, self.second + other.second
            )
        return Taylor(self.value + other, self.first, self.second)

    def __mul__(self, other: Taylor | arb | int) -> Taylor:
        if not isinstance(other, Taylor):
            return Taylor(self.value * other, self.first * other, self.second * other)
        cross = outer(self.first, other.first)
        return Taylor(
            self.value * other.value,
            self.first * other.value + other.first * self.value,
            self.second * other.value + other.second * self.value + cross + cross.transpose(),
        )

    def through(self, value: arb, slope: arb, curvature: arb) -> Taylor:
        """h(f), given h, h' and h'' at f."""
        bend = outer(self.first, self.first) * curvature
        return Taylor(value, self.first * slope, self.second * slope + bend)


def variables(*values: arb) -> list[Taylor]:
    """The independent variables, at `values`."""
    size = len(values)
    flat = arb_mat(size, size)
    return [
        Taylor(value, arb_mat(size, 1, [int(i == j) for j in range(size)]), flat)
        for i, value in enumerate(values)
    ]
