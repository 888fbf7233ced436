"""Sums and positive multiples of potentials. A mixture of realizable ones is realizable."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.errors import EarnshawError
from earnshaw.potentials.base import Potential, Radial, Zonal


class _Weighted(eqx.Module):
    """sum_i weights_i f_i and its derivatives: what the two kinds of mixture share."""

    parts: eqx.AbstractVar[tuple[Any, ...]]
    weights: eqx.AbstractVar[tuple[float, ...]]

    @property
    def name(self) -> str:
        terms = zip(self.weights, self.parts, strict=True)
        return " + ".join(p.name if w == 1 else f"{w:g} {p.name}" for w, p in terms)

    @property
    def source(self) -> str:
        return "Full, Lemma B.6"

    @property
    def method(self) -> str:
        return "mixture of " + ", ".join(sorted({part.method for part in self.parts}))

    @property
    def error_bound(self) -> float | None:
        bounds = [part.error_bound for part in self.parts]
        return None if None in bounds else float(np.dot(np.abs(self.weights), bounds))

    @property
    def error_estimate(self) -> float | None:
        estimates = [part.error_estimate for part in self.parts]
        return None if None in estimates else float(np.dot(np.abs(self.weights), estimates))

    def value(self, argument: ArrayLike) -> Array:
        return self._sum("value", argument)

    def first(self, argument: ArrayLike) -> Array:
        return self._sum("first", argument)

    def second(self, argument: ArrayLike) -> Array:
        return self._sum("second", argument)

    def _sum(self, method: str, argument: ArrayLike) -> Array:
        terms = zip(self.weights, self.parts, strict=True)
        return sum((w * getattr(p, method)(argument) for w, p in terms), start=jnp.zeros(()))

    def _transform(self, method: str, argument: Any) -> Any:
        images = [getattr(part, method)(argument) for part in self.parts]
        if any(image is None for image in images):
            return None
        return sum(w * image for w, image in zip(self.weights, images, strict=True))


class ZonalMixture(_Weighted, Zonal):
    """A weighted sum of potentials on one sphere."""

    parts: tuple[Zonal, ...]
    weights: tuple[float, ...]
    dim: int | None

    def taylor(self, count: int) -> Any:
        """The weighted sum of the parts' Taylor coefficients."""
        return self._transform("taylor", count)


class RadialMixture(_Weighted, Radial):
    """A weighted sum of radial potentials on one R^d."""

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


def mixture(parts: tuple[Potential, ...], weights: tuple[float, ...]) -> Potential:
    """sum_i weights_i parts_i; the parts must be of one kind and one dimension."""
    flat = [
        (factor * inner, piece)
        for part, factor in zip(parts, weights, strict=True)
        for inner, piece in (
            zip(part.weights, part.parts, strict=True)
            if isinstance(part, _Weighted)
            else ((1.0, part),)
        )
    ]
    pieces = tuple(piece for _, piece in flat)
    factors = tuple(factor for factor, _ in flat)
    dims = {getattr(piece, "dim", None) for piece in pieces}
    if len(dims) > 1:
        raise EarnshawError(f"potentials of dimensions {sorted(map(str, dims))} do not add")
    (dim,) = dims
    if all(isinstance(piece, Zonal) for piece in pieces):
        return ZonalMixture(parts=pieces, weights=factors, dim=dim)  # type: ignore[arg-type]
    if all(isinstance(piece, Radial) for piece in pieces):
        return RadialMixture(parts=pieces, weights=factors, dim=dim)  # type: ignore[arg-type]
    kinds = " and ".join(sorted({piece.kind for piece in pieces}))
    raise EarnshawError(f"{kinds} potentials do not mix; allowed: all zonal or all radial")
