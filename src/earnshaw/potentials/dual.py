"""The potential of a dot-product activation: its dual (EPD, Lemma A.1; Full, Lemma B.1).

For u, v centred Gaussians with variances q1, q2 and covariance c, `Moment` is the raw
E[s(u) s(v)] as a function of the `Pair`. `Dual` is that moment as a potential: on unit vectors a
function of rho, normalised to 1 at rho = 1; on R^d a function of |theta|^2, |w|^2 and theta.w,
always raw, so that energies are E[(f - g)^2] to the last digit.
"""

from __future__ import annotations

import abc
import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.errors import OutOfRange
from earnshaw.numerics.hermite import hermite_coefficients
from earnshaw.potentials.base import Zonal
from earnshaw.potentials.pair import Pair


class Moment(eqx.Module):
    """E[s(u) s(v)] for one activation s."""

    @property
    def method(self) -> str:
        """How it is computed."""
        return "closed form"

    def bound(self, power: float) -> float | None:
        """A bound on the absolute error on the sphere, or None; `power` is E[s(u)^2] there."""
        return 1e-14 * power

    def estimate(self, power: float) -> float | None:
        """The estimated absolute error on the sphere: the bound where there is one."""
        return self.bound(power)

    @abc.abstractmethod
    def __call__(self, pair: Pair) -> Array:
        """E[s(u) s(v)], elementwise over the pair's entries."""

    def error_at(self, q1: Array, q2: Array) -> Array:
        """A bound (for a black box, an estimate) on the error at any norms, whatever c is."""
        sizes = [self(Pair.of_moments(q, q, q)) for q in (q1, q2)]
        return 1e-14 * jnp.sqrt(sizes[0] * sizes[1])

    def on_sphere(self, rho: Array, variance: float) -> Array:
        """The same for two vectors of squared norm `variance`; overridden where that is faster."""
        return self(Pair.on_sphere(rho, variance))

    def on_cap(self, pair: Pair, variance: float) -> Array:
        """`on_sphere` for a pair whose small angle is given; overridden where there is no kink."""
        return self(pair)

    @property
    def degree(self) -> int | None:
        """n if s is homogeneous, s(r x) = r^n s(x) for r > 0; else None."""
        return None

    @property
    def kink(self) -> float:
        """Below which 1 - |rho| the pair's own `low` and `high` are needed; 0 for smooth s.

        A jump of s or s' makes the moment a function of the angle, which (q1, q2, c) do not give to
        full accuracy for nearly parallel vectors.
        """
        return 0.0

    @property
    def linear_factor(self) -> float | None:
        """Of the `linear_parts`; None where there are none."""
        return None

    def linear_parts(self, pair: Pair) -> tuple[Array, Array]:
        """(slope, rest): the moment is linear_factor (slope c + rest), slope its derivative in c.

        Given where it saves work, since sums of slope c over pairs are inner products of sums of
        slope times a vector.
        """
        raise NotImplementedError

    @property
    def scratch(self) -> int:
        """How many numbers a pair needs while it is computed, for those who choose tile sizes."""
        return 1

    def taylor(self, count: int, variance: float) -> Any:
        """The coefficients of E[s(u) s(v)] in powers of rho at fixed norms, or None."""
        return None


class Multiple(Moment):
    """factor * E[s(u) s(v)]."""

    form: Moment
    factor: float

    def __call__(self, pair: Pair) -> Array:
        """factor times the moment."""
        return self.factor * self.form(pair)


class Dual(Zonal):
    """The potential of a dot-product activation under N(0, variance I) inputs.

    `origin` is the activation it was made from, which this folder knows only as a function with
    `kinks`. `power` is E[s(u)^2] for unit vectors; `scale` multiplies the values on the sphere:
    1 / power when normalised, 1 when raw.
    """

    form: Moment
    power: float
    scale: float
    variance: float
    dim: int | None = eqx.field(static=True)
    label: str = eqx.field(static=True)
    reference: str = eqx.field(static=True)
    origin: Any = None

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
        """A bound on the absolute error of `value`."""
        bound = self.form.bound(self.power)
        return None if bound is None else float(bound * self.scale)

    @property
    def error_estimate(self) -> float | None:
        """The estimated absolute error of `value`."""
        estimate = self.form.estimate(self.power)
        return None if estimate is None else float(estimate * self.scale)

    def value(self, rho: ArrayLike) -> Array:
        """f(rho) = scale E[s(u) s(v)] for unit vectors; NaN outside [-1, 1]."""
        return self.scale * self.form.on_sphere(jnp.asarray(rho, dtype=float), self.variance)

    def moment(self, q1: ArrayLike, q2: ArrayLike, c: ArrayLike) -> Array:
        """The raw E[s(X.theta) s(X.w)] from |theta|^2, |w|^2 and theta.w."""
        return self.form(Pair.of_moments(q1, q2, c).scaled(self.variance))

    def moment_error(self, q1: ArrayLike, q2: ArrayLike) -> Array:
        """A bound on the error of `moment` at these norms; an estimate for a black box."""
        sizes = (self.variance * jnp.asarray(q, dtype=float) for q in (q1, q2))
        return self.form.error_at(*sizes)

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """E[s(X.theta) s(X.w)] times `scale`, for vectors of shape (..., d) of any length.

        `gradient_between` and `laplacian_between` are those of the sphere; on R^d differentiate
        this, or `moment`.
        """
        return self.scale * self.form(Pair.of_vectors(theta, w).scaled(self.variance))

    def taylor(self, count: int) -> Any:
        """The Taylor coefficients of f: squares of the Hermite coefficients of s."""
        powers = self.form.taylor(count, self.variance)
        if powers is None and self.origin is not None:
            size, kinks = math.sqrt(self.variance), np.asarray(self.origin.kinks)
            scaled = lambda x: np.asarray(self.origin(size * x))  # noqa: E731
            powers = hermite_coefficients(scaled, count, kinks / size) ** 2
        return None if powers is None else self.scale * np.asarray(powers)


def dual(
    form: Moment,
    *,
    name: str,
    source: str = "",
    origin: Any = None,
    dim: int | None = None,
    width: float = 1.0,
    normalize: bool = True,
) -> Dual:
    """Wrap a moment as a potential; `width` is that of the Gaussian inputs."""
    variance = float(width) ** 2
    raw = float(form.on_sphere(jnp.asarray(1.0), variance))
    if not math.isfinite(raw):
        raise OutOfRange("E[s(X)^2]", raw, f"a finite value; {name} grows too fast for this width")
    if normalize and raw <= 0:
        raise OutOfRange("E[s(X)^2]", raw, "a positive value, or normalize=False for the raw one")
    return Dual(
        form=form,
        power=raw,
        scale=1 / raw if normalize else 1.0,
        variance=variance,
        dim=dim,
        label=name,
        reference=source,
        origin=origin,
    )
