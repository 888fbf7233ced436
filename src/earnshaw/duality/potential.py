"""What a potential is: a symmetric function Phi(theta, w) that two charges feel.

Three kinds, by what Phi depends on:

- `Zonal`     Phi = f(rho), rho = theta.w for unit vectors: potentials on the sphere S^(d-1);
- `Radial`    Phi = f(r), r = |theta - w|: rotation-invariant potentials on R^d;
- `Separable` Phi = prod_i f(|theta_i - w_i|): products over the coordinates of R^d (separable.py).

Each is a frozen pytree whose methods are pure JAX functions that broadcast over their argument, so
that energies can compile and differentiate through them. `value`, `first` and `second` are f, f'
and f''; `laplacian` is the Laplacian of Phi in theta, as a function of the same variable.
`between`, `gradient_between` and `laplacian_between` take the two positions themselves. Potentials
add and scale, on the sphere and radial ones (mixtures.py).
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.duality.mixtures import Weighted, mixture
from earnshaw.duality.regions import Region, signed_regions
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.limits import check_real
from earnshaw.results import Result

POINTS = {"rho": (-1.0, -0.5, 0.0, 0.5, 1.0), "r": (0.0, 0.5, 1.0, 2.0, 4.0)}  # worth a look

ROUNDING = 1e-12  # how far inner products of unit vectors may be outside [-1, 1]


class Potential(Result, eqx.Module):
    """A symmetric pair potential. Not constructed directly: see `Zonal`, `Radial`, `Separable`."""

    kind: ClassVar[str]
    variable: ClassVar[str]
    _picture: ClassVar[str] = "earnshaw.plots.duality:draw_potential"
    _panel: ClassVar[str] = "earnshaw.plots.duality:draw_values"

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """A short name for tables and pictures."""

    @property
    def source(self) -> str:
        """Where the potential comes from, e.g. ``Full, Lemma B.9``."""
        return ""

    @property
    def method(self) -> str:
        """How values are computed: closed form, hermite series, ..."""
        return "closed form"

    @property
    def error_bound(self) -> float | None:
        """A bound on the absolute error of `value`, or None where there is only an estimate.

        Unless a class knows better: 450 EPS, for potentials of values up to 1.
        """
        return 1e-13

    @property
    def error_estimate(self) -> float | None:
        """The estimated absolute error of `value`; equals the bound where there is one."""
        return self.error_bound

    @abc.abstractmethod
    def value(self, argument: ArrayLike) -> Array:
        """Phi as a function of its variable; NaN outside its domain.

        Like its derivatives this is a pure function, which energies trace, compile and
        differentiate through: it looks at no number, so it cannot refuse one. `phi(2.0)` does.
        """

    def __call__(self, argument: ArrayLike) -> Array:
        """The same as `value`, compiled: the fast way for large arrays.

        Numbers outside the potential's domain are refused here: rho beyond [-1, 1] by more than
        rounding, r < 0.
        """
        argument = jnp.asarray(argument, dtype=float)
        if not isinstance(argument, jax.core.Tracer):
            argument = jnp.asarray(self._in_domain(np.asarray(argument)))
        return _compiled_value(self, argument)

    def _in_domain(self, argument: np.ndarray) -> np.ndarray:
        """The argument, or `OutOfRange`; NaN is let through, as NaN."""
        return argument

    @abc.abstractmethod
    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi(theta, w) for positions of shape (..., d)."""

    @abc.abstractmethod
    def gradient_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The gradient of Phi in theta, shape (..., d); on the sphere, tangent to it at theta."""

    @abc.abstractmethod
    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The Laplacian of Phi in theta, shape (...)."""

    def summary(self, at: Sequence[float] | None = None) -> dict[str, Any]:
        """Plain values for JSON: value and derivatives `at` some points, and where they are from.

        `at` are values of the `variable`; by default five of them.
        """
        found = {
            "name": self.name,
            "kind": self.kind,
            "variable": self.variable,
            "dim": getattr(self, "dim", None),
            "values": [self._row(point) for point in (POINTS[self.variable] if at is None else at)],
            "method": self.method,
            "error_bound": self.error_bound,
            "error_estimate": self.error_estimate,
            "source": self.source,
            "kinks": list(getattr(getattr(self, "origin", None), "kinks", ())),
        }
        if found["dim"] is not None and hasattr(self, "regions"):
            found["regions"] = [region._asdict() for region in self.regions()]
        return found

    def _row(self, point: float) -> dict[str, float]:
        this: Any = self  # the derivatives are those of the three kinds
        self._in_domain(np.asarray(point, dtype=float))
        row = {"at": float(point), "value": float(this.value(point))}
        row |= {"first": float(this.first(point)), "second": float(this.second(point))}
        if self.kind == "radial":
            with suppress(EarnshawError):  # a potential that is not positive has none
                row["log_value"] = float(this.log_value(point))
        return row

    def _title(self) -> str:
        dim = getattr(self, "dim", None)
        return f"{self.name} ({self.kind}{'' if dim is None else f', d = {dim}'})"

    def _facts(self) -> dict[str, object]:
        return {
            "a function of": self.variable,
            "method": self.method,
            "source": self.source or None,
        }

    def mixed(self, parts: tuple[Any, ...], weights: tuple[float, ...]) -> Potential:
        """sum_i weights_i parts_i, potentials of this kind and dimension."""
        raise EarnshawError(f"{self.kind} potentials do not mix; allowed: all zonal or all radial")

    def __add__(self, other: Any) -> Potential:
        if not isinstance(other, Potential):
            return NotImplemented
        return mixture((self, other), (1.0, 1.0))

    def __mul__(self, factor: Any) -> Potential:
        return mixture((self,), (check_real("factor of a potential", factor),))

    __rmul__ = __mul__


