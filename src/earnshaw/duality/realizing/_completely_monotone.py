"""Proofs that a radial formula is positive semidefinite in every dimension: Schoenberg's theorem.

f(|x|) is positive semidefinite on R^d for every d if and only if f(r) = g(r^2) with g completely
monotone (g >= 0, g' <= 0, g'' >= 0, ...): a mixture of Gaussians. Such g, and the Bernstein
functions b (b >= 0, b' completely monotone), are closed under enough operations that the shape of a
formula often proves it at once (Schilling, Song and Vondracek, Bernstein Functions). Here a
function *rises* if its derivative in t = r^2 is completely monotone, and *falls* if that of -f is:

- completely monotone: constants >= 0, sums, products, exp(f) where f falls, b^(-s) where b >= 0
  rises, erfc(b^(1/2)) and cosh(b^(1/2))^(-s) where b >= 0 rises;
- rising: constants, r^p for 0 < p <= 2, sums, b^s for 0 < s <= 1 and log(b) where b >= 0 rises, and
  what falls, times a number < 0.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy

from earnshaw.duality.formulas.expression import RADIUS
from earnshaw.duality.formulas.symbolic import ball
from earnshaw.numerics.budget import interruptible

_Rule = Callable[[sympy.Expr], bool]


@interruptible("looking for a proof")
def completely_monotone(f: sympy.Expr) -> bool:
    """Whether a proof was found that f(r) is completely monotone in r^2. False is no disproof."""
    if not f.has(RADIUS):
        return _non_negative(f)
    if f.is_Add or f.is_Mul:
        return all(completely_monotone(part) for part in f.args)
    if f.func is sympy.exp:
        return _falls(f.args[0])
    if f.func is sympy.erfc:
        return _is_root(f.args[0])
    if not f.is_Pow:
        return False
    base, exponent = f.base, f.exp
    if not base.has(RADIUS):  # a^g = exp(g log a)
        return _falls(sympy.log(base) * exponent)
    if exponent.is_Integer and exponent > 0:
        return completely_monotone(base)
    if not (exponent.is_number and exponent.is_negative):
        return False
    return _is_bernstein(base) or (base.func is sympy.cosh and _is_root(base.args[0]))


def _rises(f: sympy.Expr) -> bool:
    if not f.has(RADIUS) or f == RADIUS:
        return True
    if f.is_Add:
        return all(_rises(part) for part in f.args)
    if f.is_Mul:
        return _times_constant(f, _rises, _falls)
    if f.is_Pow and f.exp.is_Rational:
        return (f.base == RADIUS and 0 < f.exp <= 2) or (0 < f.exp <= 1 and _is_bernstein(f.base))
    return f.func is sympy.log and _is_bernstein(f.args[0])


def _falls(f: sympy.Expr) -> bool:
    if not f.has(RADIUS):
        return True
    if f.is_Add:
        return all(_falls(part) for part in f.args)
    if f.is_Mul and _times_constant(f, _falls, _rises):
        return True
    return completely_monotone(f)


def _times_constant(f: sympy.Expr, same: _Rule, opposite: _Rule) -> bool:
    """Whether f = c g, and g goes the same way for c > 0, or the opposite one for c < 0."""
    constant, rest = f.as_independent(RADIUS, as_Add=False)
    if constant == 1:
        return False
    return same(rest) if _non_negative(constant) else _non_negative(-constant) and opposite(rest)


def _is_bernstein(f: sympy.Expr) -> bool:
    return _rises(f) and _non_negative(f.subs(RADIUS, 0))


def _is_root(f: sympy.Expr) -> bool:
    """Whether f >= 0 is the root of a Bernstein function: c r, c sqrt(1 + r^2)."""
    return _non_negative(f.subs(RADIUS, 1)) and _is_bernstein(sympy.expand(f**2))


def _non_negative(constant: sympy.Expr) -> bool:
    return bool(constant.is_zero) or bool(ball(constant) >= 0)
