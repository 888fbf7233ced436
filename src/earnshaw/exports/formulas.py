"""Every dot-product activation as NumPy expressions in x and its parameters, in capitals.

Lines before the last are statements. Derivatives at kinks have the values that JAX gives the
library's activations: 1/2 for relu, the right one for leaky-relu and laplace, the left one for elu.
"""

from __future__ import annotations

from typing import NamedTuple

from earnshaw.activations.base import DotProduct
from earnshaw.activations.exponential import Exponential, GaussianBump, Laplace
from earnshaw.activations.hermite import HermiteSum
from earnshaw.activations.oscillating import Cos, Rbf, Sin
from earnshaw.activations.rectified import LeakyRelu, Relu, ReluCubed, ReluSquared, Sign, Step
from earnshaw.activations.sigmoidal import Erf, Logistic, NormalCdf, Tanh
from earnshaw.activations.soft_rectified import Elu, Gelu, Mish, Silu, Softplus


class Formula(NamedTuple):
    """s(x) in words, and s and s' in NumPy."""

    words: str
    value: str
    derivative: str


FORMULAS: dict[type[DotProduct], Formula] = {
    Sign: Formula("sgn(x)", "np.sign(x)", "np.zeros_like(x)"),
    Step: Formula("1 for x > 0, 0 for x < 0, 1/2 at 0", "np.heaviside(x, 0.5)", "np.zeros_like(x)"),
    Relu: Formula("max(0, x)", "np.maximum(x, 0.0)", "np.heaviside(x, 0.5)"),
    LeakyRelu: Formula(
        "negative_slope x for x < 0, positive_slope x for x >= 0",
        "np.where(x < 0, NEGATIVE_SLOPE, POSITIVE_SLOPE) * x",
        "np.where(x < 0, NEGATIVE_SLOPE, POSITIVE_SLOPE)",
    ),
    ReluSquared: Formula("max(0, x)^2", "np.maximum(x, 0.0) ** 2", "2 * np.maximum(x, 0.0)"),
    ReluCubed: Formula("max(0, x)^3", "np.maximum(x, 0.0) ** 3", "3 * np.maximum(x, 0.0) ** 2"),
    Erf: Formula(
        "erf(x), the error function", "erf(x)", "2 / math.sqrt(math.pi) * np.exp(-(x**2))"
    ),
    NormalCdf: Formula("P(N(0, 1) <= x)", "normal_cdf(x)", "normal_density(x)"),
    Sin: Formula("sin(x)", "np.sin(x)", "np.cos(x)"),
    Cos: Formula("cos(x)", "np.cos(x)", "-np.sin(x)"),
    Rbf: Formula(
        "sqrt(2) sin(sqrt(2 gamma) x + pi/4)",
        "math.sqrt(2) * np.sin(math.sqrt(2 * GAMMA) * x + math.pi / 4)",
        "2 * math.sqrt(GAMMA) * np.cos(math.sqrt(2 * GAMMA) * x + math.pi / 4)",
    ),
    Exponential: Formula(
        "exp(rate x + shift)", "np.exp(RATE * x + SHIFT)", "RATE * np.exp(RATE * x + SHIFT)"
    ),
    GaussianBump: Formula(
        "exp(curvature x^2)",
        "np.exp(CURVATURE * x**2)",
        "2 * CURVATURE * x * np.exp(CURVATURE * x**2)",
    ),
    Laplace: Formula(
        "exp(-|x|)", "np.exp(-np.abs(x))", "np.where(x < 0, 1.0, -1.0) * np.exp(-np.abs(x))"
    ),
    Tanh: Formula("tanh(x)", "np.tanh(x)", "4 * logistic(2 * x) * logistic(-2 * x)"),
    Logistic: Formula("1 / (1 + exp(-x))", "logistic(x)", "logistic(x) * logistic(-x)"),
    Gelu: Formula(
        "x P(N(0, 1) <= x)", "x * normal_cdf(x)", "normal_cdf(x) + x * normal_density(x)"
    ),
    Softplus: Formula("log(1 + exp(x))", "np.logaddexp(0.0, x)", "logistic(x)"),
    Silu: Formula("x / (1 + exp(-x))", "x * logistic(x)", "logistic(x) * (1 + x * logistic(-x))"),
    Mish: Formula(
        "x tanh(log(1 + exp(x)))",
        "x * np.tanh(np.logaddexp(0.0, x))",
        "gate = np.tanh(np.logaddexp(0.0, x))\ngate + x * (1 - gate**2) * logistic(x)",
    ),
    Elu: Formula(
        "x for x > 0, alpha (exp(x) - 1) for x <= 0",
        "np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0.0)))",
        "np.where(x > 0, 1.0, ALPHA * np.exp(np.minimum(x, 0.0)))",
    ),
    HermiteSum: Formula(
        "sum_n coefficients_n he_n(x)",
        "hermite_sum(COEFFICIENTS, x)",
        "orders = np.arange(1, len(COEFFICIENTS))  # he_n' = sqrt(n) he_(n-1)\n"
        "hermite_sum(np.sqrt(orders) * COEFFICIENTS[1:], x)",
    ),
}
