"""Activations of both Tables 1 that take more than a formula of NumPy's: he_m, and EPD's synthetic.

Written without the library's own: SciPy's Hermite polynomials, and coefficients in exact fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import special


def hermite(degree: int, x: np.ndarray) -> np.ndarray:
    """he_m(x), orthonormal under N(0, 1), elementwise: rho^m is its potential."""
    return special.eval_hermitenorm(degree, x) / math.sqrt(math.factorial(degree))


def synthetic_coefficients(dim: int, degree: int) -> np.ndarray:
    """c_0 .. c_N of f/f(1), shape (N + 1,), N = `degree` even; the odd ones are 0.

    f(rho) = sum_n c_n rho^n with Laplacian f = f on S^(d-1) but for the last power (EPD, Theorem
    4.4): c_(n+2) = c_n (n (n-1) + (d-1) n + 1)/((n+2) (n+1)).
    """
    c = [Fraction(1), Fraction(0)]
    for n in range(degree - 1):
        c.append(c[n] * (n * (n - 1) + (dim - 1) * n + 1) / ((n + 2) * (n + 1)))
    return np.array([float(value / sum(c)) for value in c])


def synthetic(dim: int, degree: int) -> Callable[[np.ndarray], np.ndarray]:
    """s = sum over even n of sqrt(c_n) he_n, whose potential is f/f(1)."""
    c = synthetic_coefficients(dim, degree)
    return lambda x: np.sum(
        [math.sqrt(c[n]) * hermite(n, x) for n in range(0, degree + 1, 2)], axis=0
    )
