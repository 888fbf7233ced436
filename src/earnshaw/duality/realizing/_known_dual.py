"""A potential that was made from an activation is realizable, by that activation."""

from __future__ import annotations

import math

from earnshaw.duality.activation import DotProduct, Scaled
from earnshaw.duality.dual import Dual
from earnshaw.duality.realizing.realization import Realization

_ROUNDING = 1e-15  # of the root and its square, relative


def known_dual(potential: Dual) -> Realization | None:
    """The activation behind a `Dual`, scaled as its potential is; None if it has forgotten it.

    The two are the same by definition: they differ by what the potential's values may be off.
    """
    origin = potential.origin
    if not isinstance(origin, DotProduct):
        return None
    factor = math.sqrt(potential.scale)
    activation = origin if factor == 1 else Scaled(origin, factor)
    bound = potential.error_bound
    error = potential.error_estimate if bound is None else bound
    rounding = _ROUNDING * abs(float(potential.scale * potential.power))
    return Realization(
        potential=potential,
        realizable=True,
        reason=f"it is the potential of {activation.name}",
        activation=activation,
        check_error=None if error is None else error + rounding,
        check_is_bound=bound is not None,
        positive_semidefinite=True,
        positive_semidefinite_reason="a dual is positive semidefinite on every sphere",
    )
