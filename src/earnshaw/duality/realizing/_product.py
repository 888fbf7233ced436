"""Products over the coordinates, prod_i f_i(|x_i|): realizable if every factor is.

And not if one is not: set the other x_j to 0. Autocorrelations of products are products, so with
|h_i * h_i - f_i| <= e_i the whole is off by at most prod_i (f_i(0) + e_i) - prod_i f_i(0). A
coordinate that does not occur is a factor 1: an activation has it by not looking there.
"""

from __future__ import annotations

import math

import numpy as np

from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation
from earnshaw.duality.formulas.expression import CartesianExpression
from earnshaw.duality.potential import Radial
from earnshaw.duality.realizing._fourier_witness import placed
from earnshaw.duality.realizing._radial import NOTHING, realize_radial, search_only
from earnshaw.duality.realizing.realization import Obstruction, Realization
from earnshaw.duality.separable import Separable
from earnshaw.inputs import Gaussian

MAX_FACTORS = 200
"""Coordinates of an activation that is a product of tables."""


def realize_product(
    potential: Separable | CartesianExpression, factors: list[Radial], inputs: Gaussian
) -> Realization:
    """`factors`: the f_i of the coordinates that occur, or the one f of a separable potential."""
    copies = potential.dim if isinstance(potential, Separable) else 1
    # Two negative factors make a positive product.
    factors = [f if float(f.value(0.0)) > 0 else (-1.0) * f for f in factors]  # type: ignore[misc]
    missing = potential.dim - len(factors) * copies
    wanted = not missing and potential.dim <= MAX_FACTORS
    known: dict[str, Realization] = {}
    for place, factor in enumerate(factors):
        if factor.name in known:
            continue
        known[factor.name] = result = realize_radial(factor, inputs, wanted)
        where = f"in x{getattr(potential, 'axes', (0,))[place] + 1}"
        if result.realizable is None:
            why = result.reason.removeprefix("inconclusive: ").removesuffix(NOTHING)
            return search_only(potential, f"{where}, {why}")
        if not result.realizable:
            found = _along(potential, place, result.obstruction)
            return Realization(potential, False, f"{where}, {result.reason}", obstruction=found)

    reason = "the Fourier transform is non-negative in every coordinate"
    if missing:
        few = f"dim {len(factors)}" if len(factors) > 1 else "dim 1"
        reason += (
            f" that occurs; neither the potential nor its activation depends on the other "
            f"{missing}, and the activation is that of {few}"
        )
        return Realization(potential, True, reason)
    if potential.dim > MAX_FACTORS:
        reason += f"; its activation is computed up to d = {MAX_FACTORS} only"
        return Realization(potential, True, reason)
    results = [known[factor.name] for factor in factors] * copies
    tables = []
    for result in results:
        if not isinstance(result.activation, RadialTranslation):
            return Realization(potential, True, f"{reason}; {result.reason}")
        tables.append(result.activation.table)
    sizes = np.array([float(factor.value(0.0)) for factor in factors] * copies)
    errors = np.array([result.check_error for result in results], dtype=float)
    error = math.expm1(float(np.sum(np.log1p(errors / sizes)))) * float(np.prod(sizes))
    activation = ProductTranslation(potential.name, tuple(tables), inputs)
    return Realization(potential, True, reason, activation, check_error=error)


def _along(
    potential: Separable | CartesianExpression, place: int, found: Obstruction | None
) -> Obstruction | None:
    """An obstruction of a factor as one of the product: its points on a coordinate axis."""
    if found is None or found.points is None:
        return found
    points = np.zeros((len(found.points), place + 1))
    points[:, place] = found.points[:, 0]
    on_axis = Obstruction(found.kind, found.location, found.value, 1, points, found.weights)
    return placed(potential, on_axis)
