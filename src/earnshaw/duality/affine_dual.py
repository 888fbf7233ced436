"""The potential of units with biases, or under any Gaussian inputs or mixture of them.

A unit s(w.X + b) is a charge at (w, b): its bias is the weight of an input that is always 1. With
x the position of a unit and X ~ N(m, S) the inputs (the constant among them, with mean 1 and
variance 0),

    mu = x.m,    q = x.S x,    c = x.S y,    Phi(x, y) = E[s(u) s(v)] (mu1, mu2, q1, q2, c),

a function of five numbers (`affine.py`), and for a mixture sum_m p_m N(m_m, S_m) the same mixture
of these. It is not invariant under rotations or translations: directions in which inputs vary more
count more.

`x` and `y` may be of two activations s and s' (`crossed`); `MixedDual` is what the units of a
network feel that are not all of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.affine import Affine
from earnshaw.duality.affine_moment import AffineMoment, affine_energy
from earnshaw.duality.pair import deficit
from earnshaw.duality.potential import Potential
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Inputs
from earnshaw.inputs.gaussian import root


class Cloud(NamedTuple):
    """One Gaussian of the inputs, or all, stacked: p, m (D,) and A (D, D) with A A^T = S."""

    probability: Array
    mean: Array
    root: Array


class Seen(NamedTuple):
    """Two units as a cloud shows them: their five numbers, and A^T x and A^T y."""

    units: Affine
    x: Array
    y: Array


class AffineDual(Potential):
    """Phi(x, y) = E[s(x.X) s'(y.X)] for positions x, y in R^dim and inputs from `clouds`.

    s is `origin`; s' is `other`, or the same.
    """

    kind: ClassVar[str] = "affine"
    variable: ClassVar[str] = "positions"
    origin: DotProduct
    form: AffineMoment
    clouds: Cloud
    dim: int = eqx.field(static=True)
    other: DotProduct | None = None

    @property
    def name(self) -> str:
        """The activation's name."""
        return self.origin.name

    @property
    def source(self) -> str:
        """Where the activation comes from."""
        return self.origin.source

    @property
    def method(self) -> str:
        """Closed form, or the numerical method."""
        return self.form.method

    @property
    def error_bound(self) -> float | None:
        """None: it depends on the positions, see `ew.potential(...).moment_error`."""
        return None

    @property
    def kinked(self) -> bool:
        """Whether s and s' have a kink or a jump: Phi has one then where units are parallel."""
        return bool(self.origin.kinks) and (self.other is None or bool(self.other.kinks))

    def value(self, argument: ArrayLike) -> Array:
        """Refused: it is no function of one number."""
        raise EarnshawError(
            f"the potential of {self.name} with biases or general inputs is no function of one "
            "number; allowed: between(theta, w)"
        )

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi for positions (..., dim)."""
        x, y = jnp.asarray(theta, dtype=float), jnp.asarray(w, dtype=float)
        return self.over_clouds(lambda cloud: self.form(seen(cloud, x, y).units))

    def gradient_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The gradient in theta, (..., dim)."""
        x, y = jnp.asarray(theta, dtype=float), jnp.asarray(w, dtype=float)
        return jax.grad(lambda x: jnp.sum(self.between(x, y)))(x)

    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The Laplacian in theta: a sum over the coordinates."""
        x, y = jnp.asarray(theta, dtype=float), jnp.asarray(w, dtype=float)
        slope = lambda x: self.gradient_between(x, y)  # noqa: E731
        along = lambda axis: jax.jvp(slope, (x,), (jnp.broadcast_to(axis, x.shape),))[1] @ axis  # noqa: E731
        return jnp.sum(jax.lax.map(along, jnp.eye(self.dim)), axis=0)

    def over_clouds(self, term: Callable[[Cloud], Any]) -> Any:
        """sum_m p_m term(cloud_m), of arrays or of tuples of them."""
        return over_clouds(self.clouds, term)


def over_clouds(clouds: Cloud, term: Callable[[Cloud], Any]) -> Any:
    """sum_m p_m term(cloud_m), of arrays or of tuples of them."""

    def weighed(cloud: Cloud) -> Any:
        return jax.tree.map(lambda part: cloud.probability * part, term(cloud))

    first = Cloud(*(part[0] for part in clouds))
    if len(clouds.probability) == 1:
        return weighed(first)
    # From zeros, so that what a cloud adds is compiled once.
    shapes = jax.eval_shape(weighed, first)
    nothing = jax.tree.map(lambda like: jnp.zeros(like.shape), shapes)

    def add(total: Any, cloud: Cloud) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, weighed(cloud)), None

    return jax.lax.scan(add, nothing, clouds)[0]


def seen(cloud: Cloud, x: Array, y: Array) -> Seen:
    """Units at x, y (..., D) that broadcast; the angle of nearly parallel ones is right too."""
    along, across = x @ cloud.root, y @ cloud.root
    q1, q2 = (jnp.sum(z * z, axis=-1) for z in (along, across))
    c = jnp.sum(along * across, axis=-1)
    size = jax.lax.stop_gradient(jnp.sqrt(q1) * jnp.sqrt(q2))
    fixed = jax.lax.stop_gradient(c)
    side = jnp.where(fixed < 0, -1.0, 1.0)
    small = jax.lax.stop_gradient(deficit(along, side[..., None] * across))
    large = size + jnp.abs(fixed)
    low, high = jnp.where(fixed < 0, large, small), jnp.where(fixed < 0, small, large)
    units = Affine(x @ cloud.mean, y @ cloud.mean, q1, q2, c, low, high)
    return Seen(units, along, across)


def seen_in_tile(cloud: Cloud, x: Array, y: Array) -> Seen:
    """All pairs of x (k, D) and y (m, D): covariances (k, m) by one product.

    What belongs to one unit stays (k, 1) or (1, m). The angle has the digits of the product.
    """
    along, across = x @ cloud.root, y @ cloud.root
    q1, q2 = jnp.sum(along * along, axis=-1)[:, None], jnp.sum(across * across, axis=-1)[None, :]
    c = along @ across.T
    size, fixed = jax.lax.stop_gradient((jnp.sqrt(q1) * jnp.sqrt(q2), c))
    low, high = (jnp.maximum(size + sign * fixed, 0.0) for sign in (-1, 1))
    means = (x @ cloud.mean)[:, None], (y @ cloud.mean)[None, :]
    return Seen(Affine(*means, q1, q2, c, low, high), along, across)


def clouds_of(inputs: Inputs, dim: int) -> Cloud:
    """The Gaussians of inputs in R^dim, stacked."""
    parts = inputs.components(dim)
    return Cloud(
        jnp.asarray([part.probability for part in parts]),
        jnp.stack([part.mean for part in parts]),
        jnp.stack([root(part.covariance) for part in parts]),
    )


def affine_dual(activation: DotProduct, inputs: Inputs, dim: int) -> AffineDual:
    """The potential of units in R^dim, under inputs that are Gaussian or a mixture of Gaussians."""
    form = affine_energy(activation, activation)
    return AffineDual(origin=activation, form=form, clouds=clouds_of(inputs, dim), dim=dim)


def crossed(first: AffineDual, second: AffineDual) -> AffineDual:
    """The potential between a unit of one activation and one of another, under the same inputs."""
    form = affine_energy(first.origin, second.origin)
    return AffineDual(first.origin, form, first.clouds, first.dim, second.origin)


class MixedDual(Potential):
    """The potential of units of several activations: unit i is of `parts[which[i]]`.

    Between two units it is a function of their positions and of which they are, so that it has no
    values of its own: `energy/kinds.py` sums over pairs of kinds.
    """

    kind: ClassVar[str] = "mixed"
    variable: ClassVar[str] = "positions"
    parts: tuple[AffineDual, ...]
    which: tuple[int, ...] = eqx.field(static=True)

    @property
    def name(self) -> str:
        """How many units there are of each activation, such as "2 relu, 1 tanh"."""
        counts = [self.which.count(part) for part in range(len(self.parts))]
        return ", ".join(
            f"{count} {part.name}" for count, part in zip(counts, self.parts, strict=True)
        )

    @property
    def responses(self) -> tuple[DotProduct, ...]:
        """The activation of each unit."""
        return tuple(self.parts[part].origin for part in self.which)

    @property
    def method(self) -> str:
        """Those of its parts."""
        return ", ".join(dict.fromkeys(part.method for part in self.parts))

    @property
    def error_bound(self) -> float | None:
        """None, as for each of its parts."""
        return None

    @property
    def dim(self) -> int:
        """That of the positions."""
        return self.parts[0].dim

    def value(self, argument: ArrayLike) -> Array:
        """Refused, like the rest: between which units?"""
        raise EarnshawError(
            f"units of several activations ({self.name}) have no one potential; allowed: that of "
            "two activations, ew.potential(first, second)"
        )

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Refused."""
        return self.value(theta)

    gradient_between = laplacian_between = between
