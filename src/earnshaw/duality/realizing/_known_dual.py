"""A potential that was made from an activation is realizable, by that activation."""

from __future__ import annotations

import math

import numpy as np

from earnshaw.duality.activation import DotProduct, Scaled
from earnshaw.duality.dual import Dual
from earnshaw.duality.realizing.realization import Realization
from earnshaw.numerics.quadrature import correlated_mean

_ANGLES = np.linspace(0.0, math.pi, 10)[1:-1]


def known_dual(potential: Dual) -> Realization | None:
    """The activation behind a `Dual`, scaled as its potential is; None if it has forgotten it."""
    origin = potential.origin
    if not isinstance(origin, DotProduct):
        return None
    factor = math.sqrt(potential.scale)
    activation = origin if factor == 1 else Scaled(origin, factor)
    return Realization(
        potential=potential,
        realizable=True,
        reason=f"it is the potential of {activation.name}",
        activation=activation,
        check_error=_check_error(activation, potential),
        positive_semidefinite=True,
        positive_semidefinite_reason="a dual is positive semidefinite on every sphere",
    )


def _check_error(activation: DotProduct, potential: Dual) -> float:
    """Against plane integrals split along the kinks, which know nothing of closed forms."""
    size = math.sqrt(potential.variance)
    cuts = [kink / size for kink in activation.kinks]
    means = [
        correlated_mean(lambda x: np.asarray(activation(size * x)), cuts, angle, half_width=16.0)
        for angle in _ANGLES
    ]
    return float(np.max(np.abs(np.asarray(potential(np.cos(_ANGLES))) - means)))
