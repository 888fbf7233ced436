"""The loss as a learner sees it: its own units, and an oracle of the hidden network.

    L(c, theta) = c.K c - 2 c.(F(theta) - G(theta)) + const,

F what the oracle answers, G the field of units that were placed before and are fixed (`left_by`).
The learner knows the activation, the inputs and the manifold, hence K and G exactly, and of the
hidden network nothing but answers: there is no teacher in here.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.manifolds import Manifold
from earnshaw.charges.network import Student
from earnshaw.energy._field import Field, LogPotential
from earnshaw.energy._laplacian import group_laplacian, moved_together
from earnshaw.energy._tiles import units
from earnshaw.energy.charged_loss import ChargedLoss
from earnshaw.energy.kinds import MixedCoupling
from earnshaw.energy.objective import Moving
from earnshaw.energy.oracle import Oracle
from earnshaw.energy.population import PopulationLoss


class AskedLoss(ChargedLoss):
    """L of the module's docstring; see `Objective` for what it offers."""

    oracle: Oracle
    placed: Student
    field: Field
    constant: Array
    manifold: Manifold
    name: str = eqx.field(static=True)
    wrt: Moving = eqx.field(static=True)
    unbounded: bool = eqx.field(static=True)
    teacher: None  # which a learner does not have

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.placed.dim

    @property
    def mixed(self) -> bool:
        """Whether its students have units of several activations."""
        return isinstance(self.field.coupling, MixedCoupling)

    @property
    def answer_error(self) -> Array:
        """The oracle's tau."""
        return self.oracle.error

    def outer_field(self, points: Array) -> tuple[Array, Array]:
        """F - G at points (n, d), shape (n,), and its gradient (n, d)."""
        value, gradient = self.oracle.ask(points)
        if not self.placed.units:
            return value, gradient
        own, own_gradient = self.field.at(units(points), self._fixed(points, self.placed))
        return value - own, gradient - own_gradient

    def inner_and_outer(self, student: Student) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The oracle may answer in the same pass, if it likes."""
        charged = units(student.positions, student.weights)
        placed = (self._fixed(student.positions, self.placed),) if self.placed.units else ()
        asked, inner, *rest = self.oracle.ask_beside(self.field, charged, placed)
        for value, gradient in rest:
            asked = asked[0] - value, asked[1] - gradient
        return inner, asked

    def log_left(self, points: Array, student: Student) -> LogPotential:
        """C = F - G - what `student` makes, at points (n, d): sign, log|C|, gradient of log|C|."""
        both = Student(
            jnp.concatenate([self.placed.positions, student.positions]),
            jnp.concatenate([self.placed.weights, student.weights]),
        )
        asked = self.oracle.ask_log(points)
        if not both.units:
            return asked
        return difference(asked, self.field.log_at(units(points), self._fixed(points, both)))

    def left_by(self, student: Student) -> AskedLoss:
        """The loss of further units, those of `student` placed for good."""
        placed = Student(
            jnp.concatenate([self.placed.positions, student.positions]),
            jnp.concatenate([self.placed.weights, student.weights]),
        )
        constant = self.value(student) if self.name != "one-node" else self.constant
        return dataclasses.replace(self, placed=placed, constant=constant)

    def laplacian(self, student: Student, units: Any = None) -> Array:
        """The Laplacian in each unit, (k,), or in a group moved together: by second derivatives."""
        student = self.check(student)
        if units is not None:
            return group_laplacian(self, student, moved_together(units, student.units))
        each = [
            group_laplacian(self, student, alone) for alone in np.eye(student.units, dtype=bool)
        ]
        return jnp.asarray(each)

    def _fixed(self, points: Array, student: Student) -> Any:
        return units(student.positions, student.weights, len(points))


def difference(first: LogPotential, second: LogPotential) -> LogPotential:
    """The potential `first` - `second`, all in logarithms: shapes (n,), (n,) and (n, d)."""
    top = jnp.maximum(first.log_size, second.log_size)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    one = first.sign * jnp.exp(first.log_size - top)
    other = second.sign * jnp.exp(second.log_size - top)
    total = one - other
    there = total != 0
    gradient = one[:, None] * first.gradient - other[:, None] * second.gradient
    return LogPotential(
        jnp.sign(total),
        top + jnp.log(jnp.abs(total)),
        jnp.where(there[:, None], gradient / jnp.where(there, total, 1.0)[:, None], 0.0),
    )


def asked_loss(loss: PopulationLoss, oracle: Oracle) -> AskedLoss:
    """What is left of `loss` for who may only ask `oracle`; of the teacher it keeps nothing."""
    return AskedLoss(
        oracle=oracle,
        placed=Student(jnp.zeros((0, loss.dim)), jnp.zeros(0)),
        field=loss.field,
        constant=oracle.power() if loss.terms.constant else jnp.zeros(()),
        manifold=loss.manifold,
        name=loss.name,
        wrt=loss.wrt,
        unbounded=loss.unbounded,
        teacher=None,
    )
