"""Networks whose units are not all of one activation; a linear part of the output among them.

Between units of activations s and s' the potential is E[s(u) s'(v)] (`duality/affine_dual.py`), so
that a network of several activations is a set of charges of several kinds. A linear part of the
output with an intercept, x.a + c, is one more unit of the identity (hermite-1) at the position
(a, c), of weight 1; for m outputs m such units, the o-th with the weight e_o.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np
from jax.typing import ArrayLike

from earnshaw.charges.species import Origin, Species, affine_species
from earnshaw.duality.activation import Activation
from earnshaw.duality.affine_dual import AffineDual, MixedDual
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.named import canonical
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian, Inputs

LINE = "hermite-1"


def mixed_species(
    activations: Sequence[Any],
    dim: int,
    *,
    width: float | None,
    inputs: Inputs | None,
    biased: bool,
    parameters: dict[str, Any] | None = None,
) -> Species:
    """The species of units in R^dim, one activation a unit: names, objects or functions."""
    if parameters:
        raise EarnshawError(f"parameters {sorted(parameters)} need one activation by name")
    if width is not None and inputs is not None:
        raise EarnshawError("a network with inputs= and width=; allowed: one of them")
    listed = [canonical(each) if isinstance(each, str) else each for each in activations]
    distinct = _distinct(listed)
    parts = [affine_species(each, dim, width, {}, inputs, biased) for each in distinct]
    if len(parts) == 1:
        return parts[0]
    which = tuple(next(i for i, one in enumerate(distinct) if _same(one, each)) for each in listed)
    potentials = tuple(_affine(part) for part in parts)
    origin: Origin = "activation" if all(isinstance(each, str) for each in listed) else "object"
    potential = MixedDual(potentials, which)
    return Species(potential, parts[0].inputs, None, origin, potential.name)


def check_one_a_unit(activations: Sequence[Any], units: int) -> None:
    """Refuse a list of activations that is not as long as there are units."""
    if len(activations) != units:
        raise EarnshawError(
            f"{len(activations)} activations for {units} units; allowed: one, or one a unit"
        )


def kinds_of(species: Species, units: int, dim: int) -> MixedDual:
    """The potential of `units` units in R^dim as one of several kinds, of which one will do.

    Units without biases under isotropic inputs are units of x.w like others here.
    """
    if isinstance(species.potential, MixedDual):
        return species.potential
    found = species
    if not isinstance(species.potential, AffineDual):
        found = affine_species(species.activation, dim, species.width, {}, None, False)
    return MixedDual((_affine(found),), (0,) * units)


def kinds_like(
    species: Species, responses: Activation | tuple[Activation, ...], dim: int
) -> MixedDual:
    """The kinds of units of other activations, with biases and inputs like those of `species`."""
    inputs = species.seen_inputs
    if isinstance(inputs, Gaussian) and inputs.mean is None and inputs.covariance is None:
        width, given = species.width, None
    else:
        width, given = None, inputs
    listed = responses if isinstance(responses, tuple) else (responses,)
    found = mixed_species(listed, dim, width=width, inputs=given, biased=species.biased)
    return kinds_of(found, len(listed), dim)


def with_line(
    positions: ArrayLike,
    weights: ArrayLike,
    activation: Any,
    biases: ArrayLike | None,
    linear: ArrayLike | None,
    intercept: ArrayLike | None,
    parameters: dict[str, Any],
) -> tuple[ArrayLike, ArrayLike, list[Any], ArrayLike | None]:
    """Positions, weights, activations and biases, with the units that a linear part is."""
    x, c = np.asarray(positions, dtype=float), np.asarray(weights, dtype=float)
    if x.ndim != 2 or c.ndim not in (1, 2):
        raise EarnshawError(
            f"a linear part with positions of shape {x.shape} and weights of shape {c.shape}; "
            "allowed: (units, dimension), and (units,) or (units, outputs)"
        )
    units, dim = x.shape
    outputs = c.shape[1:]
    many = outputs[0] if outputs else 1
    slopes = np.zeros((dim, *outputs)) if linear is None else np.asarray(linear, dtype=float)
    constants = np.zeros(outputs) if intercept is None else np.asarray(intercept, dtype=float)
    for name, array, shape in (
        ("linear part", slopes, (dim, *outputs)),
        ("intercept", constants, outputs),
    ):
        if array.shape != shape:
            raise EarnshawError(f"the {name} has shape {array.shape}; allowed: {shape}")
    listed = activation if isinstance(activation, (list, tuple)) else [activation] * units
    if parameters:
        if not isinstance(activation, str):
            raise EarnshawError(f"parameters {sorted(parameters)} need one activation by name")
        listed = [named_activation(activation, **parameters)] * units
        parameters.clear()
    own = np.eye(many) if outputs else np.ones(1)
    if biases is None and intercept is not None:
        biases = np.zeros(units)
    if biases is not None:
        biases = np.append(np.asarray(biases, dtype=float), constants)
    return (
        np.concatenate([x, np.reshape(slopes, (dim, many)).T]),
        np.concatenate([c, own]),
        [*listed, *[LINE] * many],
        biases,
    )


def lines_of(
    responses: tuple[Activation, ...], positions: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Which units are lines, (k,), and their sum as positions see it: (d,) or (d, m), or None."""
    lines = np.array([one.name == LINE for one in responses])
    if np.all(lines) or not np.any(lines):
        return np.zeros(len(weights), dtype=bool), None
    return lines, np.tensordot(positions[lines], weights[lines], axes=(0, 0))


def _affine(species: Species) -> AffineDual:
    assert isinstance(species.potential, AffineDual)
    return species.potential


def _distinct(listed: list[Any]) -> list[Any]:
    found: list[Any] = []
    for each in listed:
        if not any(_same(each, other) for other in found):
            found.append(each)
    return found


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Activation) and isinstance(other, Activation):
        return same_activation(one, other)
    return one is other or (isinstance(one, str) and one == other)


def same_activation(one: Activation, other: Activation) -> bool:
    """Whether two activations are the same: one object, or of one kind with equal parameters."""
    return one is other or (type(one) is type(other) and bool(eqx.tree_equal(one, other)))
