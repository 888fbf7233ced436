"""softsign: x / (1 + |x|), a sigmoid whose tails are powers, not exponentials.

It has one slope at 0 and two curvatures. Its dual has no closed form and is integrated over sectors
of the plane (`series/_sector_quadrature.py`).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import DotProduct, NumpyFormula
from earnshaw.duality.symmetry import ODD


@ACTIVATIONS.register("softsign")
class Softsign(DotProduct):
    """x / (1 + |x|)."""

    name = "softsign"
    kinks = (0.0,)
    symmetries = ODD
    in_numpy = NumpyFormula("x / (1 + |x|)", "x / (1 + np.abs(x))", "(1 + np.abs(x)) ** -2.0")

    def __call__(self, x: ArrayLike) -> Array:
        """x / (1 + |x|)."""
        x = jnp.asarray(x, dtype=float)
        return x / (1 + jnp.abs(x))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """x / (1 + |x|)."""
        return x / (1 + torch.abs(x))
