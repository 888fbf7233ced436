"""tanh, the logistic function, and what is built on it: softplus, silu and mish.

All are analytic in a strip around the real line. Their duals have no closed form and are summed as
Hermite series (`series/_hermite_series.py`), which bound their own error.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import DotProduct, NumpyFormula
from earnshaw.duality.symmetry import ODD, Symmetries


def logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), which overflows for no x."""
    return np.exp(np.minimum(x, 0.0)) / (1 + np.exp(-np.abs(x)))


@ACTIVATIONS.register("tanh")
class Tanh(DotProduct):
    """The hyperbolic tangent."""

    name = "tanh"
    symmetries = ODD
    in_numpy = NumpyFormula(
        "tanh(x)", "np.tanh(x)", "4 * logistic(2 * x) * logistic(-2 * x)", (logistic,)
    )

    def __call__(self, x: ArrayLike) -> Array:
        """tanh(x)."""
        return jnp.tanh(jnp.asarray(x, dtype=float))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """tanh(x)."""
        return torch.tanh(x)


@ACTIVATIONS.register("logistic")
class Logistic(DotProduct):
    """1 / (1 + exp(-x))."""

    name = "logistic"
    symmetries = Symmetries(flip=-1, constant=1.0)
    in_numpy = NumpyFormula(
        "1 / (1 + exp(-x))", "logistic(x)", "logistic(x) * logistic(-x)", (logistic,)
    )

    def __call__(self, x: ArrayLike) -> Array:
        """1 / (1 + exp(-x))."""
        return jax.nn.sigmoid(jnp.asarray(x, dtype=float))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """1 / (1 + exp(-x))."""
        return torch.sigmoid(x)


@ACTIVATIONS.register("softplus")
class Softplus(DotProduct):
    """log(1 + exp(x))."""

    name = "softplus"
    symmetries = Symmetries(flip=1, linear=1.0)
    in_numpy = NumpyFormula("log(1 + exp(x))", "np.logaddexp(0.0, x)", "logistic(x)", (logistic,))

    def __call__(self, x: ArrayLike) -> Array:
        """log(1 + exp(x))."""
        return jax.nn.softplus(jnp.asarray(x, dtype=float))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """log(1 + exp(x)); PyTorch's own softplus gives up at x = 20."""
        return torch.logaddexp(x, torch.zeros_like(x))


@ACTIVATIONS.register("silu")
class Silu(DotProduct):
    """x / (1 + exp(-x)), also called swish."""

    name = "silu"
    symmetries = Symmetries(flip=1, linear=1.0)
    in_numpy = NumpyFormula(
        "x / (1 + exp(-x))", "x * logistic(x)", "logistic(x) * (1 + x * logistic(-x))", (logistic,)
    )

    def __call__(self, x: ArrayLike) -> Array:
        """x / (1 + exp(-x))."""
        return jax.nn.silu(jnp.asarray(x, dtype=float))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """x / (1 + exp(-x))."""
        return x * torch.sigmoid(x)


@ACTIVATIONS.register("mish")
class Mish(DotProduct):
    """x tanh(log(1 + exp(x)))."""

    name = "mish"
    in_numpy = NumpyFormula(
        "x tanh(log(1 + exp(x)))",
        "x * np.tanh(np.logaddexp(0.0, x))",
        "gate = np.tanh(np.logaddexp(0.0, x))\ngate + x * (1 - gate**2) * logistic(x)",
        (logistic,),
    )

    def __call__(self, x: ArrayLike) -> Array:
        """x tanh(softplus(x))."""
        x = jnp.asarray(x, dtype=float)
        return x * jnp.tanh(jax.nn.softplus(x))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """x tanh(log(1 + exp(x)))."""
        return x * torch.tanh(Softplus.in_torch(torch, x))
