"""Laplacians: of the energy in each unit alone, and of any loss in units that move together.

On R^d every unit of the group moves by the same v; on the sphere by the same rotation, and the
Laplacian is the sum of second derivatives over the rotations of the d(d-1)/2 coordinate planes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.network import Student
from earnshaw.energy._field import Field
from earnshaw.energy._tiles import Units, negative, weigh
from earnshaw.energy.objective import Gradient, Objective
from earnshaw.errors import EarnshawError
from earnshaw.numerics.compiled import compiled
from earnshaw.numerics.fixed_order import sum_all


def moved_together(group: ArrayLike | Iterable[int], count: int) -> np.ndarray:
    """Which of `count` units are in a group, (count,), or an error."""
    listed = np.atleast_1d(np.asarray(list(group) if isinstance(group, Iterable) else group))
    allowed = f"distinct units from 0 to {count - 1}"
    if listed.ndim != 1 or not listed.size or not np.issubdtype(listed.dtype, np.integer):
        raise EarnshawError(f"a group of units must be a list of integers; allowed: {allowed}")
    if listed.min() < 0 or listed.max() >= count or len(set(listed.tolist())) < len(listed):
        raise EarnshawError(f"the group of units is {listed.tolist()}; allowed: {allowed}")
    return np.isin(np.arange(count), listed)


def charged_laplacians(field: Field, electrons: Units, others: Units, protons: Units) -> Array:
    """2 c_i times the Laplacian at theta_i of what the other units make less the protons, (k,)."""
    both = Units(*map(jnp.concatenate, zip(others, negative(protons), strict=True)))
    return 2 * weigh(electrons.charges, field.laplacian_at(electrons, both))


@compiled
def unit_laplacians(objective: Objective, student: Student) -> Array:
    """The Laplacian in each unit alone, (k,), by one Hessian-vector product a coordinate."""
    shape, still = student.positions.shape, jnp.zeros_like(student.weights)

    def bend(place: Array) -> Array:
        axis = jnp.zeros(shape).at[place[0], place[1]].set(1.0)
        product = objective.euclidean_hvp(student, Gradient(axis, still)).positions
        return product[place[0], place[1]]

    places = np.argwhere(np.ones(shape, dtype=bool))
    return jnp.sum(jax.lax.map(bend, jnp.asarray(places)).reshape(shape), axis=1)


def group_laplacian(objective: Objective, student: Student, inside: Any) -> Array:
    """The Laplacian by one Hessian-vector product a direction, for any potential and data.

    In the units that are `inside` (k,).
    """
    inside = inside[:, None]
    still = jnp.zeros_like(student.weights)

    def second_derivative(velocity: Array, acceleration: Array) -> Array:
        """Of the loss along a curve with these at its start."""
        velocity, acceleration = (jnp.where(inside, part, 0.0) for part in (velocity, acceleration))
        bend = objective.euclidean_hvp(student, Gradient(velocity, still)).positions
        slope = objective.euclidean(student)[1].positions
        return sum_all(velocity * bend) + sum_all(acceleration * slope)

    positions, dim = student.positions, student.dim
    if objective.manifold.name == "space":
        axes = jnp.eye(dim)
        move = lambda axis: second_derivative(  # noqa: E731
            jnp.broadcast_to(axis, positions.shape), jnp.zeros_like(positions)
        )
        return jnp.sum(jax.lax.map(move, axes))

    def turn(plane: Array) -> Array:
        p, q = plane
        velocity = jnp.zeros_like(positions).at[:, p].set(-positions[:, q])
        velocity = velocity.at[:, q].set(positions[:, p])
        acceleration = jnp.zeros_like(positions).at[:, p].set(-positions[:, p])
        return second_derivative(velocity, acceleration.at[:, q].set(-positions[:, q]))

    planes = np.stack(np.triu_indices(dim, 1), axis=1)
    return jnp.sum(jax.lax.map(turn, jnp.asarray(planes))) if len(planes) else jnp.zeros(())
