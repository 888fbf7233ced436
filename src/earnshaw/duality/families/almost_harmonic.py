"""The almost lambda-harmonic potential: the one that a network can have, and that traps no charge.

Off a ball of radius eps it is the lambda-harmonic (screened Coulomb, or Yukawa) potential of R^d,

    Phi(r) = k_nu(s r) / N,    k_nu(z) = z^(-nu) K_nu(z),    nu = d/2 - 1,    s = sqrt(lambda),

so that the Laplacian of Phi is lambda Phi for r > eps. Inside it is a polynomial in r/eps that
bounds it (`cores.py`), and N makes Phi(0) = 1. Phi falls by dozens of orders of magnitude across a
core in high dimension, so every quantity here is right relative to itself: a sum of positive
Bernstein terms inside, a logarithm outside.

Source: Full, Lemma 4.2 and B.9, with core "paper" (odd d). Core "ball" is ours, and exists in every
dimension; mathematics.md, "The almost lambda-harmonic potential".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS, POTENTIALS
from earnshaw.duality.activation import LARGEST_RATE
from earnshaw.duality.families.cores import build_core
from earnshaw.duality.families.tabulated import RadialTranslation, Realized, realized
from earnshaw.duality.potential import Radial
from earnshaw.duality.regions import Region, signed_regions
from earnshaw.errors import OutOfRange, UnknownName
from earnshaw.inputs import Gaussian
from earnshaw.limits import check_integer, check_real
from earnshaw.numerics.bernstein_form import bernstein
from earnshaw.numerics.bessel import log_k_and_ratio
from earnshaw.numerics.log_table import LogTable

CORES = ("ball", "paper")
MAX_DIM = 301  # as far as the accuracy has been measured: 6e-13 there, 2e-13 at 101
LEAST_RADIUS = 1e-30  # so that the charge density, which goes as 1/radius^3, is finite
MAX_ACTIVATION_DIM = 40  # beyond, a profile h spans more orders of magnitude than float64 has


@POTENTIALS.register("almost-harmonic")
class AlmostHarmonic(Radial):
    """lambda-harmonic for r > radius, bounded inside, normalised to 1 at r = 0.

    `dim` from 1 to 301, `radius` in (1e-30, 1), `lam` = lambda in (1e-60, 1e60); `core` is "ball"
    (any dimension) or "paper" (odd dimension >= 3). `radius`, `lam` and the coefficients are array
    leaves, so compiled code is shared by potentials that differ only in these; they are constants
    to autodiff, which differentiates in r alone.
    """

    dim: int = eqx.field(static=True)
    core: str = eqx.field(static=True)
    radius: Array
    lam: Array
    _log_origin: Array
    _value_terms: Array
    _drop_terms: Array
    _slope_terms: Array
    _curvature_terms: Array
    _charge_terms: Array

    def __init__(
        self,
        dim: int,
        radius: float = 0.1,
        lam: float = 1.0,
        core: str = "ball",
    ) -> None:
        self.dim = check_integer("dimension", dim, 1, MAX_DIM)
        if core not in CORES:
            raise UnknownName("core", core, CORES)
        if core == "paper" and (self.dim < 3 or self.dim % 2 == 0):
            raise OutOfRange("dimension", dim, "an odd integer >= 3 for core paper; or core ball")
        self.core = core
        radius = check_real("radius", radius, LEAST_RADIUS, 1.0)
        lam = check_real("lambda", lam, 1 / LARGEST_RATE, LARGEST_RATE)
        self.radius, self.lam = jnp.asarray(radius), jnp.asarray(lam)
        prepared = map(jnp.asarray, build_core(self.dim, radius, lam, core))
        self._log_origin, self._value_terms, self._drop_terms = (next(prepared) for _ in range(3))
        self._slope_terms, self._curvature_terms, self._charge_terms = prepared

    @property
    def name(self) -> str:
        return "almost-harmonic"

    @property
    def source(self) -> str:
        return "Full, Lemma 4.2 and B.9" + ("" if self.core == "paper" else ", with a ball core")

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """The edge of the core."""
        return (float(self.radius),)

    @property
    def cusp(self) -> Array:
        """-Phi'(0)/Phi(0), the pull of a unit on another that sits at the same place."""
        return self._slope_terms[0]

    @property
    def singular_charge(self) -> Array:
        """The limit of r times the charge density at r = 0: (d - 1) times the cusp."""
        return (self.dim - 1) * self.cusp

    @property
    def positive(self) -> bool:
        """Always."""
        return True

    def value(self, r: ArrayLike) -> Array:
        """Phi(r); 0 where it underflows."""
        return _run(_value, self, jnp.asarray(r, dtype=float))

    def first(self, r: ArrayLike) -> Array:
        """Phi'(r) < 0; at r = 0 minus the cusp."""
        return _run(_first, self, jnp.asarray(r, dtype=float))

    def second(self, r: ArrayLike) -> Array:
        """Phi''(r) >= 0."""
        return _run(_second, self, jnp.asarray(r, dtype=float))

    def log_value(self, r: ArrayLike) -> Array:
        """log Phi(r), for any r."""
        return _run(_log_value, self, jnp.asarray(r, dtype=float))

    def drop(self, r: ArrayLike) -> Array:
        """1 - Phi(r) >= 0, right relative to itself however small r is."""
        return _run(_drop, self, jnp.asarray(r, dtype=float))

    def log_first(self, r: ArrayLike) -> Array:
        """Phi'(r)/Phi(r), the derivative of log Phi, also where Phi underflows."""
        return _run(_log_first, self, jnp.asarray(r, dtype=float))

    def log_jet(self, r: ArrayLike) -> tuple[Array, Array]:
        """log Phi and Phi'/Phi, from one evaluation of K."""
        return _run(_log_jet, self, jnp.asarray(r, dtype=float))

    def laplacian(self, r: ArrayLike) -> Array:
        """lambda Phi minus the charge density: exactly lambda Phi outside, -inf at 0 if d >= 2.

        Phi'' + (d-1) Phi'/r would lose log10((d/(s r))^2) digits to cancellation.
        """
        return self.lam * self.value(r) - self.charge_density(r)

    def charge_density(self, r: ArrayLike) -> Array:
        """rho(r) = lambda Phi - Laplacian Phi, the screened charge whose potential is Phi.

        It lives in the core; near 0 it goes as `singular_charge` / r, which is integrable. In every
        case tried its Bernstein terms are non-negative, and so is it. Its transform is
        F(rho)(k) = (|k|^2 + lambda) F(Phi)(k).
        """
        return _run(_charge_density, self, jnp.asarray(r, dtype=float))

    def regions(self) -> tuple[Region, ...]:
        """Signs of the Laplacian inside the core; lambda-harmonic outside."""
        edge = float(self.radius)
        outside = Region("lambda-harmonic", edge, float("inf"), float(self.lam))
        return (*signed_regions(self.laplacian, 0.0, edge), outside)

    def _places(self, r: Array) -> tuple[Array, Array, Array, Array]:
        """Whether r is inside, x = r/eps and 1 - x if so (else 0 and 1), and r if not (else eps).

        Each branch is evaluated everywhere, at a harmless place where it is not wanted.
        """
        inside = r < self.radius
        x = jnp.where(inside, r, 0.0) / self.radius
        y = jnp.where(inside, self.radius - r, self.radius) / self.radius
        return inside, x, y, jnp.where(inside, self.radius, r)

    def _outside(self, r: Array) -> tuple[Array, Array]:
        """log Phi, and -Phi'/Phi = s K_(nu+1)/K_nu, for r >= eps."""
        s = jnp.sqrt(self.lam)
        logarithm, ratio = log_k_and_ratio(self.dim / 2 - 1, s * r)
        return logarithm - self._log_origin, s * ratio


