"""The dot-product activations by name."""

from __future__ import annotations

from collections.abc import Callable

from earnshaw.activations.base import DotProduct
from earnshaw.activations.exponential import Exponential, GaussianBump, Laplace
from earnshaw.activations.hermite import hermite, polynomial
from earnshaw.activations.oscillating import Cos, Rbf, Sin
from earnshaw.activations.rectified import LeakyRelu, Relu, ReluCubed, ReluSquared, Sign, Step
from earnshaw.activations.sigmoidal import Erf, Logistic, NormalCdf, Tanh
from earnshaw.activations.soft_rectified import Elu, Gelu, Mish, Silu, Softplus

DOT_PRODUCT: dict[str, Callable[..., DotProduct]] = {
    "sign": Sign,
    "step": Step,
    "relu": Relu,
    "leaky-relu": LeakyRelu,
    "relu2": ReluSquared,
    "relu3": ReluCubed,
    "erf": Erf,
    "normal-cdf": NormalCdf,
    "sin": Sin,
    "cos": Cos,
    "rbf": Rbf,
    "exponential": Exponential,
    "gaussian-bump": GaussianBump,
    "gelu": Gelu,
    "hermite": hermite,
    "polynomial": polynomial,
    "laplace": Laplace,
    "tanh": Tanh,
    "logistic": Logistic,
    "softplus": Softplus,
    "silu": Silu,
    "mish": Mish,
    "elu": Elu,
}
