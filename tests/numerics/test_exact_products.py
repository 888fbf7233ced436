"""q1 q2 - c^2 beside exact fractions, also compiled, where operations are fused."""

from fractions import Fraction

import jax
import numpy as np
import pytest

from earnshaw.numerics.exact_products import product_minus_square


@pytest.mark.parametrize("compute", [product_minus_square, jax.jit(product_minus_square)])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_all_digits_may_cancel(compute, scale):
    rng = np.random.default_rng(1)
    q1, q2 = scale * rng.uniform(0.1, 10.0, (2, 400))
    c = np.sqrt(q1) * np.sqrt(q2) * (1 - 10.0 ** rng.uniform(-17, 0, 400))
    found = np.asarray(compute(q1, q2, c * rng.choice([-1, 1], 400)))
    for a, b, e, value in zip(q1, q2, c, found, strict=True):
        product = Fraction(a) * Fraction(b)
        truth = product - Fraction(e) ** 2
        assert abs(Fraction(value) - truth) <= abs(truth) / 10**15 + product / 10**31
