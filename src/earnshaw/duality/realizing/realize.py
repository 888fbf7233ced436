"""From a potential to an activation that has it, or to why there is none: `ew.realize`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from earnshaw.duality.activation import Translation
from earnshaw.duality.dual import Dual
from earnshaw.duality.families.tabulated import realized
from earnshaw.duality.formulas.expression import as_formula, parse_potential
from earnshaw.duality.potential import Potential, Zonal, ZonalMixture
from earnshaw.duality.realizing._function import function_potential
from earnshaw.duality.realizing._known_dual import known_dual
from earnshaw.duality.realizing._recognize import named_in_space, recognized
from earnshaw.duality.realizing._space import realize_space
from earnshaw.duality.realizing._sphere import realize_zonal
from earnshaw.duality.realizing.realization import Realization
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian
from earnshaw.limits import check_dim, check_real
from earnshaw.numerics.budget import Budget, TooMuchWork

SECONDS, MAX_SECONDS = 20.0, 1e6


def realize(
    potential: str | Potential | Callable[[Any], Any] | Any,
    *,
    on: Literal["sphere", "space"] = "sphere",
    dim: int | None = None,
    width: float = 1.0,
    seconds: float = SECONDS,
) -> Realization:
    """An activation whose potential is the given one, or an obstruction that anyone can check.

    Parameters
    ----------
    potential
        a potential object, or a formula: in `rho` on the sphere, in `r` for radial
        potentials on R^d, in `x1, x2, ...` for products over the coordinates; as text or as a
        SymPy expression. Or an elementwise function, of rho or of r. On the sphere it should
        take complex numbers too, as those of NumPy and JAX do: its Taylor coefficients come
        from a circle around 0.
    on
        for a formula or a function, where it lives.
    dim
        the dimension d; needed on R^d, and on the sphere to answer for S^(d-1).
    width
        the standard deviation of the Gaussian inputs that a translation activation is for.
    seconds
        how long it may think, of processor time, and a few seconds more for the step at
        which they end; what is not known by then is inconclusive, and the reason says what was
        being done.

    Returns
    -------
    Realization
        With `.realizable` True, False or None (inconclusive), `.reason`, and either
        `.activation` and `.check_error`, or `.obstruction`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> found = ew.realize("exp(rho-1)")
    >>> found.realizable, found.activation.name
    (True, 'exponential')
    >>> ew.realize("(3*rho^2 - 1)/2").realizable
    False
    """
    inputs = Gaussian(width)
    dim = None if dim is None else check_dim(dim)
    seconds = check_real("seconds", seconds, 0.0, MAX_SECONDS)
    if hasattr(potential, "free_symbols"):  # SymPy's: read as any other text
        potential = as_formula(potential, on)
    if isinstance(potential, str):
        potential = parse_potential(potential, on=on, dim=dim)
    elif callable(potential) and not isinstance(potential, Potential):
        potential = function_potential(potential, on, dim)
    if not isinstance(potential, Potential):
        raise EarnshawError("a potential must be a formula, a function or a Potential")
    budget = Budget(seconds)
    try:
        with budget, np.errstate(all="ignore"):
            result = _realize(potential, dim, inputs)
    except TooMuchWork as failure:
        result = Realization(potential, None, f"inconclusive: {failure}")
    except (ArithmeticError, np.linalg.LinAlgError):
        reason = "inconclusive: its numbers leave the range of float64"
        result = Realization(potential, None, reason)
    if result.realizable is None and budget.left < 0:
        more = "; more time may help: seconds=..., --seconds"
        result = dataclasses.replace(result, reason=result.reason + more)
    return result


def _realize(potential: Potential, dim: int | None, inputs: Gaussian) -> Realization:
    if isinstance(potential, Dual) and (known := known_dual(potential)) is not None:
        return known
    if isinstance(potential, ZonalMixture) and (multiple := _multiple(potential)) is not None:
        return dataclasses.replace(multiple, potential=potential)
    if isinstance(potential, Zonal):
        return recognized(_settle_mixture(realize_zonal(potential, dim=dim)))
    result = realize_space(named_in_space(potential), inputs)
    result = dataclasses.replace(result, potential=potential)
    if isinstance(result.activation, Translation):
        remembered = realized(result.activation, potential)
        result = dataclasses.replace(result, activation=remembered)
    return result


def _multiple(potential: ZonalMixture) -> Realization | None:
    """The answer for a positive multiple of one dual, such as ``2 * ew.potential("tanh")``."""
    (part, *more), (weight, *_) = potential.parts, potential.weights
    if more or weight <= 0 or not isinstance(part, Dual):
        return None
    return known_dual(dataclasses.replace(part, scale=part.scale * weight))


def _settle_mixture(result: Realization) -> Realization:
    """A sum of duals with weights >= 0 is realizable, however slowly its series converges."""
    mixed = result.potential
    if result.realizable is not None or not isinstance(mixed, ZonalMixture):
        return result
    if not all(isinstance(part, Dual) for part in mixed.parts) or min(mixed.weights) < 0:
        return result
    return dataclasses.replace(
        result,
        realizable=True,
        reason="a sum of duals with weights >= 0 is realizable (Full, Lemma B.6); " + result.reason,
        positive_semidefinite=True,
        positive_semidefinite_reason="a dual is positive semidefinite on every sphere",
    )
