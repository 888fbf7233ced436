"""Where a formula is not smooth: the zeros of what its steps, corners and roots depend on.

abs(g), sign(g), heaviside(g) and powers g^a with a fraction a switch where g = 0, max(g, h) and
min(g, h) where g = h, asin(g) and acos(g) where |g| = 1. Zeros of rational polynomials and of
affine functions are exact; others are found between 1e-3 and 100 in size, from changes of sign
(bisected), and from changes of sign of the derivative where g only touches 0. Two zeros closer
together than 0.01 can be missed. A point at which nothing happens after all, as 0 for abs(x)^4, may
be among them: it costs quadratures a panel.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

import numpy as np
import sympy

from earnshaw.duality.formulas.symbolic import at_points, degree_bound, derivative
from earnshaw.numerics.budget import interruptible

_MAX_DEGREE = 60  # of a polynomial whose roots are found exactly
_TOUCH = 1e-9  # relative: what is this small where it turns round touches 0


@lru_cache(maxsize=256)
@interruptible("looking for the kinks of the formula")
def switching_points(
    expr: sympy.Expr, symbol: sympy.Symbol, both_sides: bool = False
) -> tuple[float, ...]:
    """The points > 0 where `expr` may fail to be smooth, in order; with `both_sides`, all."""
    points: set[float] = set()
    for switch, idle in _switches(expr):
        roots = np.array(_roots(switch, symbol, both_sides))
        points.update(roots[np.abs(at_points(idle, symbol, roots)) <= _TOUCH].tolist())
    return tuple(sorted(points))


def _switches(expr: sympy.Expr) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """The expressions whose zeros are where `expr` may fail to be smooth.

    Each with another one, which is 0 there too unless the zero does not matter: two arguments of
    max are equal, and a third is larger.
    """
    always = sympy.Integer(0)
    for node in expr.atoms(sympy.Heaviside, sympy.sign, sympy.Abs):
        yield node.args[0], always
    for node in expr.atoms(sympy.Max, sympy.Min):
        for left, right in combinations(node.args, 2):
            yield left - right, (node - left) / (1 + sympy.Abs(left))
    for node in expr.atoms(sympy.asin, sympy.acos):
        yield node.args[0] - 1, always
        yield node.args[0] + 1, always
    for node in expr.atoms(sympy.Pow):
        if node.exp.is_number and not node.exp.is_Integer:
            yield node.base, always


def _roots(switch: sympy.Expr, symbol: sympy.Symbol, both_sides: bool) -> list[float]:
    """The zeros > 0, or all: exact where affine or a rational polynomial, else numerical."""
    if not switch.has(symbol):
        return []
    degree = degree_bound(switch, symbol)
    roots: list[float] | None = None
    if degree is not None and degree <= _MAX_DEGREE:
        polynomial = switch.as_poly(symbol)
        if polynomial.degree() <= 0:
            return []
        if polynomial.domain in (sympy.ZZ, sympy.QQ):
            roots = [float(root) for root in polynomial.real_roots()]
        elif polynomial.degree() == 1:
            slope, level = polynomial.all_coeffs()
            roots = [float(-level / slope)]
    if roots is None:
        small, large = np.geomspace(1e-3, 0.1, 400, endpoint=False), np.linspace(0.1, 100, 9991)
        grid = np.concatenate([small, large])
        if both_sides:
            grid = np.concatenate([-grid[::-1], [0.0], grid])
        roots = _crossings(switch, symbol, grid)
        slope = derivative(switch, symbol)
        size = float(np.nanmax(np.abs(at_points(switch, symbol, grid)), initial=0.0))
        turns = np.array(_crossings(slope, symbol, grid))
        touching = np.abs(at_points(switch, symbol, turns)) <= _TOUCH * min(size, 1.0)
        roots += turns[touching].tolist()
    # Adding 0 makes -0 into 0.
    return [root + 0.0 for root in roots if both_sides or root > 0]


def _crossings(switch: sympy.Expr, symbol: sympy.Symbol, grid: np.ndarray) -> list[float]:
    """Where the sign of `switch` changes on the grid, bisected; and where it is 0."""
    values = at_points(switch, symbol, grid)
    change = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    left, right, below = grid[change], grid[change + 1], np.sign(values[change])
    for _ in range(60):  # bisection, all at once
        middle = (left + right) / 2
        same = np.sign(at_points(switch, symbol, middle)) == below
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return [*right.tolist(), *grid[values == 0].tolist()]
