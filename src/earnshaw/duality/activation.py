"""What an activation is: a unit's response sigma(x, w) to the input x, given its weight w.

- `DotProduct`   sigma(x, w) = s(x.w) for one function s of one variable (relu, tanh, ...);
- `Translation`  sigma(x, w) = h(x - w) / sqrt(p(x)) for an input density p: the family that
  realises potentials on R^d (Full, Theorem 2.1).

An activation knows all that is said about it elsewhere: its symmetries, its closed-form `moment` or
its `potential`, and how it is written with NumPy and with PyTorch. Each is defined in one file of
`families/`.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.gaussian_means import GaussianMeans, Sum
from earnshaw.duality.pair import Moment, Multiple
from earnshaw.duality.potential import Potential
from earnshaw.duality.symmetry import NONE, Symmetries
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian

TorchFormula = Callable[..., Any]

# With these, and input widths from 1e-30 to 1e30, E[s^2] and its derivatives stay within float64.
LARGEST_FACTOR = 1e100  # of s(x): alpha, slopes, coefficients
LARGEST_RATE = 1e60  # of x or x^2 inside of s: gamma, curvature, rate


class NumpyFormula(NamedTuple):
    """s(x) in words, and s and s' as NumPy expressions of x and of the parameters in capitals.

    Lines before the last are statements. At a kink s' has the value that JAX gives the activation.
    `parts` are functions that the expressions call; exported files carry their source, so they may
    use `np`, `math` and each other only.
    """

    words: str
    value: str
    derivative: str
    parts: tuple[Callable[..., Any], ...] = ()


class NumpyProfile(NamedTuple):
    """h(x) in words, and a NumPy expression of `gap` = x - w that gives h and its gradient.

    Displacements (..., d) give values (...) and gradients (..., d); `parts` as in `NumpyFormula`.
    """

    words: str
    call: str
    parts: tuple[Callable[..., Any], ...]


class Activation(eqx.Module):
    """A unit's response. Not constructed directly: see `DotProduct` and `Translation`."""

    kind: ClassVar[str]

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The registered name, e.g. ``leaky-relu``."""

    @property
    def source(self) -> str:
        """Where the activation comes from, e.g. ``EPD, Table 1``."""
        return ""

    @property
    def symmetries(self) -> Symmetries:
        """How a unit can be rewritten without changing the network; none unless declared."""
        return NONE

    @abc.abstractmethod
    def unit(self, x: ArrayLike, w: ArrayLike) -> Array:
        """sigma(x, w) for inputs `x` and weights `w` of shape (..., d); shape (...)."""

    def parameters(self) -> dict[str, Any]:
        """What the activation was made with, as numbers and NumPy arrays, for exports."""
        fields = (field.name for field in dataclasses.fields(self))
        return {name: float(getattr(self, name)) for name in fields}


class DotProduct(Activation):
    """sigma(x, w) = s(x.w); calling the activation evaluates s elementwise.

    `in_numpy` and `in_torch` are None where s cannot be written out. The latter is a static method
    ``in_torch(torch, x, *parameters)`` of plain operations on tensors: it is handed the module
    PyTorch, so that no family imports it.
    """

    kind: ClassVar[str] = "dot-product"
    known: ClassVar[bool] = True  # False for a black box, of which nothing is known but values
    differentiable: ClassVar[bool] = True  # False for a black box that may be no JAX function
    in_numpy: ClassVar[NumpyFormula | None] = None
    in_torch: ClassVar[TorchFormula | None] = None

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where s is not smooth; quadratures split there."""
        return ()

    @abc.abstractmethod
    def __call__(self, x: ArrayLike) -> Array:
        """s(x), elementwise."""

    def unit(self, x: ArrayLike, w: ArrayLike) -> Array:
        """s(x.w)."""
        return self(jnp.sum(jnp.asarray(x) * jnp.asarray(w), axis=-1))

    def moment(self) -> Moment | None:
        """E[s(u) s(v)] in closed form; None leaves it to the general ways of `series/`."""
        return None

    def gaussian_means(self) -> GaussianMeans | None:
        """E[s(x + tau Z)] in closed form, for units with biases; None leaves it to quadrature."""
        return None

    def unscaled(self) -> tuple[DotProduct, float]:
        """The activation without constant factors, and their product."""
        return self, 1.0


class Scaled(DotProduct):
    """factor * s(x), a multiple of the activation `base`: a normalised potential has one."""

    base: DotProduct
    factor: float

    @property
    def known(self) -> bool:  # type: ignore[override]
        """Whether the base is."""
        return self.base.known

    @property
    def differentiable(self) -> bool:  # type: ignore[override]
        """Whether the base is."""
        return self.base.differentiable

    @property
    def name(self) -> str:
        """The factor and the name of the base."""
        return f"{self.factor:.6g} {self.base.name}"

    @property
    def source(self) -> str:
        """That of the base."""
        return self.base.source

    @property
    def kinks(self) -> tuple[float, ...]:
        """Those of the base."""
        return self.base.kinks

    @property
    def symmetries(self) -> Symmetries:
        """Those of the base, times the factor."""
        return self.base.symmetries.multiplied(float(self.factor))

    def __call__(self, x: ArrayLike) -> Array:
        """factor * s(x)."""
        return self.factor * self.base(x)

    def moment(self) -> Moment | None:
        """factor^2 times that of the base."""
        base = self.base.moment()
        return None if base is None else Multiple(base, self.factor**2)

    def gaussian_means(self) -> GaussianMeans | None:
        """factor times those of the base."""
        base = self.base.gaussian_means()
        return None if base is None else Sum((float(self.factor),), (base,))

    def unscaled(self) -> tuple[DotProduct, float]:
        """The innermost base, and the product of all factors."""
        base, factor = self.base.unscaled()
        return base, factor * float(self.factor)


class Translation(Activation):
    """sigma(x, w) = h(x - w) / sqrt(p(x)), p the density of the inputs.

    Then E[sigma(X, theta) sigma(X, w)] = integral h(x - theta) h(x - w) dx whatever p is; for
    N(0, I) inputs 1/sqrt(p(x)) is (2 pi)^(d/4) exp(|x|^2/4) (the proof of Full, Theorem 2.1 prints
    (2 pi)^(1/4), which is right for d = 1 only: mathematics.md, error 9).

    `in_torch` is a static method ``in_torch(torch, gap, *parameters)`` that gives h, as for
    `DotProduct`.
    """

    kind: ClassVar[str] = "translation"
    in_numpy: ClassVar[NumpyProfile | None] = None
    in_torch: ClassVar[TorchFormula | None] = None
    dim: eqx.AbstractVar[int]
    inputs: eqx.AbstractVar[Gaussian]

    @abc.abstractmethod
    def profile(self, displacement: ArrayLike) -> Array:
        """h at displacements of shape (..., d); shape (...)."""

    def unit(self, x: ArrayLike, w: ArrayLike) -> Array:
        """h(x - w) / sqrt(p(x))."""
        x = jnp.asarray(x, dtype=float)
        return self.profile(x - jnp.asarray(w)) * jnp.exp(-0.5 * self.inputs.log_density(x))

    def parameters(self) -> dict[str, Any]:
        """Those of the profile h: none unless declared."""
        return {}

    def autocorrelation(self) -> Potential:
        """The potential: integral h(x - theta) h(x - w) dx, whatever the density p."""
        raise EarnshawError(f"no potential is known for the activation {self.name!r}")

    def unrealized(self) -> Translation:
        """The activation without the potential that it was made from."""
        return self
