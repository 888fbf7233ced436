"""Several outputs: the losses of all outputs, added up.

    E|f - g|^2 = sum_o E[(f_o - g_o)^2],

where the units of all outputs are at the same positions: a charge is a vector, and the product of
two charges an inner product. Each output has a loss of its own (`PopulationLoss.of_output`); what
depends on positions alone is computed once for all of them, since `jax.vmap` leaves it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.energy.objective import FreeUnits, Gradient
from earnshaw.numerics.fixed_order import sum_all

if TYPE_CHECKING:
    from earnshaw.energy.population import PopulationLoss


def over_outputs(loss: PopulationLoss, function: Callable[..., Any], *arrays: Array) -> Any:
    """function(loss of output o, *arrays[..., o]) for all outputs, along a first axis."""

    def one(b: Array, constant: Array, *parts: Array) -> Any:
        return function(loss.of_output(b, constant), *parts)

    return jax.vmap(one, in_axes=-1)(loss.teacher.weights, loss.constant, *arrays)


def added_up(loss: PopulationLoss, student: Student) -> tuple[Array, Gradient]:
    """Value and gradient of the sum over outputs, for weights (k, m)."""
    values, slopes = over_outputs(
        loss, lambda one, c: one.euclidean(Student(student.positions, c)), student.weights
    )
    return sum_all(values), Gradient(jnp.sum(slopes.positions, axis=0), slopes.weights.T)


def free_units_of_all(each: FreeUnits) -> FreeUnits:
    """One unit alone with its best weights for all outputs, from those of single outputs (m, n).

    It saves sum_o C_o^2/Phi, whose logarithm has as its gradient the mean of those of the outputs,
    weighed by what each saves.
    """
    total = jax.scipy.special.logsumexp(each.log_savings, axis=0)
    share = jnp.where(jnp.isfinite(total), jnp.exp(each.log_savings - total), 0.0)
    return FreeUnits(each.weights.T, total, jnp.sum(share[..., None] * each.gradients, axis=0))


def for_all_outputs(matrix: Array, outputs: int) -> Array:
    """A Hessian in the weights of one output (k, k) as that of weights (k, m), row by row."""
    return jnp.asarray(np.kron(np.asarray(matrix), np.eye(outputs)))
