"""Activations given as formulas in x: `ew.activation("x*tanh(x)")`.

The text is read as that of a potential is, from the same whitelist. A polynomial becomes a
`HermiteSum`, whose potential is exact. Any other formula is a `FormulaActivation`: values and
derivatives in JAX from the formula, kinks found from it (`kinks.py`). Its potential is that of a
function of the user's own, with an error estimate, since nobody has proved anything about it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.families.hermite import MAX_POWER, HermiteSum, polynomial
from earnshaw.duality.formulas._formula import parse_formula
from earnshaw.duality.formulas.kinks import switching_points
from earnshaw.duality.formulas.symbolic import at_points, degree_bound, elementwise, numpy_function
from earnshaw.duality.symmetry import Symmetries, detected, probes
from earnshaw.errors import BadExpression

X = sympy.Symbol("x", real=True)
MAX_KINKS = 8  # the time of a quadrature grows with their third power: 15 s for 3


class FormulaActivation(DotProduct):
    """s(x) for a formula in x, with the kinks that were found in it."""

    known: ClassVar[bool] = False
    formula: str = eqx.field(static=True)

    @property
    def name(self) -> str:
        """The formula."""
        return self.formula

    @property
    def expr(self) -> sympy.Expr:
        """The formula as a SymPy expression in `X`."""
        return parse_formula(self.formula, (X,))

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where abs, sign, heaviside, relu, max, min, asin, acos or a root switches."""
        return switching_points(self.expr, X, both_sides=True)

    @property
    def symmetries(self) -> Symmetries:
        """Those it shows to rounding at 0.001 <= |x| <= 1000 and around its kinks: not proven."""
        return _symmetries(self.expr, self.kinks)

    def __call__(self, x: ArrayLike) -> Array:
        """s(x); where the formula reads 0/0 at 0, as in sin(x)/x, its limit.

        NumPy arrays, of which quadratures have many shapes, need not be compiled for.
        """
        if isinstance(x, np.ndarray):
            return jnp.asarray(numpy_function(self.expr, X, (0,))(x.astype(float)))
        return elementwise(self.expr, (X,), (0,))(jnp.asarray(x, dtype=float))

    def parameters(self) -> dict[str, Any]:
        """None: the formula is the name."""
        return {}


def formula_activation(text: str) -> DotProduct:
    """The activation of a formula in `x`, or one line that says what is wrong with it."""
    expr = parse_formula(text, (X,))
    degree = degree_bound(expr, X)
    if degree is not None and degree <= MAX_POWER:
        powers = [float(c) for c in reversed(sympy.Poly(expr, X).all_coeffs())]
        made = polynomial(powers)
        return HermiteSum(made.coefficients, text, made.powers)
    made_of = FormulaActivation(text)
    if len(made_of.kinks) > MAX_KINKS:
        raise BadExpression(
            f"the formula {text[:60]!r} has {len(made_of.kinks)} kinks with |x| <= 100; "
            f"allowed: at most {MAX_KINKS}"
        )
    return made_of


@lru_cache(maxsize=64)
def _symmetries(expr: sympy.Expr, kinks: tuple[float, ...]) -> Symmetries:
    return detected(lambda x: at_points(expr, X, np.asarray(x)), probes(kinks))
