"""The Gaussian potential exp(-c r^2/2) and its activation: smooth, in every R^d, not subharmonic.

Its Laplacian changes sign at r = sqrt(d/c): a test charge is repelled from local equilibrium only
beyond that distance, which is why the papers' Gaussian results need c large or weights far apart.
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS, POTENTIALS
from earnshaw.duality.activation import LARGEST_RATE, NumpyProfile, Translation
from earnshaw.duality.potential import Radial
from earnshaw.duality.regions import Region
from earnshaw.inputs import Gaussian
from earnshaw.limits import check_dim, check_real


@POTENTIALS.register("gaussian")
class GaussianPotential(Radial):
    """Phi(r) = exp(-c r^2/2) on R^dim, with c = `rate` > 0.

    Full, Table 1 (c = 1) and Theorem F.4; EPD, Theorem 4.2.
    """

    dim: int = eqx.field(static=True, converter=check_dim)
    rate: float = 1.0

    def __check_init__(self) -> None:
        check_real("rate", self.rate, 1 / LARGEST_RATE, LARGEST_RATE)

    @property
    def name(self) -> str:
        return "gaussian"

    @property
    def source(self) -> str:
        return "Full, Table 1 and Theorem F.4"

    @property
    def gaussian_rate(self) -> float | None:
        return self.rate

    @property
    def positive(self) -> bool:
        """Always."""
        return True

    def value(self, r: ArrayLike) -> Array:
        """exp(-c r^2/2)."""
        return jnp.exp(self.log_value(r))

    def log_value(self, r: ArrayLike) -> Array:
        """-c r^2/2."""
        return -0.5 * self.rate * jnp.square(jnp.asarray(r, dtype=float))

    def log_first(self, r: ArrayLike) -> Array:
        """-c r."""
        return -self.rate * jnp.asarray(r, dtype=float)

    def first(self, r: ArrayLike) -> Array:
        """-c r Phi."""
        return -self.rate * jnp.asarray(r, dtype=float) * self.value(r)

    def second(self, r: ArrayLike) -> Array:
        """c (c r^2 - 1) Phi."""
        return self._curvature(r, 1)

    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """exp(-c u/2) and its derivatives: one exponential for all three."""
        value = jnp.exp(-0.5 * self.rate * u)
        return value, -0.5 * self.rate * value, 0.25 * self.rate**2 * value

    def laplacian(self, r: ArrayLike) -> Array:
        """c (c r^2 - d) Phi. The papers print it without the leading c."""
        return self._curvature(r, self.dim)

    def fourier(self, k: Any) -> Any:
        """(2 pi/c)^(d/2) exp(-k^2/(2c))."""
        k = np.asarray(k, dtype=float)
        log_origin = 0.5 * self.dim * math.log(2 * math.pi / self.rate)
        return np.exp(log_origin - k * k / (2 * self.rate))

    def regions(self) -> tuple[Region, ...]:
        """Superharmonic for r < sqrt(d/c), subharmonic beyond."""
        edge = math.sqrt(self.dim / self.rate)
        return (Region("superharmonic", 0.0, edge), Region("subharmonic", edge, math.inf))

    def _curvature(self, r: ArrayLike, directions: int) -> Array:
        """The sum of second derivatives over `directions` axes, one of them along the radius."""
        r = jnp.asarray(r, dtype=float)
        return self.rate * (self.rate * r * r - directions) * self.value(r)


def gaussian_profile(gap: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """h = (2 rate/pi)^(d/4) exp(-rate |gap|^2), and its gradient."""
    # In the exponent: in high dimension the factor alone leaves the range of float64.
    log_factor = gap.shape[-1] / 4 * math.log(2 * rate / math.pi)
    value = np.exp(log_factor - rate * np.sum(gap**2, axis=-1))
    return value, -2 * rate * gap * value[..., None]


class GaussianTranslation(Translation):
    """h(x) = (2c/pi)^(d/4) exp(-c |x|^2), which realises exp(-c r^2/2), c = `rate`."""

    dim: int = eqx.field(static=True)
    rate: float
    inputs: Gaussian
    in_numpy = NumpyProfile(
        "(2 rate/pi)^(d/4) exp(-rate |x|^2)", "gaussian_profile(gap, RATE)", (gaussian_profile,)
    )

    def __init__(self, dim: int, rate: float = 1.0, inputs: Gaussian | None = None) -> None:
        self.dim = check_dim(dim)
        self.rate = check_real("rate", rate, 1 / LARGEST_RATE, LARGEST_RATE)
        self.inputs = Gaussian() if inputs is None else inputs

    @property
    def name(self) -> str:
        return "gaussian"

    @property
    def source(self) -> str:
        return "Full, Table 1 and Appendix B.1"

    def profile(self, displacement: ArrayLike) -> Array:
        """The profile h at displacements of shape (..., d); shape (...)."""
        square = jnp.sum(jnp.square(jnp.asarray(displacement, dtype=float)), axis=-1)
        return jnp.exp(self.dim / 4 * math.log(2 * self.rate / math.pi) - self.rate * square)

    def autocorrelation(self) -> GaussianPotential:
        """exp(-c r^2/2)."""
        return GaussianPotential(dim=self.dim, rate=self.rate)

    def parameters(self) -> dict[str, Any]:
        """The rate c."""
        return {"rate": float(self.rate)}

    @staticmethod
    def in_torch(torch: Any, gap: Any, rate: Any) -> Any:
        """The profile h at displacements of shape (..., d); shape (...)."""
        log_factor = gap.shape[-1] / 4 * torch.log(2 * rate / math.pi)
        return torch.exp(log_factor - rate * torch.sum(gap**2, dim=-1))


@ACTIVATIONS.register("gaussian")
def gaussian(dim: int, rate: float = 1.0, width: float = 1.0) -> GaussianTranslation:
    """The activation of exp(-rate r^2/2) under inputs N(0, width^2 I)."""
    return GaussianTranslation(dim=dim, rate=rate, inputs=Gaussian(width))
