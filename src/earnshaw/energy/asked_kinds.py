"""A hidden network of several activations, as a learner sees it who places units of each of them.

With s_a the activation of kind a and g the units placed so far, of all kinds, what is left for one
more unit of kind a is

    C_a(x) = E[(f - g)(X) s_a(x.X)] = F_a(x) - sum_j c_j Phi_ab(x, y_j),    b the kind of unit j.

The oracle answers F_a for every kind; the rest the learner knows. Which activations there are it is
told, how many units of each it is not: a student has `slots` places for every kind, so that which
unit is of which kind is known when its loss is made, and a unit more compiles nothing.

Where flips leave lines behind, s(y) - s(-y) = A y, lines are one kind more: else units of kinds
without such flips stand in for them, saturated or nearly flat.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from jax import Array

from earnshaw.charges.mixed import LINE, same_activation
from earnshaw.charges.network import Student, UnitKind
from earnshaw.duality.activation import Activation
from earnshaw.duality.named import activation
from earnshaw.energy._tiles import units
from earnshaw.energy.asked_loss import AskedLoss, asked_loss
from earnshaw.energy.kinds import Between, MixedField
from earnshaw.energy.oracle import Oracle, oracle_of
from earnshaw.energy.population import PopulationLoss, population_loss


class LeftOfKind(Oracle):
    """C_a: `answers` are F_a, `between` is what units of kind a feel of all others."""

    answers: Oracle
    between: Between
    placed: Student
    error: Array

    def power(self) -> Array:
        return self.answers.power()

    def ask(self, points: Array) -> tuple[Array, Array]:
        value, slope = self.answers.ask(points)
        fixed = units(self.placed.positions, self.placed.weights, len(points))
        made, drawn = self.between.at(units(points), fixed)
        return value - made, slope - drawn


@dataclasses.dataclass(frozen=True, eq=False)
class AskedKinds:
    """The losses of a unit of each kind, `alone`, and of students with slots for all of them.

    `activations` are those of the kinds, `exact` is the loss that the oracle answers from. Of the
    last kind there may be none in the hidden network, if `has_lines_of_its_own`.
    """

    activations: tuple[Activation, ...]
    alone: tuple[AskedLoss, ...]
    exact: PopulationLoss
    oracle: str
    seed: int
    has_lines_of_its_own: bool
    made: dict[int, AskedLoss] = dataclasses.field(default_factory=dict)

    @property
    def biased(self) -> bool:
        """Whether the last coordinate of a position is a bias."""
        return self.exact.teacher.biased

    def together(self, slots: int) -> AskedLoss:
        """The loss of a student of `slots` units of the first kind, as many of the second, ..."""
        if slots not in self.made:
            listed = [each for each in self.activations for _ in range(slots)]
            self.made[slots] = _asked(self.exact, listed, self.oracle, self.seed)
        return self.made[slots]

    def named(self, student: Student, kinds: np.ndarray) -> Student:
        """The student, which knows that its units are of these kinds (k,)."""
        return student.of(UnitKind(tuple(self.activations[kind] for kind in kinds)))

    def kinds_in(self, student: Student) -> np.ndarray:
        """The kinds (k,) of the units of a student that knows them."""
        assert student.unit_kind is not None
        each = student.unit_kind.responses
        assert isinstance(each, tuple)
        return np.array([self.activations.index(one) for one in each], dtype=int)

    def left_by(self, student: Student, slots: int) -> tuple[AskedLoss, ...]:
        """What the student's units, in their slots, leave for a unit of each kind."""
        field = self.together(slots).field
        assert isinstance(field, MixedField)
        assert field.between is not None
        left = []
        for row, loss in zip(field.between.fields, self.alone, strict=True):
            between = Between((row,), None, field.between.sources)
            oracle = LeftOfKind(
                answers=loss.oracle, between=between, placed=student, error=loss.oracle.error
            )
            left.append(dataclasses.replace(loss, oracle=oracle))
        return tuple(left)


def asked_kinds(loss: PopulationLoss, oracle: str, seed: int = 0) -> AskedKinds:
    """For the kinds of the teacher of `loss`, of one output."""
    responses = loss.teacher.unit_kind.responses
    listed = responses if isinstance(responses, tuple) else (responses,)
    distinct: list[Activation] = []
    for each in listed:
        if not any(same_activation(each, known) for known in distinct):
            distinct.append(each)
    line = activation(LINE)
    flips = any(each.symmetries.linear for each in distinct)
    lines = flips and not any(same_activation(line, each) for each in distinct)
    distinct += [line] if lines else []
    alone = tuple(_asked(loss, each, oracle, seed) for each in distinct)
    return AskedKinds(tuple(distinct), alone, loss, oracle, seed, lines)


def _asked(
    exact: PopulationLoss, activation: Activation | list[Activation], oracle: str, seed: int
) -> AskedLoss:
    seen = population_loss(exact.teacher, exact.name, wrt=exact.wrt, activation=activation)
    return asked_loss(seen, oracle_of(oracle, seen, seed))
