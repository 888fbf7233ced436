"""The Bessel potential exp(-|theta - w|_1), so named after its activation, a product of K_0.

In one dimension it is the 1-harmonic potential exp(-r): bounded, realizable, and with no local
minimum off the protons. In R^d it is lambda-harmonic with lambda = d off the coordinate hyperplanes
theta_i = w_i, where it has ridges: that is why the papers' theorem stops at d = 1.
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
from earnshaw.duality.activation import NumpyProfile, Translation
from earnshaw.duality.potential import Radial, even_size
from earnshaw.duality.regions import Region
from earnshaw.duality.separable import Separable
from earnshaw.inputs import Gaussian
from earnshaw.limits import check_dim
from earnshaw.numerics.bessel import log_reduced_k


class Exponential1D(Radial):
    """Phi(r) = exp(-r) on R^1: 1-harmonic off r = 0, with a cusp there (EPD, Theorem 3.9)."""

    dim: int = eqx.field(static=True, default=1, init=False)

    @property
    def name(self) -> str:
        return "exponential"

    @property
    def source(self) -> str:
        return "EPD, Table 1 and Theorem 3.9"

    @property
    def positive(self) -> bool:
        """Always."""
        return True

    def value(self, r: ArrayLike) -> Array:
        """exp(-r)."""
        return jnp.exp(-jnp.asarray(r, dtype=float))

    def log_value(self, r: ArrayLike) -> Array:
        """-r."""
        return -jnp.asarray(r, dtype=float)

    def first(self, r: ArrayLike) -> Array:
        """-exp(-r), also at r = 0, where it is the one-sided slope."""
        return -self.value(r)

    def second(self, r: ArrayLike) -> Array:
        """exp(-r)."""
        return self.value(r)

    def fourier(self, k: Any) -> Any:
        """2 / (1 + k^2)."""
        return 2 / (1 + np.square(np.asarray(k, dtype=float)))

    def regions(self) -> tuple[Region, ...]:
        """1-harmonic off r = 0."""
        return (Region("lambda-harmonic", 0.0, math.inf, 1.0),)


@POTENTIALS.register("bessel")
class BesselPotential(Separable):
    """Phi(theta, w) = exp(-|theta - w|_1) on R^dim (EPD and Full, Table 1).

    Its activation under N(0, I) inputs is exp(|x|^2/4) (2/pi)^(3d/4) prod_i K_0(|x_i - theta_i|).
    """

    dim: int = eqx.field(static=True, converter=check_dim)
    factor: Exponential1D = eqx.field(default_factory=Exponential1D, init=False)

    @property
    def name(self) -> str:
        return "bessel"

    @property
    def source(self) -> str:
        return "Full, Table 1; EPD, Table 1 and Theorem 3.9"

    @property
    def eigenvalue(self) -> float:
        """lambda = d, in Laplacian Phi = lambda Phi off the hyperplanes theta_i = w_i."""
        return float(self.dim)

    def regions(self) -> tuple[Region, ...]:
        """lambda-harmonic off the hyperplanes, however far the units are apart."""
        return (Region("lambda-harmonic", 0.0, float("inf"), self.eigenvalue),)

    def log_value(self, r: ArrayLike) -> Array:
        """-r, along one coordinate axis."""
        return self.factor.log_value(r)

    def log_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """-|theta - w|_1 for positions of shape (..., d)."""
        return -jnp.sum(even_size(jnp.asarray(theta, float) - jnp.asarray(w, float)), axis=-1)

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi(theta, w) for positions of shape (..., d)."""
        return jnp.exp(self.log_between(theta, w))

    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """d Phi(theta, w), off the hyperplanes."""
        return self.dim * self.between(theta, w)


