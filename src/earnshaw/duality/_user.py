"""Any function of one variable as an activation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.symmetry import Symmetries, detected, probes
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_real


class UserFunction(DotProduct):
    """s(x) = function(x) for a user's elementwise function; a black box.

    `kinks` are the points where it is not smooth. A function written with `jax.numpy` can also be
    differentiated and compiled; one written with NumPy can only be turned into a potential.
    """

    known: ClassVar[bool] = False
    differentiable: ClassVar[bool] = False
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

    @property
    def symmetries(self) -> Symmetries:
        """Those it shows to rounding at 0.001 <= |x| <= 1000 and around its kinks: not proven."""
        return detected(self, probes(self.points))

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