class Zonal(Potential):
    """Phi(theta, w) = f(rho) on the unit sphere S^(d-1), rho = theta.w.

    `dim` is d; it is needed only for the Laplacian, and may be None.
    """

    kind: ClassVar[str] = "zonal"
    variable: ClassVar[str] = "rho"
    dim: eqx.AbstractVar[int | None]

    def _in_domain(self, rho: np.ndarray) -> np.ndarray:
        """rho in [-1, 1]; what rounding has put beside it is put back."""
        beyond = np.abs(rho) > 1 + ROUNDING
        if np.any(beyond):
            raise OutOfRange("rho", float(rho[beyond][0]), "a number in [-1, 1]")
        return np.clip(rho, -1.0, 1.0)

    def first(self, rho: ArrayLike) -> Array:
        """f'(rho)."""
        return elementwise_derivative(self.value, rho)

    def second(self, rho: ArrayLike) -> Array:
        """f''(rho)."""
        return elementwise_derivative(self.first, rho)

    def laplacian(self, rho: ArrayLike) -> Array:
        """(1 - rho^2) f'' - (d - 1) rho f', the Laplace-Beltrami operator on S^(d-1).

        At rho = +-1 a second derivative that is infinite there still gives a finite product where
        (1 - rho^2) f'' has a limit; that limit is 0 for every potential of this library whose first
        derivative is finite.
        """
        if self.dim is None:
            raise EarnshawError("the Laplacian on the sphere needs a dimension: give dim=")
        rho = jnp.asarray(rho, dtype=float)
        gap = (1 - rho) * (1 + rho)
        inside = gap > 0
        safe = jnp.where(inside, rho, 0.0)
        curvature = jnp.where(inside, gap * self.second(safe), 0.0)
        return curvature - (self.dim - 1) * rho * self.first(rho)

    def taylor(self, count: int) -> Any:
        """The Taylor coefficients c_0 .. c_(count-1) of f at 0 as a NumPy array, or None."""
        return None

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi(theta, w) for unit vectors of shape (..., d)."""
        return self.value(_cosine(theta, w))

    def gradient_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """f'(rho) (w - rho theta) for unit vectors, tangent to the sphere at theta.

        Where f' is infinite (sign, at theta = +-w) the direction is not defined: NaN.
        """
        rho = _cosine(theta, w)[..., None]
        return self.first(rho) * (jnp.asarray(w) - rho * jnp.asarray(theta))

    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The Laplacian on S^(d-1) at unit vectors, d being the potential's `dim`."""
        return self.laplacian(_cosine(theta, w))

    def regions(self) -> tuple[Region, ...]:
        """Where the Laplacian has a definite sign, found from its sign changes on (-1, 1)."""

        def terms(rho: Any) -> Array:
            slope = (self.dim or 1) * jnp.abs(rho * self.first(rho))
            return (1 - rho * rho) * jnp.abs(self.second(rho)) + slope

        return signed_regions(self.laplacian, -1.0, 1.0, terms)

    def mixed(self, parts: tuple[Zonal, ...], weights: tuple[float, ...]) -> ZonalMixture:
        """sum_i weights_i parts_i, also a function of rho."""
        return ZonalMixture(parts=parts, weights=weights, dim=self.dim)


