"""Means of powers over half-lines against 40-digit arithmetic, far tails included."""

from __future__ import annotations

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from earnshaw.numerics.tail_moments import half_line_mean


@pytest.mark.parametrize("power", [0, 1, 2, 3])
def test_half_line_mean(power):
    """E[max(0, x + tau Z)^n], by quadrature; relative to itself."""
    rows = [(-20.0, 1.0), (-3.0, 2.0), (0.0, 1e-4), (1e-5, 1e-4), (2.0, 1.0), (30.0, 0.1)]
    found = np.asarray(half_line_mean(power, *jnp.asarray(rows).T))
    for (x, tau), value in zip(rows, found, strict=True):
        with mpmath.workdps(40):
            start = max(mpmath.mpf(-x) / tau, mpmath.mpf(-12))
            edges = [start + step for step in (0, 0.2, 1, 3, 8, 16, 26)]
            wanted = mpmath.quad(lambda z: (x + tau * z) ** power * mpmath.npdf(z), edges)  # noqa: B023
        assert value == pytest.approx(float(wanted), rel=1e-13)


def test_without_noise():
    """tau = 0 is the power itself."""
    x = jnp.asarray([-1.0, 0.0, 2.0])
    assert half_line_mean(2, x, jnp.zeros(3)).tolist() == [0.0, 0.0, 4.0]
    assert half_line_mean(0, x, jnp.zeros(3)).tolist() == [0.0, 0.5, 1.0]
