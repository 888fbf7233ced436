"""Taylor coefficients at 0 of a formula in one variable: exact, or in balls that enclose them.

The recurrences of `_series_rules.py` run over two kinds of numbers: SymPy's, which are exact, and
Arb's balls, which are fast, good for hundreds of coefficients, and never wrong about a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flint
import sympy

from earnshaw.duality.formulas._series_rules import NoTaylorSeries, Series, Walker
from earnshaw.duality.formulas.symbolic import ARB, ball, degree_bound, evaluate
from earnshaw.errors import EarnshawError
from earnshaw.numerics.budget import TooMuchWork, interruptible

__all__ = ["NoTaylorSeries", "ball_taylor", "degree_bound", "exact_taylor"]

_MAX_BITS, _MAX_SIZE = 5000, 3_000_000
"""Of a series that Arb composes in one call: its precision, and that times its length. Within them
a call takes a few seconds (gamma, 200 terms: 3 s at 4200 bits, 15 s at 8500)."""


class _Exact:
    """SymPy numbers."""

    def constant(self, expr: sympy.Expr) -> Any:
        return sympy.expand(expr)

    def apply(self, function: Any, *values: Any) -> Any:
        return function(*values)

    def total(self, terms: Sequence[Any]) -> Any:
        value = sympy.Add(*terms)
        return value if value.is_Rational else sympy.expand(value)

    def multiply(self, a: Series, b: Series) -> Series:
        length = min(len(a), len(b))
        return [self.total([a[i] * b[k - i] for i in range(k + 1)]) for k in range(length)]

    def compose(self, outer: Series, g: Series) -> Series:
        total = [outer[-1], *[sympy.Integer(0)] * (len(g) - 1)]
        for coefficient in reversed(outer[:-1]):  # Horner's rule
            total = [coefficient, *self.multiply(total, g)[1:]]
        return total

    def is_zero(self, value: Any) -> bool:
        # Two constants that agree to 150 digits are taken as equal: sqrt(2)*sqrt(3) and sqrt(6).
        return value.is_zero or (not value.is_Rational and bool(abs(ball(value, 500)) < 1e-140))

    def sign(self, value: Any) -> int:
        enclosure = ball(value, 500)
        return 1 if enclosure > 0 else -1

    def gamma(self, start: Any, count: int) -> Series:
        raise EarnshawError("gamma has no exact Taylor coefficients; allowed: taylor(count)")


class _Balls:
    """Arb's balls, at the working precision in force."""

    def constant(self, expr: sympy.Expr) -> Any:
        return evaluate(expr, {}, ARB)

    def apply(self, function: Any, *values: Any) -> Any:
        if function is sympy.sqrt:
            return values[0].sqrt()
        return ARB[function](*values)

    def total(self, terms: Sequence[Any]) -> Any:
        return sum(terms, start=flint.arb(0))

    def multiply(self, a: Series, b: Series) -> Series:
        length = min(len(a), len(b))
        return _capped(length, lambda: self._series(a, length) * self._series(b, length))

    def compose(self, outer: Series, g: Series) -> Series:
        length = _affordable(len(g))
        return _capped(length, lambda: self._series(outer, length)(self._series(g, length)))

    def is_zero(self, value: Any) -> bool:
        tiny = flint.arb(2) ** -(flint.ctx.prec // 2)
        return bool(value.contains(flint.arb(0))) and bool(value.rad() < tiny)

    def sign(self, value: Any) -> int:
        return 1 if value > 0 else -1

    def gamma(self, start: Any, count: int) -> Series:
        _affordable(count)
        return _capped(count, lambda: flint.arb_series([start, 1], count).gamma())

    @staticmethod
    def _series(values: Series, length: int) -> flint.arb_series:
        return flint.arb_series(values[:length], length)


def _capped(count: int, compute: Callable[[], flint.arb_series]) -> Series:
    """The first `count` terms of a series, which python-flint by default would cut at 10."""
    kept, flint.ctx.cap = flint.ctx.cap, count
    try:
        found = compute()
        return [found[k] for k in range(count)]
    finally:
        flint.ctx.cap = kept


def _affordable(count: int) -> int:
    """`count`, if Arb may compose series of this length at the working precision."""
    bits = flint.ctx.prec
    if bits > _MAX_BITS or bits * count > _MAX_SIZE:
        raise TooMuchWork(f"{count} Taylor coefficients would need more than {bits} bits")
    return count


@interruptible("expanding the formula exactly")
def exact_taylor(expr: sympy.Expr, symbol: sympy.Symbol, count: int) -> list[sympy.Expr]:
    """The first `count` Taylor coefficients of `expr` at 0 as exact SymPy numbers."""
    return _long_enough(_Exact(), expr, symbol, count)


@interruptible("expanding the formula")
def ball_taylor(
    expr: sympy.Expr, symbol: sympy.Symbol, count: int, digits: int = 40
) -> list[flint.arb]:
    """Enclosures of the first `count` Taylor coefficients at 0, each to `digits` digits.

    Relative digits, or absolute ones (10^-digits of the largest coefficient) for those near zero.
    Precision is doubled until that holds; a ball that still contains 0 then is set to exactly 0.
    `TooMuchWork` where five doublings do not do.
    """
    bits = 256 + 4 * count
    for _ in range(5):
        with flint.ctx.workprec(bits):
            found = _long_enough(_Balls(), expr, symbol, count)
            scale = max((abs(c.mid()) for c in found), default=flint.arb(0)) + flint.arb(10) ** -300
            goal = scale * flint.arb(10) ** -digits
            if all(c.rad() <= goal for c in found):
                return [flint.arb(0) if c.contains(flint.arb(0)) else c for c in found]
        bits *= 2
    raise TooMuchWork(f"{count} Taylor coefficients would need more than {bits // 2} bits")


def _long_enough(field: Any, expr: sympy.Expr, symbol: sympy.Symbol, count: int) -> Series:
    asked = count
    for _ in range(4):
        try:
            found = Walker(field, symbol, asked).series(expr)
        except KeyError:  # a constant such as log(0) that has no value
            raise NoTaylorSeries(expr, "is not defined") from None
        if len(found) >= count:
            return found[:count]
        asked += count - len(found)  # what divisions such as sin(x)/x cost
    raise NoTaylorSeries(expr, "is not resolved")
