"""Losses of few units are compiled with room for more: the same numbers, and one program."""

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.numerics.compiled import LEAST, MOST, room

PROGRAMS = []


def _heard(event, seconds, **about):
    if event == "/jax/core/compile/backend_compile_duration":
        PROGRAMS.append(about.get("fun_name", ""))


@pytest.fixture(scope="module", autouse=True)
def _listening():
    jax.monitoring.register_event_duration_secs_listener(_heard)


def _all_of(units, seed):
    teacher = ew.random_teacher("erf", dim=2, units=units, seed=seed)
    student, loss = ew.random_student(teacher, seed=seed + 1), ew.population_loss(teacher)
    slope = loss.gradient(student)
    product = loss.hvp(student, tuple(slope))
    return loss, student, loss.value(student), slope, product, loss.hessian(student)


def test_one_more_unit_compiles_nothing():
    _all_of(3, 0)
    seen = len(PROGRAMS)
    _all_of(4, 5)
    _all_of(5, 7)
    ours = [name for name in PROGRAMS[seen:] if any(of in name for of in ("value", "hvp", "hess"))]
    assert not ours


def test_the_numbers_are_those_without_room():
    """Within another compiled function nothing is filled up."""
    loss, student, value, slope, product, hessian = _all_of(3, 0)
    plain = jax.jit(lambda x, c: loss.value_and_gradient(ew.Student(x, c)))
    expected, steep = plain(student.positions, student.weights)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    for ours, theirs in zip(slope, steep, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    direction = np.concatenate([np.ravel(slope.positions), slope.weights])
    along = np.concatenate([np.ravel(product.positions), product.weights])
    np.testing.assert_allclose(hessian @ direction, along, rtol=1e-12, atol=1e-13)


def test_sizes():
    assert room(0) == 0
    assert [room(count) for count in (1, LEAST, LEAST + 1, MOST)] == [8, 8, 16, 64]
    assert room(MOST + 1) == MOST + 1
