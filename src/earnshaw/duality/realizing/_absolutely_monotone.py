"""Proofs that every Taylor coefficient of a formula is non-negative.

Such functions (absolutely monotone at 0) are closed under sums, products, and composition with
functions of the same kind, so the shape of a formula often proves it at once:

- constants >= 0, rho, sums, products, non-negative integer powers;
- exp(g) when g grows, i.e. g - g(0) is absolutely monotone (g(0) only scales it);
- sinh, cosh, besseli(n, .), asin, atanh, tan and 1/cos of an absolutely monotone g, the last four
  while g(1) stays within their radius of convergence;
- b^(-s), and -b^s for 0 < s < 1, -log(b), -acos(g) up to a constant, where b falls from b(0) > 0
  and stays >= 0.

Where the shape does not decide, f is absolutely monotone if and only if f(0) >= 0 and f' is. That
settles the dual of relu, whose terms fail one by one while f' = (pi - acos(rho))/pi does not.
Signs and comparisons of constants are decided by ball arithmetic, never by rounding.
"""

from __future__ import annotations

import sympy

from earnshaw.duality.formulas.expression import RHO
from earnshaw.duality.formulas.symbolic import ball, derivative
from earnshaw.numerics.budget import interruptible

MAX_DERIVATIVES = 4
_MAX_OPERATIONS = 120  # beyond it SymPy's simplify takes seconds
_PIECEWISE = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.Max, sympy.Min, sympy.DiracDelta)
_HALF_PI = sympy.pi / 2


def absolutely_monotone(expr: sympy.Expr, symbol: sympy.Symbol = RHO) -> bool:
    """Whether a proof was found that every Taylor coefficient of `expr` at 0 is >= 0.

    True is a proof, and then the series converges to `expr` on (-1, 1). False is no disproof.
    """
    return proof_of_monotonicity(expr, symbol) is not None


@interruptible("looking for a proof")
def proof_of_monotonicity(expr: sympy.Expr, symbol: sympy.Symbol = RHO) -> str | None:
    """The proof in a few words, or None where none was found."""
    # A kink or a step has no convergent series, whatever its pieces look like near 0.
    if expr.has(*_PIECEWISE):
        return None
    rules = _Rules(symbol)
    for order in range(MAX_DERIVATIVES + 1):
        if any(rules.monotone(form) for form in (expr, _expanded(expr))):
            if order == 0:
                return "it is built from functions with non-negative Taylor coefficients"
            shape = f", {expr}," if sympy.count_ops(expr) < 12 else ""
            ordinal = ("", "first", "second", "third", "fourth")[order]
            return (
                f"its {ordinal} derivative{shape} is built from functions with non-negative Taylor "
                "coefficients, and the lower ones are >= 0 at 0"
            )
        if not rules.at_zero(expr):
            return None
        expr = _simplified(derivative(expr, symbol))
    return None


def _expanded(expr: sympy.Expr) -> sympy.Expr:
    return sympy.expand(expr) if _is_small(expr) else expr


def _simplified(expr: sympy.Expr) -> sympy.Expr:
    return sympy.simplify(expr) if _is_small(expr) else expr


def _is_small(expr: sympy.Expr) -> bool:
    """Whether SymPy may expand and simplify it: large powers of sums would take for ever."""
    powers = [p.exp for p in expr.atoms(sympy.Pow) if p.base.is_Add and p.exp.is_Rational]
    if expr.has(sympy.besselj, sympy.besseli, sympy.besselk, sympy.gamma, sympy.erf, sympy.erfc):
        return False
    return sympy.count_ops(expr) <= _MAX_OPERATIONS and all(abs(s) <= 12 for s in powers)


