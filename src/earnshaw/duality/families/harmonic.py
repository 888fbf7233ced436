"""Harmonic and lambda-harmonic potentials: Coulomb's, and the screened one, in every dimension.

Both are singular at r = 0 for d >= 2: no activation has them, and Earnshaw's theorem is exactly
true of them. The bounded potential that a network can have is in `almost_harmonic.py`. At r = 0
values and derivatives are infinite with the sign of their limit, never NaN.
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import POTENTIALS
from earnshaw.duality.activation import LARGEST_RATE
from earnshaw.duality.potential import Radial
from earnshaw.duality.regions import Region
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_integer, check_real
from earnshaw.numerics.bessel import k_ratio, log_reduced_k

MAX_DIM = 301  # beyond it r^(2-d) leaves the range of float64 at r = 0.1


def _check_dim(dim: object) -> int:
    return check_integer("dimension", dim, 1, MAX_DIM)


@POTENTIALS.register("harmonic")
class Harmonic(Radial):
    """Phi = r^(2-d) for d >= 3, -ln r for d = 2, -r for d = 1: harmonic off r = 0.

    Full, Section 3. The papers' r^(2-d) would be +r for d = 1, which repels opposite charges; with
    the minus sign Phi falls with distance in every dimension.
    """

    dim: int = eqx.field(static=True, converter=_check_dim)

    @property
    def name(self) -> str:
        return "harmonic"

    @property
    def source(self) -> str:
        return "Full, Definition 3.1 and Theorem 3.4"

    @property
    def error_bound(self) -> float | None:
        """None where Phi is unbounded: there the error is a few ulp of the value itself."""
        return 0.0 if self.dim == 1 else None

    @property
    def positive(self) -> bool:
        """For d >= 3."""
        return self.dim >= 3

    def value(self, r: ArrayLike) -> Array:
        """Phi(r)."""
        r = jnp.asarray(r, dtype=float)
        if self.dim == 1:
            return -r
        return -jnp.log(r) if self.dim == 2 else r ** (2 - self.dim)

    def first(self, r: ArrayLike) -> Array:
        """-c r^(1-d), where c = d - 2 for d >= 3, else 1."""
        return -self._strength * jnp.asarray(r, dtype=float) ** (1 - self.dim)

    def second(self, r: ArrayLike) -> Array:
        """-(d-1) Phi'/r."""
        r = jnp.asarray(r, dtype=float)
        if self.dim == 1:
            return jnp.zeros_like(r)
        return self._strength * (self.dim - 1) * r**-self.dim

    def log_value(self, r: ArrayLike) -> Array:
        """(2 - d) ln r; only for d >= 3, where Phi is positive."""
        if self.dim < 3:
            raise EarnshawError(
                f"the harmonic potential of R^{self.dim} is not positive; allowed: dimension >= 3"
            )
        return (2 - self.dim) * jnp.log(jnp.asarray(r, dtype=float))

    def laplacian(self, r: ArrayLike) -> Array:
        """0. The point charge at r = 0 is not a function, and is left out."""
        return jnp.zeros_like(jnp.asarray(r, dtype=float))

    def regions(self) -> tuple[Region, ...]:
        """Harmonic off r = 0."""
        return (Region("harmonic", 0.0, math.inf, 0.0),)

    @property
    def _strength(self) -> int:
        return max(self.dim - 2, 1)


@POTENTIALS.register("lambda-harmonic")
class LambdaHarmonic(Radial):
    """Phi = (s r)^(-nu) K_nu(s r), nu = d/2 - 1, s = sqrt(lam): Laplacian Phi = lam Phi off r = 0.

    Full, Definition 3.5; for odd d it is the papers' p(r) exp(-s r) r^(2-d) up to a constant. For
    d = 1 it is sqrt(pi/2) exp(-s r), bounded; for d >= 2 it is infinite at r = 0.
    """

    dim: int = eqx.field(static=True, converter=_check_dim)
    lam: float = 1.0

    def __check_init__(self) -> None:
        check_real("lambda", self.lam, 1 / LARGEST_RATE, LARGEST_RATE)

    @property
    def name(self) -> str:
        return "lambda-harmonic"

    @property
    def source(self) -> str:
        return "Full, Definition 3.5"

    @property
    def error_bound(self) -> float | None:
        """None where Phi is unbounded: there the error is relative, about 1e-15 |log Phi|."""
        return 1e-13 if self.dim == 1 else None

    @property
    def positive(self) -> bool:
        """Always."""
        return True

    def value(self, r: ArrayLike) -> Array:
        """Phi(r)."""
        return jnp.exp(self.log_value(r))

    def log_value(self, r: ArrayLike) -> Array:
        """log Phi(r), for any r."""
        return log_reduced_k(self._order, self._rate * jnp.asarray(r, dtype=float))

    def log_first(self, r: ArrayLike) -> Array:
        """Phi'/Phi = -s K_(nu+1)/K_nu, also where Phi underflows."""
        return -self._rate * k_ratio(self._order, self._rate * jnp.asarray(r, dtype=float))

    def first(self, r: ArrayLike) -> Array:
        """Phi'(r) < 0."""
        return self.log_first(r) * self.value(r)

    def second(self, r: ArrayLike) -> Array:
        """lam Phi - (d-1) Phi'/r, both terms positive."""
        r = jnp.asarray(r, dtype=float)
        if self.dim == 1:
            return self.lam * self.value(r)
        return (self.lam - (self.dim - 1) * self.log_first(r) / r) * self.value(r)

    def laplacian(self, r: ArrayLike) -> Array:
        """lam Phi."""
        return self.lam * self.value(r)

    def fourier(self, k: Any) -> Any:
        """(2 pi)^(d/2) s^(2-d) / (k^2 + lam)."""
        lam = float(self.lam)
        log_scale = 0.5 * (self.dim * math.log(2 * math.pi) + (2 - self.dim) * math.log(lam))
        return np.exp(log_scale) / (np.square(np.asarray(k, dtype=float)) + lam)

    def regions(self) -> tuple[Region, ...]:
        """lambda-harmonic off r = 0."""
        return (Region("lambda-harmonic", 0.0, math.inf, float(self.lam)),)

    @property
    def _order(self) -> float:
        return self.dim / 2 - 1

    @property
    def _rate(self) -> Array:
        return jnp.sqrt(jnp.asarray(self.lam, dtype=float))
