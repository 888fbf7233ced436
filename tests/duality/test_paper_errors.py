"""Errors 4 and 5 of MATH.md: what EPD's Table 1 prints is wrong, what earnshaw has is right.

The others that concern potentials are beside what they are about: 6 and 10 in
tests/potentials/test_gaussian.py and test_harmonic.py, 7 and 8 in test_synthetic.py and
test_sphere.py, 9 and 11 in test_space.py.
"""

from __future__ import annotations

import numpy as np

import earnshaw as ew
from reference import ACTIVATIONS, TWO, plane_mean


def test_error_4_sign_has_no_factor_sqrt_2():
    """EPD, Table 1: sqrt(2) sgn is printed for 1 - (2/pi) arccos(rho); its potential is twice."""
    rho = 0.37
    stated = 1 - 2 / np.pi * np.arccos(rho)
    printed = plane_mean(lambda x: TWO.sqrt() * ACTIVATIONS["sign"](x), rho)
    np.testing.assert_allclose(float(printed), 2 * stated, rtol=1e-14)
    np.testing.assert_allclose(ew.potential("sign", normalize=False)(rho), stated, rtol=1e-14)


def test_error_5_exponential_is_shifted_by_one_not_two():
    """EPD, Table 1: exp(x - 2) is printed for exp(rho - 1); its potential is exp(rho - 3)."""
    rho = -0.2
    printed = plane_mean(lambda x: (x - 2).exp(), rho)
    np.testing.assert_allclose(float(printed), np.exp(rho - 3), rtol=1e-13)
    ours = ew.potential("exponential", normalize=False, rate=1.0, shift=-1.0)
    np.testing.assert_allclose(ours(rho), np.exp(rho - 1), rtol=1e-14)
    exact = plane_mean(lambda x: (x - 1).exp(), rho)
    np.testing.assert_allclose(ours(rho), float(exact), rtol=1e-13)