@partial(jax.jit, static_argnums=0)
def _run(kernel: Callable[[AlmostHarmonic, Array], Any], phi: AlmostHarmonic, r: Array) -> Any:
    return kernel(phi, r)


@jax.custom_jvp
def _value(phi: AlmostHarmonic, r: Array) -> Array:
    inside, x, y, outer = phi._places(r)
    return jnp.where(inside, bernstein(phi._value_terms, x, y), jnp.exp(phi._outside(outer)[0]))


@jax.custom_jvp
def _first(phi: AlmostHarmonic, r: Array) -> Array:
    inside, x, y, outer = phi._places(r)
    logarithm, rate = phi._outside(outer)
    return -jnp.where(inside, bernstein(phi._slope_terms, x, y), jnp.exp(logarithm) * rate)


def _second(phi: AlmostHarmonic, r: Array) -> Array:
    inside, x, y, outer = phi._places(r)
    logarithm, rate = phi._outside(outer)
    # From the equation Phi'' = lambda Phi - (d-1) Phi'/r, both terms positive.
    outside = jnp.exp(logarithm) * (phi.lam + (phi.dim - 1) * rate / outer)
    return jnp.where(inside, bernstein(phi._curvature_terms, x, y), outside)


@jax.custom_jvp
def _log_value(phi: AlmostHarmonic, r: Array) -> Array:
    return _log_jet(phi, r)[0]


