"""Rules that turn the power series of g into that of F(g), for every function of the whitelist.

Each F satisfies a differential equation (h = exp(g) has h' = g' h, and so on) that gives the
coefficients of F(g) one after another, so n of them cost n^2 operations and no symbolic
differentiation. A series is the list of its coefficients at 0; a `field` says how to compute with
them: `power_series.py` has an exact one and one of balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from earnshaw.errors import EarnshawError

Series = list[Any]


class NoTaylorSeries(EarnshawError):
    """The formula is not analytic at 0."""

    def __init__(self, part: Any, why: str) -> None:
        super().__init__(f"no Taylor series at 0: {part} {why} there")


class Walker:
    """Coefficients of every node of an expression, bottom up, with one method a function."""

    def __init__(self, field: Any, symbol: sympy.Symbol, count: int) -> None:
        self.field, self.symbol, self.count = field, symbol, count
        self.known: dict[sympy.Expr, Series] = {}

    def number(self, value: Any) -> Any:
        return self.field.constant(sympy.Integer(value) if isinstance(value, int) else value)

    def padded(self, *head: Any) -> Series:
        zero = self.number(0)
        return [*head, *[zero] * (self.count - len(head))][: self.count]

    def series(self, expr: sympy.Expr) -> Series:
        if expr not in self.known:
            self.known[expr] = self.node(expr)
        return self.known[expr]

    def node(self, expr: sympy.Expr) -> Series:
        if expr == self.symbol:
            return self.padded(self.number(0), self.number(1))
        if not expr.has(self.symbol):
            return self.padded(self.number(expr))
        if expr.is_Add:
            return self.add(*map(self.series, expr.args))
        if expr.is_Mul:
            # Divide last: sin(x)/x must not lose terms to 1/x first.
            up, down = sympy.fraction(expr)
            if down.has(self.symbol):
                return self.divide(self.series(up), self.series(down), down)
            total = self.series(expr.args[0])
            for factor in expr.args[1:]:
                total = self.multiply(total, self.series(factor))
            return total
        if expr.is_Pow:
            return self.power(expr)
        rule = getattr(self, f"_{expr.func.__name__.lower()}", None)
        if rule is None:
            raise NoTaylorSeries(expr, "has no known expansion")
        return rule(expr, *map(self.series, expr.args))

    # -- arithmetic ------------------------------------------------------------------------------

    def add(self, *parts: Series) -> Series:
        return [self.field.total(row) for row in zip(*parts, strict=False)]

    def scale(self, factor: Any, a: Series) -> Series:
        factor = self.number(factor)
        return [factor * value for value in a]

    def multiply(self, a: Series, b: Series) -> Series:
        return self.field.multiply(a, b)

    def valuation(self, a: Series, expr: Any) -> int:
        for order, value in enumerate(a):
            if not self.field.is_zero(value):
                return order
        raise NoTaylorSeries(expr, "vanishes to every order tried")

    def divide(self, a: Series, b: Series, expr: Any) -> Series:
        shift = self.valuation(b, expr)
        if not all(self.field.is_zero(value) for value in a[:shift]):
            raise NoTaylorSeries(1 / expr, "is singular")
        a, b = a[shift:], b[shift:]
        quotient: Series = []
        for k in range(min(len(a), len(b))):
            terms = [-b[j] * quotient[k - j] for j in range(1, k + 1)]
            quotient.append(self.field.total([(self.field.total([a[k], *terms])) / b[0]]))
        return quotient

    def primitive(self, start: Any, slope: Series, inner: Series) -> Series:
        """The series with value `start` at 0 and derivative slope * inner'."""
        slope = self.multiply(slope, [inner[k] * k for k in range(1, len(inner))])
        return [start, *(self.field.total([value / (k + 1)]) for k, value in enumerate(slope))]

    def power(self, expr: sympy.Expr) -> Series:
        base, exponent = expr.base, expr.exp
        if exponent.has(self.symbol):
            if base.is_number and not base.is_positive:
                raise NoTaylorSeries(expr, "is not defined")
            return self.series(sympy.exp(exponent * sympy.log(base), evaluate=False))
        g = self.series(base)
        if exponent.is_Integer and exponent < 0:
            return self.divide(self.padded(self.number(1)), self.series(base**-exponent), base)
        order = self.valuation(g, base)
        lifted = order * exponent
        if exponent.is_Integer and order and lifted >= self.count:
            return self.padded(self.number(0))
        # (x^v u)^s is |x|^(vs) u^s for even v: a power series only if vs is an even integer.
        if order and not exponent.is_Integer and (order % 2 or lifted < 0 or lifted % 2):
            raise NoTaylorSeries(expr, "is not analytic")
        g = g[order:]
        if not exponent.is_Integer and self.field.sign(g[0]) < 0:
            raise NoTaylorSeries(expr, "is not real")
        power, start = self.number(exponent), self.number(0)
        h: Series = [self.field.apply(sympy.Pow, g[0], power)]
        if exponent.is_Integer:
            h = [g[0] ** int(exponent)]
        for k in range(1, len(g)):
            terms = [(power * j - (k - j)) * g[j] * h[k - j] for j in range(1, k + 1)]
            h.append(self.field.total([self.field.total(terms) / (k * g[0])]))
        return [*[start] * int(lifted), *h][: self.count]

    # -- functions: h = F(g) from F's differential equation --------------------------------------

    def _exp(self, expr: Any, g: Series) -> Series:
        h = [self.field.apply(sympy.exp, g[0])]
        for k in range(1, len(g)):
            terms = [j * g[j] * h[k - j] for j in range(1, k + 1)]
            h.append(self.field.total([self.field.total(terms) / k]))
        return h

    def _log(self, expr: Any, g: Series) -> Series:
        self.demand(expr, g[0], "is singular")
        reciprocal = self.divide(self.padded(self.number(1)), g, expr)
        return self.primitive(self.field.apply(sympy.log, g[0]), reciprocal, g)

    def circular(self, g: Series, sign: int, first: Any, second: Any) -> tuple[Series, Series]:
        """(sin g, cos g) for sign -1, (sinh g, cosh g) for sign +1."""
        s, c = [self.field.apply(first, g[0])], [self.field.apply(second, g[0])]
        for k in range(1, len(g)):
            up = self.field.total([j * g[j] * c[k - j] for j in range(1, k + 1)]) / k
            down = self.field.total([j * g[j] * s[k - j] for j in range(1, k + 1)]) / k
            s.append(self.field.total([up]))
            c.append(self.field.total([sign * down]))
        return s, c

    def _sin(self, expr: Any, g: Series) -> Series:
        return self.circular(g, -1, sympy.sin, sympy.cos)[0]

    def _cos(self, expr: Any, g: Series) -> Series:
        return self.circular(g, -1, sympy.sin, sympy.cos)[1]

    def _tan(self, expr: Any, g: Series) -> Series:
        return self.divide(*self.circular(g, -1, sympy.sin, sympy.cos), sympy.cos(expr.args[0]))

    def _sinh(self, expr: Any, g: Series) -> Series:
        return self.circular(g, 1, sympy.sinh, sympy.cosh)[0]

    def _cosh(self, expr: Any, g: Series) -> Series:
        return self.circular(g, 1, sympy.sinh, sympy.cosh)[1]

    def _tanh(self, expr: Any, g: Series) -> Series:
        return self.divide(*self.circular(g, 1, sympy.sinh, sympy.cosh), expr)

    def demand(self, expr: Any, value: Any, why: str) -> None:
        """Refuse unless `value` > 0."""
        if self.field.is_zero(value) or self.field.sign(value) < 0:
            raise NoTaylorSeries(expr, why)

    def inverse(self, expr: Any, g: Series, slope: sympy.Expr, *positive: sympy.Expr) -> Series:
        """F(g) for F' = slope(g) algebraic, where the expressions `positive` are > 0 at 0."""
        argument = expr.args[0]
        for condition in positive:
            self.demand(expr, self.series(condition)[0], "is singular or not real")
        start = self.field.apply(expr.func, g[0])
        return self.primitive(start, self.series(slope), self.series(argument))

    def _asin(self, expr: Any, g: Series) -> Series:
        inside = 1 - expr.args[0] ** 2
        return self.inverse(expr, g, inside ** sympy.Rational(-1, 2), inside)

    def _acos(self, expr: Any, g: Series) -> Series:
        arc = self.scale(-1, self._asin(sympy.asin(expr.args[0], evaluate=False), g))
        return self.add(self.padded(self.number(sympy.pi / 2)), arc)

    def _atan(self, expr: Any, g: Series) -> Series:
        return self.inverse(expr, g, 1 / (1 + expr.args[0] ** 2))

    def _asinh(self, expr: Any, g: Series) -> Series:
        return self.inverse(expr, g, (1 + expr.args[0] ** 2) ** sympy.Rational(-1, 2))

    def _acosh(self, expr: Any, g: Series) -> Series:
        x = expr.args[0]
        return self.inverse(expr, g, (x**2 - 1) ** sympy.Rational(-1, 2), x - 1)

    def _atanh(self, expr: Any, g: Series) -> Series:
        inside = 1 - expr.args[0] ** 2
        return self.inverse(expr, g, 1 / inside, inside)

    def _erf(self, expr: Any, g: Series) -> Series:
        slope = 2 / sympy.sqrt(sympy.pi) * sympy.exp(-(expr.args[0] ** 2))
        return self.inverse(expr, g, slope)

    def _erfc(self, expr: Any, g: Series) -> Series:
        rest = self._erf(sympy.erf(expr.args[0], evaluate=False), g)
        return self.add(self.padded(self.number(1)), self.scale(-1, rest))

    def _gamma(self, expr: Any, g: Series) -> Series:
        if self.field.is_zero(g[0]):
            raise NoTaylorSeries(expr, "is singular")
        return self.compose(self.field.gamma(g[0], len(g)), g)

    # -- steps and kinks: analytic at 0 unless they happen at 0 ----------------------------------

    def side(self, expr: Any, g: Series, parity: int) -> int:
        """The sign of g on both sides of 0; a sign change there has no series."""
        order = self.valuation(g, expr)
        if order % 2 or (order and not parity):
            raise NoTaylorSeries(expr, "is not analytic")
        return self.field.sign(g[order])

    def _abs(self, expr: Any, g: Series) -> Series:
        return self.scale(self.side(expr, g, 1), g)

    def _sign(self, expr: Any, g: Series) -> Series:
        return self.padded(self.number(self.side(expr, g, 0)))

    def _heaviside(self, expr: Any, g: Series, at: Series) -> Series:
        return self.padded(self.number((1 + self.side(expr, g, 0)) // 2))

    def _max(self, expr: Any, *parts: Series) -> Series:
        return self.extremum(expr, 1, parts)

    def _min(self, expr: Any, *parts: Series) -> Series:
        return self.extremum(expr, -1, parts)

    def extremum(self, expr: Any, direction: int, parts: Sequence[Series]) -> Series:
        best = parts[0]
        for part in parts[1:]:
            gap = self.add(part, self.scale(-1, best))
            if self.side(expr, gap, 1) == direction:
                best = part
        return best

    # -- Bessel functions: outer coefficients from their equation, then composition --------------

    def compose(self, outer: Series, g: Series) -> Series:
        """sum_k outer_k (g - g_0)^k."""
        if all(self.field.is_zero(value) for value in g[2:]):
            slope = g[1] if len(g) > 1 else self.number(0)
            return [self.field.total([value * slope**k]) for k, value in enumerate(outer)]
        return self.field.compose(outer, [self.number(0), *g[1:]])

    def bessel(self, expr: Any, g: Series, sign: int, function: Any) -> Series:
        """J (sign -1), I and K (sign +1): z^2 F'' + z F' = (n^2 + sign z^2) F."""
        n, z = expr.args[0], g[0]
        outer: Series
        if self.field.is_zero(z):
            if function is sympy.besselk or not n.is_Integer:
                raise NoTaylorSeries(expr, "is singular")
            m = abs(int(n))
            flip = -1 if n < 0 and m % 2 and function is sympy.besselj else 1
            outer = [self.number(0)] * len(g)
            term = sympy.Rational(flip, 2**m * sympy.factorial(m))
            for k in range((len(g) - 1 - m) // 2 + 1 if len(g) > m else 0):
                outer[m + 2 * k] = self.number(term)
                term *= sympy.Rational(sign, 4 * (k + 1) * (m + k + 1))
            return self.compose(outer, g)
        if self.field.sign(z) < 0 and (function is sympy.besselk or not n.is_Integer):
            raise NoTaylorSeries(expr, "is not real")
        order, next_order = self.number(n), self.number(n + 1)
        value = self.field.apply(function, order, z)
        above = self.field.apply(function, next_order, z)
        # F' = (n/z) F - J_(n+1), + I_(n+1), - K_(n+1).
        flip = 1 if function is sympy.besseli else -1
        outer = [value, self.field.total([order * value / z + flip * above])]
        for k in range(len(g) - 2):
            terms = [-(k + 1) * (2 * k + 1) * z * outer[k + 1]]
            terms += [(order**2 + sign * z**2 - k**2) * outer[k]]
            terms += [2 * sign * z * outer[k - 1]] if k > 0 else []
            terms += [sign * outer[k - 2]] if k > 1 else []
            total = self.field.total(terms)
            outer.append(self.field.total([total / ((k + 2) * (k + 1) * z**2)]))
        return self.compose(outer[: len(g)], g)

    def _besselj(self, expr: Any, n: Series, g: Series) -> Series:
        return self.bessel(expr, g, -1, sympy.besselj)

    def _besseli(self, expr: Any, n: Series, g: Series) -> Series:
        return self.bessel(expr, g, 1, sympy.besseli)

    def _besselk(self, expr: Any, n: Series, g: Series) -> Series:
        return self.bessel(expr, g, 1, sympy.besselk)