class _Rules:
    """`monotone`: all coefficients >= 0. `grows`: all but the constant one. `falls`: -f grows."""

    def __init__(self, symbol: sympy.Symbol) -> None:
        self.symbol = symbol

    def monotone(self, f: sympy.Expr) -> bool:
        return self.at_zero(f) and self.grows(f)

    def grows(self, f: sympy.Expr) -> bool:
        if not f.has(self.symbol) or f == self.symbol:
            return True
        if f.is_Add:
            return all(self.grows(term) for term in f.args)
        if f.is_Mul:
            return self.product(f, 1)
        if f.is_Pow:
            return self.power_grows(f.base, f.exp)
        g = f.args[-1]
        match f.func:
            case sympy.exp:
                return self.grows(g)
            case sympy.sinh | sympy.cosh:
                return self.monotone(g)
            case sympy.asin | sympy.atanh:
                return self.monotone(g) and self.at_one(1 - g)
            case sympy.tan:
                return self.monotone(g) and self.at_one(_HALF_PI - g)
            case sympy.besseli:
                return f.args[0].is_Integer and f.args[0] >= 0 and self.monotone(g)
            case sympy.log:  # log(b^-s) = -s log(b)
                return g.is_Pow and bool(g.exp.is_negative) and self.falls(sympy.log(g.base))
        return False

    def falls(self, f: sympy.Expr) -> bool:
        if not f.has(self.symbol) or f == self.symbol:
            return f != self.symbol
        if f.is_Add:
            return all(self.falls(term) for term in f.args)
        if f.is_Mul:
            return self.product(f, -1)
        if f.is_Pow:
            return bool(f.exp.is_number and 0 < f.exp < 1) and self.remains(f.base)
        g = f.args[-1]
        if f.func is sympy.log:
            return self.remains(g) or self.cosine(g)
        if f.func is sympy.acos:
            return self.monotone(g) and self.at_one(1 - g)
        return False

    def product(self, f: sympy.Expr, direction: int) -> bool:
        """A constant times one factor, which may go either way, or several, >= 0 or <= 0."""
        constant, rest = f.as_independent(self.symbol, as_Add=False)
        sign = 1 if self.positive(constant) else -1 if self.positive(-constant) else 0
        if sign and not rest.is_Mul:
            return self.grows(rest) if sign == direction else self.falls(rest)
        for factor in rest.args:
            if self.non_negative(-factor.subs(self.symbol, 0)) and self.falls(factor):
                sign = -sign
            elif not self.monotone(factor):
                return False
        return sign == direction

    def power_grows(self, base: sympy.Expr, exponent: sympy.Expr) -> bool:
        if not base.has(self.symbol):  # a^g = exp(g log a)
            rate = sympy.log(base)
            return self.grows(exponent) if self.positive(rate) else self.falls(exponent)
        if exponent.is_Integer and exponent > 0:
            return self.monotone(base)
        if exponent.is_number and exponent.is_negative:
            return self.remains(base) or self.cosine(base)
        return False

    def remains(self, b: sympy.Expr) -> bool:
        """Whether b falls from b(0) > 0 and is >= 0 at 1, so that |b(0) - b| < b(0) in the disc."""
        return self.positive(b.subs(self.symbol, 0)) and self.at_one(b) and self.falls(b)

    def cosine(self, b: sympy.Expr) -> bool:
        """Whether b = cos(g): -log cos, the integral of tan, is absolutely monotone."""
        return (
            b.func is sympy.cos and self.monotone(b.args[0]) and self.at_one(_HALF_PI - b.args[0])
        )

    def at_zero(self, f: sympy.Expr) -> bool:
        return self.non_negative(f.subs(self.symbol, 0))

    def at_one(self, f: sympy.Expr) -> bool:
        return self.non_negative(f.subs(self.symbol, 1))

    @staticmethod
    def non_negative(constant: sympy.Expr) -> bool:
        return bool(constant.is_zero) or bool(ball(constant) >= 0)

    @staticmethod
    def positive(constant: sympy.Expr) -> bool:
        return bool(ball(constant) > 0)