def log_k0(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log K_0(z) and K_1(z) / K_0(z), modified Bessel functions, z >= 0; both infinite at 0.

    For z <= 1 by the power series, I_0 K_1 + I_1 K_0 = 1/z; above by the trapezoid rule for
    exp(z) K_n(z) = sqrt(2/z) integral_0^inf exp(-t^2) (1 + t^2/z)^n / sqrt(1 + t^2/(2z)) dt.
    """
    small, large = np.clip(z, 1e-300, 1.0), np.maximum(z, 1.0)
    i0, i1, rest = np.zeros_like(z), np.zeros_like(z), np.zeros_like(z)
    for k in reversed(range(10)):
        term = 1 / math.factorial(k) ** 2
        i0 = i0 * small**2 / 4 + term
        i1 = i1 * small**2 / 4 + term / (k + 1)
        rest = rest * small**2 / 4 + term * sum(1 / j for j in range(1, k + 1))
    k0 = rest - (np.log(small / 2) + 0.5772156649015329) * i0
    k1 = (1 / small - small / 2 * i1 * k0) / i0

    sum0, sum1 = np.zeros_like(z), np.zeros_like(z)
    for j in range(28):
        square = (0.23 * j) ** 2
        term = (0.23 if j else 0.115) * math.exp(-square) / np.sqrt(1 + square / (2 * large))
        sum0 = sum0 + term
        sum1 = sum1 + term * (1 + square / large)

    logarithm = np.where(z <= 1, np.log(k0), np.log(np.sqrt(2 / large) * sum0) - large)
    ratio = np.where(z <= 1, k1 / k0, sum1 / sum0)
    return np.where(z == 0, np.inf, logarithm), np.where(z == 0, np.inf, ratio)


def bessel_profile(gap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h = prod_i (sqrt(2)/pi) K_0(|gap_i|), and its gradient."""
    logarithm, ratio = log_k0(np.abs(gap))
    value = np.exp(np.sum(logarithm + math.log(math.sqrt(2) / math.pi), axis=-1))
    return value, np.where(gap < 0, ratio, -ratio) * value[..., None]


class BesselTranslation(Translation):
    """h(x) = prod_i (sqrt(2)/pi) K_0(|x_i|), which realises exp(-|x_1| - ... - |x_d|).

    It is infinite (logarithmically) where any coordinate of the displacement is 0.
    """

    dim: int = eqx.field(static=True)
    inputs: Gaussian
    in_numpy = NumpyProfile(
        "prod_i (sqrt(2)/pi) K_0(|x_i|)", "bessel_profile(gap)", (log_k0, bessel_profile)
    )

    def __init__(self, dim: int, inputs: Gaussian | None = None) -> None:
        self.dim = check_dim(dim)
        self.inputs = Gaussian() if inputs is None else inputs

    @property
    def name(self) -> str:
        return "bessel"

    @property
    def source(self) -> str:
        return "Full, Table 1 and Appendix B.1"

    def profile(self, displacement: ArrayLike) -> Array:
        """The profile h at displacements of shape (..., d); shape (...)."""
        logs = log_reduced_k(0.0, jnp.abs(jnp.asarray(displacement, dtype=float)))
        return jnp.exp(jnp.sum(logs + math.log(math.sqrt(2) / math.pi), axis=-1))

    def autocorrelation(self) -> BesselPotential:
        """exp(-|theta - w|_1)."""
        return BesselPotential(dim=self.dim)

    @staticmethod
    def in_torch(torch: Any, gap: Any) -> Any:
        """The profile h at displacements of shape (..., d); shape (...)."""
        log_factor = math.log(math.sqrt(2) / math.pi)
        sizes = torch.where(gap < 0, -gap, gap)  # slope 1 at 0, as JAX has it
        return torch.exp(torch.sum(_torch_log_k0(torch, sizes) + log_factor, dim=-1))


def _torch_log_k0(torch: Any, z: Any) -> Any:
    """log K_0(z) for z >= 0, as in `numerics.bessel`: a series up to 1, the trapezoid rule above.

    PyTorch's own K_0 has no gradient.
    """
    positive = z > 0
    inside = torch.where(positive, z, 1.0)
    small, large = torch.where(inside > 1, 1.0, inside), torch.where(inside > 1, inside, 1.0)
    quarter = small**2 / 4
    i0, rest, integral = torch.zeros_like(z), torch.zeros_like(z), torch.zeros_like(z)
    for k in reversed(range(10)):
        term = 1 / math.factorial(k) ** 2
        i0 = i0 * quarter + term
        rest = rest * quarter + term * sum(1 / j for j in range(1, k + 1))
    for j in range(28):
        square = (0.23 * j) ** 2
        weight = (0.23 if j else 0.115) * math.exp(-square)
        integral = integral + weight / torch.sqrt(1 + square / (2 * large))
    near = torch.log(rest - (torch.log(small / 2) + 0.5772156649015329) * i0)
    far = torch.log(torch.sqrt(2 / large) * integral) - large
    # -log z: infinite at 0, with an infinite slope.
    return torch.where(positive, torch.where(inside > 1, far, near), -torch.log(z))


@ACTIVATIONS.register("bessel")
def bessel(dim: int, width: float = 1.0) -> BesselTranslation:
    """The activation of exp(-|theta - w|_1) under inputs N(0, width^2 I)."""
    return BesselTranslation(dim=dim, inputs=Gaussian(width))
