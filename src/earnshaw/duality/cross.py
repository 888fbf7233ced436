"""The potential of two different activations: E[s(u) s'(v)], `ew.potential("relu", "erf")`.

A unit of a relu teacher and one of an erf student feel it. On unit vectors without biases it is a
function of rho; it need not be largest where the vectors coincide, nor positive. Normalised, it is
divided by sqrt(E[s^2] E[s'^2]), so that its values are in [-1, 1]: a correlation.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.affine import Affine, check_count, scaled_units
from earnshaw.duality.affine_moment import AffineMoment, affine_moment
from earnshaw.duality.pair import Pair
from earnshaw.duality.potential import Zonal
from earnshaw.errors import OutOfRange

RHOS = np.array([-1.0, -0.9, -0.5, 0.0, 0.5, 0.9, 1.0])  # where the error is looked at


class CrossDual(Zonal):
    """The potential of the activations `first` and `second` under N(0, variance I) inputs.

    `scale` multiplies the values on the sphere: 1/sqrt(E[s^2] E[s'^2]) when normalised, else 1.
    """

    first_activation: DotProduct
    second_activation: DotProduct
    form: AffineMoment
    scale: float
    variance: float
    dim: int | None = eqx.field(static=True)

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.first_activation.name} and {self.second_activation.name}"

    @property
    def method(self) -> str:
        """Closed form, or the numerical method."""
        return self.form.method

    @property
    def error_bound(self) -> float | None:
        """A bound on the absolute error of `value`; None for a black box."""
        return self.error_estimate if self.form.proven else None

    @property
    def error_estimate(self) -> float | None:
        """The estimated absolute error of `value`; twice that of the moment if normalised."""
        units = Affine.of_pair(Pair.on_sphere(RHOS, self.variance))
        error = float(jnp.max(self.form.error_at(units)))
        return error * (self.scale if self.scale == 1 else 2 * self.scale)

    def value(self, rho: ArrayLike) -> Array:
        """f(rho) = scale E[s(u) s'(v)] for unit vectors; NaN outside [-1, 1]."""
        pair = Pair.on_sphere(rho, self.variance)
        inside = (pair.low >= 0) & (pair.high >= 0)
        safe = pair._replace(low=jnp.maximum(pair.low, 0.0), high=jnp.maximum(pair.high, 0.0))
        return jnp.where(inside, self.scale * self.form(Affine.of_pair(safe)), jnp.nan)

    def moment(self, *numbers: ArrayLike) -> Array:
        """The raw E[s(X.theta + a) s'(X.w + b)] from a, b, |theta|^2, |w|^2 and theta.w.

        Three numbers are the last three, without biases. They are taken as exact.
        """
        return self.form(self._units(numbers))

    def moment_error(self, *numbers: ArrayLike) -> Array:
        """A bound on the error of `moment` at the same numbers; for a black box an estimate."""
        return self.form.error_at(self._units(numbers))

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """E[s(X.theta) s'(X.w)] times `scale`, for vectors of shape (..., d) of any length."""
        pair = Pair.of_vectors(theta, w).scaled(self.variance)
        return self.scale * self.form(Affine.of_pair(pair))

    def _units(self, numbers: tuple[ArrayLike, ...]) -> Affine:
        check_count(numbers, (3, 5))
        return scaled_units(self.variance, *(0.0,) * (5 - len(numbers)), *numbers)


def cross_dual(
    first: DotProduct, second: DotProduct, dim: int | None, normalize: bool, width: float
) -> CrossDual:
    """The potential of two activations."""
    variance, scale = width**2, 1.0
    if normalize:
        unit = Affine.of_one(jnp.asarray(0.0), jnp.asarray(variance))
        powers = [float(affine_moment(one, one)(unit)) for one in (first, second)]
        if not all(math.isfinite(power) and power > 0 for power in powers):
            allowed = "positive and finite values, or normalize=False for the raw potential"
            raise OutOfRange("E[s(X)^2]", powers, allowed)
        scale = 1 / math.sqrt(math.prod(powers))
    return CrossDual(
        first_activation=first,
        second_activation=second,
        form=affine_moment(first, second),
        scale=scale,
        variance=variance,
        dim=dim,
    )
