"""Sums of potentials: what mixtures of every kind share, and how a sum is put together.

A mixture of realizable potentials is realizable (Full, Lemma B.6). The two kinds that add make
their own sums, `ZonalMixture` and `RadialMixture` (potential.py), so that this file needs neither.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.errors import EarnshawError


class Weighted(eqx.Module):
    """sum_i weights_i f_i and its derivatives: what the two kinds of mixture share."""

    top: ClassVar[float]  # where a potential that an activation has is largest
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
        """sum_i |w_i| bound_i and the rounding of the sum; None where a part is not bounded.

        A part of bound 0 (-r, whose values are exact) is unbounded, and so is the rounding of its
        multiples.
        """
        bounds = [part.error_bound for part in self.parts]
        if len(bounds) == 1 and abs(self.weights[0]) == 1:
            return bounds[0]
        if not all(bounds):
            return None
        sizes = np.array([abs(float(part.value(self.top))) for part in self.parts])
        rounding = len(bounds) * 2.0**-52 * sizes
        return float(np.dot(np.abs(self.weights), np.array(bounds) + rounding))

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


def mixture(parts: tuple[Any, ...], weights: tuple[float, ...]) -> Any:
    """sum_i weights_i parts_i, potentials of one kind and one dimension; mixtures are taken apart.

    The kind itself makes the sum (`Zonal.mixed`, `Radial.mixed`).
    """
    flat = [
        (factor * inner, piece)
        for part, factor in zip(parts, weights, strict=True)
        for inner, piece in (
            zip(part.weights, part.parts, strict=True)
            if isinstance(part, Weighted)
            else ((1.0, part),)
        )
    ]
    pieces = tuple(piece for _, piece in flat)
    dims = {getattr(piece, "dim", None) for piece in pieces}
    if len(dims) > 1:
        raise EarnshawError(f"potentials of dimensions {sorted(map(str, dims))} do not add")
    kinds = sorted({piece.kind for piece in pieces})
    if len(kinds) > 1:
        raise EarnshawError(
            f"{' and '.join(kinds)} potentials do not mix; allowed: all zonal or all radial"
        )
    return pieces[0].mixed(pieces, tuple(factor for factor, _ in flat))
