"""Hermite polynomials against their definition and their orthonormality."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import hermite_e

from earnshaw.numerics.hermite import hermite_sum, monomials_in_hermite, weighted_hermite
from earnshaw.numerics.quadrature import panel_rule, split_edges, trapezoid_rule


@pytest.mark.parametrize("degree", [0, 1, 2, 7, 30])
def test_sum_against_numpy(degree):
    from math import factorial

    x = np.linspace(-4, 4, 9)
    unit = np.eye(degree + 1)[degree]
    expected = hermite_e.hermeval(x, unit) / np.sqrt(float(factorial(degree)))
    np.testing.assert_allclose(hermite_sum(jnp.asarray(unit), jnp.asarray(x)), expected, rtol=1e-10)


def test_orthonormal_under_the_gaussian():
    nodes, weights = trapezoid_rule(40.0, 0.05)
    rows = weighted_hermite(200, nodes)
    np.testing.assert_allclose((rows * weights) @ rows.T, np.eye(200), atol=1e-12)


def test_monomials():
    table = monomials_in_hermite(12)
    x = np.linspace(-2, 2, 5)
    for m in range(13):
        np.testing.assert_allclose(
            hermite_sum(jnp.asarray(table[m]), jnp.asarray(x)), x**m, atol=1e-9
        )


def test_panels_integrate_a_corner_exactly():
    nodes, weights = panel_rule(split_edges(3.0, np.array([0.3])))
    exact = (3.3**2 + 2.7**2) / 2
    np.testing.assert_allclose(weights @ np.abs(nodes - 0.3), exact, rtol=1e-14)
