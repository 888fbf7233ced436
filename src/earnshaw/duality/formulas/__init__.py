"""Potentials given as expressions in rho, in r, or in x1, x2, ...: parsed, evaluated, expanded.

`_formula.py` parses from a whitelist of names; `expression.py` makes potentials of the result;
`symbolic.py` evaluates in JAX and in balls; `power_series.py` gives Taylor coefficients, exact or
in balls. Loads SymPy.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "CartesianExpression": "expression",
        "RadialExpression": "expression",
        "ZonalExpression": "expression",
        "parse_potential": "expression",
    },
)
