"""Any function of one variable as an activation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.errors import EarnshawError, check_real


class UserFunction(DotProduct):
    """s(x) = function(x) for a user's elementwise function; a black box.

    `kinks` are the points where it is not smooth. A function written with `jax.numpy` can also be
    differentiated and compiled; one written with NumPy can only be turned into a potential.
    """

    function: Callable[[Any], Any] = eqx.field(static=True)
    points: tuple[float, ...] = eqx.field(default=(), static=True)
    label: str = eqx.field(default="user function", static=True)

    @property
    def name(self) -> str:
        """The label it was made under."""
        return self.label

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the user says the function is not smooth."""
        return self.points

    def __call__(self, x: ArrayLike) -> Array:
        """function(x)."""
        return jnp.asarray(self.function(jnp.asarray(x, dtype=float)), dtype=float)


def user_function(
    function: Callable[[Any], Any], kinks: Sequence[float] = (), name: str | None = None
) -> UserFunction:
    """Wrap an elementwise `function`; `kinks` says where it is not smooth."""
    if not callable(function):
        raise EarnshawError(f"an activation must be a name or a function, not {function!r}")
    points = tuple(sorted(check_real("kink", kink) for kink in kinks))
    label = name or str(getattr(function, "__name__", "user function"))
    return UserFunction(function, points, label)