class Radial(Potential):
    """Phi(theta, w) = f(r) on R^d, r = |theta - w| >= 0."""

    kind: ClassVar[str] = "radial"
    variable: ClassVar[str] = "r"
    dim: eqx.AbstractVar[int]

    def _in_domain(self, r: np.ndarray) -> np.ndarray:
        """r >= 0."""
        return not_negative(r)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Radii r > 0 at which f is not smooth; quadratures split there."""
        return ()

    def first(self, r: ArrayLike) -> Array:
        """f'(r). At r = 0 this is the one-sided slope: non-zero where Phi has a cusp."""
        return elementwise_derivative(self.value, r)

    def second(self, r: ArrayLike) -> Array:
        """f''(r), one-sided at r = 0."""
        return elementwise_derivative(self.first, r)

    @property
    def gaussian_rate(self) -> float | None:
        """c if f(r) = exp(-c r^2/2), whose force is the potential times a factor; else None."""
        return None

    @property
    def positive(self) -> bool:
        """Whether f > 0 everywhere, so that `log_value` exists at every r."""
        return False

    def log_value(self, r: ArrayLike) -> Array:
        """log f(r), right also where f(r) underflows."""
        return jnp.log(self.value(r))

    def log_first(self, r: ArrayLike) -> Array:
        """f'/f, the derivative of log f, right also where f(r) underflows."""
        return elementwise_derivative(self.log_value, r)

    def log_jet(self, r: ArrayLike) -> tuple[Array, Array]:
        """`log_value` and `log_first`, for the price of one where they share work."""
        return self.log_value(r), self.log_first(r)

    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """g(u) = f(sqrt u), g'(u) and g''(u): for energies, where u = r^2 comes cheaper than r.

        At u = 0, g' is infinite where f has a cusp; g'' is not needed there, and is 0.
        """
        apart = u > 0
        r, safe = jnp.sqrt(u), jnp.sqrt(jnp.where(apart, u, 1.0))
        value, slope, curvature = self.value(r), self.first(r), self.second(r)
        at_zero = jnp.where(slope == 0, curvature / 2, slope * jnp.inf)
        first = jnp.where(apart, slope / (2 * safe), at_zero)
        second = jnp.where(apart, (curvature - slope / safe) / (4 * safe * safe), 0.0)
        return value, first, second

    def laplacian(self, r: ArrayLike) -> Array:
        """f'' + (d - 1) f'/r; at r = 0 its limit: d f''(0) if f'(0) = 0, else infinite."""
        r = jnp.asarray(r, dtype=float)
        slope, curvature = self.first(r), self.second(r)
        at_zero = jnp.where(slope == 0, (self.dim - 1) * curvature, slope * jnp.inf)
        angular = jnp.where(r > 0, (self.dim - 1) * slope / jnp.where(r > 0, r, 1.0), at_zero)
        return curvature + (angular if self.dim > 1 else 0.0)

    def fourier(self, k: Any) -> Any:
        """The transform integral f(|x|) exp(-i k.x) dx at |k| = `k` (NumPy), or None if unknown."""
        return None

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi(theta, w) for positions of shape (..., d)."""
        return self.value(jnp.linalg.norm(jnp.asarray(theta) - jnp.asarray(w), axis=-1))

    def gradient_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """f'(r) (theta - w)/r; at theta = w, where a cusp has no direction, 0."""
        gap = jnp.asarray(theta, dtype=float) - jnp.asarray(w)
        r = jnp.linalg.norm(gap, axis=-1, keepdims=True)
        apart = r > 0
        safe = jnp.where(apart, r, 1.0)
        return jnp.where(apart, self.first(safe) * gap / safe, 0.0)

    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The Laplacian at r = |theta - w|."""
        return self.laplacian(jnp.linalg.norm(jnp.asarray(theta) - jnp.asarray(w), axis=-1))

    def regions(self) -> tuple[Region, ...]:
        """Where the Laplacian has a definite sign, found from its sign changes on (0, 50)."""

        def terms(r: Any) -> Array:
            return jnp.abs(self.second(r)) + self.dim * jnp.abs(self.first(r)) / r

        return signed_regions(self.laplacian, 0.0, 50.0, terms)

    def mixed(self, parts: tuple[Radial, ...], weights: tuple[float, ...]) -> RadialMixture:
        """sum_i weights_i parts_i, also a function of r."""
        return RadialMixture(parts=parts, weights=weights, dim=self.dim)


class ZonalMixture(Weighted, Zonal):
    """A weighted sum of potentials on one sphere."""

    top: ClassVar[float] = 1.0
    parts: tuple[Zonal, ...]
    weights: tuple[float, ...]
    dim: int | None

    def taylor(self, count: int) -> Any:
        """The weighted sum of the parts' Taylor coefficients."""
        return self._transform("taylor", count)