@jax.custom_jvp
def _drop(phi: AlmostHarmonic, r: Array) -> Array:
    inside, x, y, outer = phi._places(r)
    outside = -jnp.expm1(phi._outside(outer)[0])
    return jnp.where(inside, bernstein(phi._drop_terms, x, y), outside)


def _log_first(phi: AlmostHarmonic, r: Array) -> Array:
    return _log_jet(phi, r)[1]


def _log_jet(phi: AlmostHarmonic, r: Array) -> tuple[Array, Array]:
    inside, x, y, outer = phi._places(r)
    value, drop = bernstein(phi._value_terms, x, y), bernstein(phi._drop_terms, x, y)
    within = jnp.where(drop < 0.5, jnp.log1p(-drop), jnp.log(value))
    logarithm, rate = phi._outside(outer)
    falling = bernstein(phi._slope_terms, x, y) / value
    return jnp.where(inside, within, logarithm), -jnp.where(inside, falling, rate)


def _charge_density(phi: AlmostHarmonic, r: Array) -> Array:
    if phi.dim == 1:  # the core is linear and the density bounded
        return jnp.where(r < phi.radius, phi.lam * _value(phi, r), 0.0)
    inside, x, y, _ = phi._places(r)
    positive = jnp.where(r > 0, r, 1.0)
    density = jnp.where(r > 0, bernstein(phi._charge_terms, x, y) / positive, jnp.inf)
    return jnp.where(inside, density, 0.0)


@_value.defjvp
def _value_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    return _value(*primals), _first(*primals) * tangents[1]


@_drop.defjvp
def _drop_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    return _drop(*primals), -_first(*primals) * tangents[1]


@_first.defjvp
def _first_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    return _first(*primals), _second(*primals) * tangents[1]


@_log_value.defjvp
def _log_value_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    return _log_value(*primals), _log_first(*primals) * tangents[1]


def almost_harmonic_activation(
    dim: int,
    radius: float = 0.1,
    lam: float = 1.0,
    core: str = "ball",
    inputs: Gaussian | None = None,
) -> RadialTranslation:
    """The activation that has `AlmostHarmonic(dim, radius, lam, core)` (Full, Lemma 4.2)."""
    AlmostHarmonic(dim, radius, lam, core)  # says what is wrong, if so
    dim = check_integer("dimension of the almost-harmonic activation", dim, 1, MAX_ACTIVATION_DIM)
    table = _core_table(dim, float(radius), float(lam), core)
    return RadialTranslation("almost-harmonic", dim, table, inputs)


@lru_cache(maxsize=64)
def _core_table(dim: int, radius: float, lam: float, core: str) -> LogTable:
    # These load SciPy's interpolation and Arb, a second that charges without an activation save.
    from earnshaw.duality.realizing.core_spectrum import core_spectrum
    from earnshaw.duality.realizing.profile import build_profile

    # In units of the radius no power of it can overflow in high dimension. The autocorrelation of
    # h(r/eps) has a factor eps^d.
    unit = build_profile(core_spectrum(dim, 1.0, lam * radius**2, core))
    return unit.stretched(radius, radius ** (-dim / 2))


@ACTIVATIONS.register("almost-harmonic")
def almost_harmonic(
    dim: int, radius: float = 0.1, lam: float = 1.0, core: str = "ball", width: float = 1.0
) -> Realized:
    """The activation that has the almost lambda-harmonic potential under N(0, width^2 I) inputs."""
    potential = AlmostHarmonic(dim, radius, lam, core)
    shape = almost_harmonic_activation(dim, radius, lam, core, Gaussian(width))
    return realized(shape, potential)
