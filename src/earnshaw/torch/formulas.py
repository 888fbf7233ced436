"""Every dot-product activation as plain PyTorch operations on x and its parameters.

At kinks the gradients are those of the library, hence `torch.maximum` (1/2 at 0) for relu, and no
`torch.abs` (0 at 0). PyTorch's softplus gives up at x = 20 and its ndtr in the left tail, so
neither is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from earnshaw.activations.base import DotProduct
from earnshaw.activations.exponential import Exponential, GaussianBump, Laplace
from earnshaw.activations.hermite import HermiteSum
from earnshaw.activations.oscillating import Cos, Rbf, Sin
from earnshaw.activations.rectified import LeakyRelu, Relu, ReluCubed, ReluSquared, Sign, Step
from earnshaw.activations.sigmoidal import Erf, Logistic, NormalCdf, Tanh
from earnshaw.activations.soft_rectified import Elu, Gelu, Mish, Silu, Softplus

Formula = Callable[..., Tensor]


def absolute(x: Tensor) -> Tensor:
    """|x| with the slope 1 at 0, as JAX has it."""
    return torch.where(x < 0, -x, x)


def step(x: Tensor) -> Tensor:
    """1 for x > 0, 0 for x < 0, 1/2 at 0."""
    return (torch.sign(x) + 1) / 2


def relu(x: Tensor) -> Tensor:
    """max(0, x)."""
    return torch.maximum(x, torch.zeros_like(x))


def leaky_relu(x: Tensor, negative_slope: Tensor, positive_slope: Tensor) -> Tensor:
    """Two half-lines that meet at 0."""
    return torch.where(x < 0, negative_slope, positive_slope) * x


def relu_squared(x: Tensor) -> Tensor:
    """max(0, x)^2."""
    return relu(x) ** 2


def relu_cubed(x: Tensor) -> Tensor:
    """max(0, x)^3."""
    return relu(x) ** 3


def rbf(x: Tensor, gamma: Tensor) -> Tensor:
    """sqrt(2) sin(sqrt(2 gamma) x + pi/4)."""
    return math.sqrt(2) * torch.sin(torch.sqrt(2 * gamma) * x + math.pi / 4)


def exponential(x: Tensor, rate: Tensor, shift: Tensor) -> Tensor:
    """exp(rate x + shift)."""
    return torch.exp(rate * x + shift)


def gaussian_bump(x: Tensor, curvature: Tensor) -> Tensor:
    """exp(curvature x^2)."""
    return torch.exp(curvature * x**2)


def laplace(x: Tensor) -> Tensor:
    """exp(-|x|)."""
    return torch.exp(-absolute(x))


def normal_cdf(x: Tensor) -> Tensor:
    """P(N(0, 1) <= x)."""
    return torch.erfc(-x / math.sqrt(2)) / 2


def gelu(x: Tensor) -> Tensor:
    """x P(N(0, 1) <= x)."""
    return x * normal_cdf(x)


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x))."""
    return torch.logaddexp(x, torch.zeros_like(x))


def silu(x: Tensor) -> Tensor:
    """x / (1 + exp(-x))."""
    return x * torch.sigmoid(x)


def mish(x: Tensor) -> Tensor:
    """x tanh(log(1 + exp(x)))."""
    return x * torch.tanh(softplus(x))


def elu(x: Tensor, alpha: Tensor) -> Tensor:
    """x for x > 0, alpha (exp(x) - 1) for x <= 0."""
    return torch.where(x > 0, x, alpha * torch.expm1(torch.where(x > 0, 0.0, x)))


def hermite_sum(x: Tensor, coefficients: Tensor) -> Tensor:
    """sum_n coefficients_n he_n(x), he_n orthonormal under N(0, 1)."""
    before, now, total = torch.zeros_like(x), torch.ones_like(x), torch.zeros_like(x)
    for n, coefficient in enumerate(coefficients.unbind()):
        total = total + coefficient * now
        before, now = now, (x * now - math.sqrt(n) * before) / math.sqrt(n + 1)
    return total


FORMULAS: dict[type[DotProduct], Formula] = {
    Sign: torch.sign,
    Step: step,
    Relu: relu,
    LeakyRelu: leaky_relu,
    ReluSquared: relu_squared,
    ReluCubed: relu_cubed,
    Erf: torch.erf,
    NormalCdf: normal_cdf,
    Sin: torch.sin,
    Cos: torch.cos,
    Rbf: rbf,
    Exponential: exponential,
    GaussianBump: gaussian_bump,
    Laplace: laplace,
    Tanh: torch.tanh,
    Logistic: torch.sigmoid,
    Gelu: gelu,
    Softplus: softplus,
    Silu: silu,
    Mish: mish,
    Elu: elu,
    HermiteSum: hermite_sum,
}
