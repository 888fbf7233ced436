"""Where methods of all units start: at random, at a given student, or as in Full, Lemma 4.5."""

from __future__ import annotations

import jax.numpy as jnp

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.random import random_student
from earnshaw.energy.objective import Objective
from earnshaw.errors import EarnshawError
from earnshaw.learning.settings import Settings
from earnshaw.limits import check_memory

COPIES = 16  # of a start: gradients, steps, and the best so far


def first_students(
    teacher: Teacher, loss: Objective, settings: Settings, student: Student | None
) -> Student:
    """The starts of a method of all units, with a leading axis."""
    count = settings.starts or 1
    if student is not None:
        if count > 1 or settings.units not in (None, student.units) or settings.start:
            raise EarnshawError(
                "a given student is the only start; allowed: no starts, units, start"
            )
        loss.check(student)
        return Student(student.positions[None], student.weights[None])
    weights = "ones" if settings.objective == "assumption-1" else None
    units = teacher.units if settings.units is None else settings.units
    check_memory({"starts": count, "units": units, "dimensions": teacher.dim}, COPIES)
    # Seeds of starts are spread out, so that those of seed 0 and seed 1 are not the same.
    first = settings.seed * 1_000_003
    seeds = [(first + i) % 2**63 for i in range(count)]
    drawn = [
        random_student(teacher, units, seed, weights=weights, scale=settings.start_scale)
        for seed in seeds
    ]
    if settings.start == "lemma-4.5":
        drawn = [_lemma_start(loss, one) for one in drawn]
    return Student(
        jnp.stack([one.positions for one in drawn]), jnp.stack([one.weights for one in drawn])
    )


def _lemma_start(loss: Objective, student: Student) -> Student:
    """Full, Lemma 4.5: theta_1 = 0 with its best weight, all other weights 0."""
    if loss.manifold.name == "sphere":
        raise EarnshawError("lemma-4.5 starts at the origin, which is not on the sphere")
    if loss.wrt == "positions":
        raise EarnshawError("lemma-4.5 chooses a weight, and the weights are fixed here")
    positions = student.positions.at[0].set(0.0)
    only = jnp.arange(student.units) == 0
    return loss.refit(Student(positions, student.weights), only)[0]
