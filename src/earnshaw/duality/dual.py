"""The potential of a dot-product activation: its dual (EPD, Lemma A.1; Full, Lemma B.1).

`Dual` is the moment E[s(u) s(v)] of `pair.py` as a potential: on unit vectors a function of rho,
normalised to 1 at rho = 1; on R^d a function of |theta|^2, |w|^2 and theta.w, always raw, so that
energies are E[(f - g)^2] to the last digit.
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.affine import check_count, scaled_units
from earnshaw.duality.affine_moment import AffineMoment, affine_moment
from earnshaw.duality.pair import Moment, Pair
from earnshaw.duality.potential import Zonal
from earnshaw.errors import EarnshawError
from earnshaw.numerics.hermite import hermite_coefficients


class Dual(Zonal):
    """The potential of a dot-product activation under N(0, variance I) inputs.

    `origin` is the activation it was made from, if any. `power` is E[s(u)^2] for unit vectors;
    `scale` multiplies the values on the sphere: 1 / power when normalised, 1 when raw.
    """

    form: Moment
    power: float
    scale: float
    variance: float
    dim: int | None = eqx.field(static=True)
    label: str = eqx.field(static=True)
    reference: str = eqx.field(static=True)
    origin: DotProduct | None = None

    @property
    def name(self) -> str:
        """The activation's name."""
        return self.label

    @property
    def source(self) -> str:
        """Where the pair comes from."""
        return self.reference

    @property
    def method(self) -> str:
        """Closed form, or the numerical method."""
        return self.form.method

    @property
    def error_bound(self) -> float | None:
        """A bound on the absolute error of `value`.

        That of the moment; twice it if normalised, since E[s(u)^2] is off by as much.
        """
        return self._scaled(self.form.bound(self.variance))

    @property
    def error_estimate(self) -> float | None:
        """The estimated absolute error of `value`."""
        return self._scaled(self.form.estimate(self.variance))

    def _scaled(self, error: float | None) -> float | None:
        factor = self.scale if self.scale == 1 else 2 * self.scale
        return None if error is None else float(error * factor)

    def value(self, rho: ArrayLike) -> Array:
        """f(rho) = scale E[s(u) s(v)] for unit vectors; NaN outside [-1, 1]."""
        return self.scale * self.form.on_sphere(jnp.asarray(rho, dtype=float), self.variance)

    def moment(self, *numbers: ArrayLike) -> Array:
        """The raw E[s(X.theta) s(X.w)] from |theta|^2, |w|^2 and theta.w, |theta.w| <= |theta||w|.

        Of units with biases, E[s(X.theta + a) s(X.w + b)], from five numbers: a, b and those three
        (with inputs N(m, S) the means and the covariances of the two arguments of s). The numbers
        are taken as exact: the angle is right however small it is.
        """
        if len(numbers) == 5:
            return self._biased()(scaled_units(self.variance, *numbers))
        check_count(numbers, (3, 5))
        return self.form(Pair.of_exact_moments(*numbers).scaled(self.variance))

    def moment_error(self, *numbers: ArrayLike) -> Array:
        """A bound on the error of `moment` at |theta|^2 and |w|^2, whatever theta.w is.

        Of units with biases, at the five numbers. An estimate for a black box. Infinite where
        width times a norm is not 0 and outside 1e-50 .. 1e50.
        """
        if len(numbers) == 5:
            return self._biased().error_at(scaled_units(self.variance, *numbers))
        check_count(numbers[:2], (2,))
        sizes = (self.variance * jnp.asarray(q, dtype=float) for q in numbers[:2])
        return self.form.error_at(*sizes)

    def _biased(self) -> AffineMoment:
        if self.origin is None:
            raise EarnshawError(f"of {self.name} only the potential is known, not the activation")
        return affine_moment(self.origin, self.origin)

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """E[s(X.theta) s(X.w)] times `scale`, for vectors of shape (..., d) of any length.

        `gradient_between` and `laplacian_between` are those of the sphere; on R^d differentiate
        this, or `moment`.
        """
        return self.scale * self.form(Pair.of_vectors(theta, w).scaled(self.variance))

    def taylor(self, count: int) -> Any:
        """The Taylor coefficients of f: squares of the Hermite coefficients of s."""
        powers = self.form.taylor(count, self.variance)
        if powers is None and (origin := self.origin) is not None:
            size, kinks = math.sqrt(self.variance), np.asarray(origin.kinks)
            scaled = lambda x: np.asarray(origin(size * x))  # noqa: E731
            powers = hermite_coefficients(scaled, count, kinks / size) ** 2
        return None if powers is None else self.scale * np.asarray(powers)
