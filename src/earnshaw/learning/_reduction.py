"""What a run has learned, in its smallest form: the end of `learn` if nothing is left to learn.

A student that is the teacher as a function may have more units than it needs, some of them turned
round (`charges/smallest.py`). The learner can tell by its own units and its own loss: the form with
fewer units is polished, and taken if it is as good. Nothing of the teacher is used.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.charges.smallest import Smallest, smallest_form
from earnshaw.descent.method import Stop
from earnshaw.descent.methods import has_cusps
from earnshaw.descent.newton import refine
from earnshaw.descent.nodes import FIRST_ROOM, nothing
from earnshaw.duality.symmetry import Symmetries
from earnshaw.energy.objective import Objective
from earnshaw.energy.variants import Terms
from earnshaw.learning._sessions import Outcome

TOLERANCES = (1e-9, 1e-7, 1e-5, 1e-3)  # at which units are one: a flat loss leaves them apart
ROUNDED = 1e-14  # part of the first loss that rounding may make of 0
STEPS = 200  # of a polish
UNFINISHED = (Stop.INTERRUPTED, Stop.DIVERGED, Stop.FAIL)


def reduced(objective: Objective, symmetries: Symmetries, outcome: Outcome) -> Outcome:
    """The outcome with as few units as its own function needs, if nothing is left of the loss.

    Ctrl-C leaves it as it is.
    """
    first = float(objective.empty_value())
    plain = objective.terms == Terms() and objective.wrt == "both" and np.isfinite(first)
    plain = plain and not objective.charge_shape and not objective.mixed
    if not plain or outcome.stop in UNFINISHED:
        return outcome
    if not outcome.loss <= nothing(objective, outcome.student, first):
        return outcome
    try:
        for tolerance in TOLERANCES:
            student = outcome.student
            form = smallest_form(student.positions, student.weights, symmetries, tolerance)
            if form.units < student.units:
                student, loss = _polished(objective, form, first)
                # Two units that are merely close can be told apart by more than this.
                as_good = max(outcome.loss, ROUNDED * first) + nothing(objective, student, 0.0)
                if loss <= as_good:
                    outcome = _with_units(outcome, form, student, loss)
    except KeyboardInterrupt:
        return dataclasses.replace(outcome, stop=Stop.INTERRUPTED)
    return outcome


def _polished(objective: Objective, form: Smallest, first: float) -> tuple[Student, float]:
    """The units of the form after a refinement, and their loss."""
    room = FIRST_ROOM  # as node-wise runs have it, for which everything is compiled
    while room < form.units:
        room *= 2
    more = ((0, room - form.units), (0, 0))
    positions = objective.manifold.project(jnp.pad(jnp.asarray(form.positions), more))
    student = Student(positions, jnp.pad(jnp.asarray(form.weights), more[0]))
    used = jnp.arange(room) < form.units
    if has_cusps(objective):
        student, value = objective.refit(student, used)
    else:
        student, value = refine(objective, student, used, STEPS, first)
    units = slice(form.units)
    return Student(student.positions[units], student.weights[units]), float(value)


def _with_units(outcome: Outcome, form: Smallest, student: Student, loss: float) -> Outcome:
    """The outcome of the new units, each with the way of the unit that it was made of.

    The way of a unit that was turned round is mirrored.
    """
    ends, before = np.asarray(student.positions), np.asarray(outcome.student.positions)
    paths = []
    for end, origin in zip(ends, form.origin, strict=True):
        if origin < 0:
            paths.append(end[None])
            continue
        side = 1.0 if before[origin] @ end >= 0 else -1.0
        paths.append(np.concatenate([side * outcome.history.paths[origin][:-1], end[None]]))
    history = dataclasses.replace(outcome.history, paths=tuple(paths))
    return dataclasses.replace(outcome, student=student, loss=loss, history=history)
