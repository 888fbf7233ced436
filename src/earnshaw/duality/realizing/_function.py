"""Potentials given as functions of Python: f(rho) on the sphere, f(r) on R^d.

Nothing is known of them but values, so no answer is a proof. On the sphere the Taylor coefficients
are Fourier coefficients of f on a circle around 0 (Cauchy), if f takes complex numbers:

    c_n = mean of f(z) z^-n over |z| = 0.98, from 4096 points: right to 1e-14 of max |f| up to
    n = 200, for an f that is analytic in |z| < 1.

An f that is not (one with abs(rho), say) gives numbers that do not sum to it, which is noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.potential import Potential, Radial, Zonal
from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.limits import check_dim

CIRCLE, POINTS = 0.98, 4096


class _Function(eqx.Module):
    """What the two kinds share."""

    function: eqx.AbstractVar[Callable[[Any], Any]]

    @property
    def name(self) -> str:
        """That of the function."""
        return str(getattr(self.function, "__name__", "user function"))

    @property
    def error_bound(self) -> float | None:
        """None: a black box."""
        return None

    @property
    def error_estimate(self) -> float | None:
        """Rounding, if it does not cancel."""
        return 1e-13

    def value(self, argument: ArrayLike) -> Array:
        """The function, elementwise; one that JAX cannot trace is called back with numbers."""
        x = jnp.asarray(argument, dtype=float)
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        try:
            found = jax.eval_shape(self.function, shape)
            traced = getattr(found, "shape", None) == x.shape
        except Exception:  # whatever a function of NumPy or math makes of a tracer
            traced = False
        if traced:
            return jnp.asarray(self.function(x), dtype=float)
        function = self.function

        def called(x: Any) -> np.ndarray:
            values = np.asarray(function(np.array(x, dtype=float)), dtype=float)
            return np.broadcast_to(values, np.shape(x))

        return jax.pure_callback(called, shape, x, vmap_method="expand_dims")


class ZonalFunction(_Function, Zonal):
    """Phi = f(rho) for a user's function."""

    function: Callable[[Any], Any] = eqx.field(static=True)
    dim: int | None = eqx.field(static=True)

    def taylor(self, count: int) -> Any:
        """c_0 .. c_(count-1) by Cauchy's formula; None if f takes no complex numbers."""
        angles = 2 * np.pi * np.arange(POINTS) / POINTS
        circle = CIRCLE * np.exp(1j * angles)
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self.function(circle), dtype=complex)
        except Exception:  # one for real numbers only
            return None
        if values.shape != circle.shape or not np.all(np.isfinite(values)):
            return None
        return np.real(np.fft.fft(values)[:count] / POINTS) * CIRCLE ** -np.arange(float(count))


class RadialFunction(_Function, Radial):
    """Phi = f(r) on R^d for a user's function."""

    function: Callable[[Any], Any] = eqx.field(static=True)
    dim: int = eqx.field(static=True)


def function_potential(function: Callable[[Any], Any], on: str, dim: int | None) -> Potential:
    """The potential of an elementwise function of rho or of r, tried at one array."""
    if on not in ("sphere", "space"):
        raise UnknownName("manifold", str(on), ("sphere", "space"))
    probe = np.array([0.25, 0.5])
    try:
        values = np.asarray(function(probe), dtype=float)
    except Exception as error:
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"
        raise EarnshawError(
            f"the function fails at an array of numbers ({why}); "
            "allowed: an elementwise function of NumPy or JAX"
        ) from None
    if values.shape not in ((), probe.shape):
        raise EarnshawError(
            f"the function maps shape {probe.shape} to {values.shape}; "
            "allowed: an elementwise function of one variable"
        )
    if on == "sphere":
        return ZonalFunction(function=function, dim=None if dim is None else check_dim(dim, 2))
    return RadialFunction(function=function, dim=check_dim(dim))