class RadialMixture(Weighted, Radial):
    """A weighted sum of radial potentials on one R^d."""

    top: ClassVar[float] = 0.0
    parts: tuple[Radial, ...]
    weights: tuple[float, ...]
    dim: int

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """The breakpoints of all parts."""
        return tuple(sorted({point for part in self.parts for point in part.breakpoints}))

    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """The weighted sums of the parts' jets."""
        jets = [part.jet(u) for part in self.parts]
        value, first, second = (
            sum((w * jet[n] for w, jet in zip(self.weights, jets, strict=True)), start=0.0 * u)
            for n in range(3)
        )
        return value, first, second

    def fourier(self, k: Any) -> Any:
        """The weighted sum of the parts' transforms."""
        return self._transform("fourier", k)


def not_negative(r: np.ndarray) -> np.ndarray:
    """Lengths r, or `OutOfRange`."""
    if np.any(r < 0):
        raise OutOfRange("r", float(r[r < 0][0]), "a number >= 0")
    return r


def even_size(x: Array) -> Array:
    """|x| with derivative 0 at 0, the mean of both sides (that of `jnp.abs` is 1 there)."""
    return jnp.where(x == 0, 0.0, jnp.abs(x))


def _cosine(theta: ArrayLike, w: ArrayLike) -> Array:
    """theta.w for unit vectors, kept in [-1, 1] against rounding."""
    return jnp.clip(jnp.sum(jnp.asarray(theta) * jnp.asarray(w), axis=-1), -1.0, 1.0)


@eqx.filter_jit
def _compiled_value(potential: Potential, argument: Array) -> Array:
    return potential.value(argument)


def elementwise_derivative(function: Any, argument: ArrayLike) -> Array:
    """The derivative of an elementwise `function`, at every entry of `argument`."""
    argument = jnp.asarray(argument, dtype=float)
    return jax.jvp(function, (argument,), (jnp.ones_like(argument),))[1]
