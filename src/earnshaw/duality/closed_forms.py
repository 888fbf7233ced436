"""Potentials on the sphere that can be written down: f(rho) = E[s(u) s(v)], raw, as formulas.

For unit vectors, N(0, I) inputs and the default parameters of each activation, in the words that
`ew.realize` reads (EPD, Table 1, with its errors mended: mathematics.md, errors 4 and 5). The
library computes them otherwise, for all norms; a test compares the two. `realize` looks here for
an activation that is known by name.
"""

from __future__ import annotations

_RELU = "(sqrt(1-rho^2) + (pi-acos(rho))*rho)/(2*pi)"
_FLIPPED = "(sqrt(1-rho^2) - acos(rho)*rho)/(2*pi)"  # E[u_+ (-v)_+]

ON_SPHERE = {
    "sign": "2*asin(rho)/pi",
    "step": "1/4 + asin(rho)/(2*pi)",
    "relu": _RELU,
    "leaky-relu": f"1.0001*{_RELU} - 0.02*{_FLIPPED}",
    "relu2": "(3*rho*sqrt(1-rho^2) + (pi-acos(rho))*(1+2*rho^2))/(2*pi)",
    "relu3": "(sqrt(1-rho^2)*(4+11*rho^2) + (pi-acos(rho))*(9*rho+6*rho^3))/(2*pi)",
    "erf": "2*asin(2*rho/3)/pi",
    "normal-cdf": "1/4 + asin(rho/2)/(2*pi)",
    "gelu": "rho/4 + (1/sqrt(4-rho^2) + rho*atan(rho/sqrt(4-rho^2)))/(2*pi)",
    "sin": "exp(-1)*sinh(rho)",
    "cos": "exp(-1)*cosh(rho)",
    "rbf": "exp(2*rho-2)",
    "exponential": "exp(1+rho)",
    "gaussian-bump": "1/sqrt(4-rho^2)",
}
