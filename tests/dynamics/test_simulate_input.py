"""Inputs that cannot be simulated: one line each, what was wrong and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.dynamics.simulate import simulate

TEACHER = ew.Teacher(np.eye(2), [1.0, 1.0], potential="exp(-r^2)")
STUDENT = ew.Student(np.eye(2), [1.0, 1.0])


def on(activation, where=None, **options):
    return ew.Teacher(np.eye(2), [1.0, 1.0], activation, on=where, **options)


@pytest.mark.parametrize(
    ("teacher", "student", "options", "words"),
    [
        (TEACHER, STUDENT, {"time": 0}, "time is 0; allowed:"),
        (TEACHER, STUDENT, {"time": float("nan")}, "time is nan; allowed:"),
        (TEACHER, STUDENT, {"time": "long"}, "time is 'long'; allowed:"),
        (TEACHER, STUDENT, {"rtol": -1}, "rtol is -1; allowed:"),
        (TEACHER, STUDENT, {"atol": 0}, "atol is 0; allowed:"),
        (TEACHER, STUDENT, {"max_steps": 0}, "max_steps is 0; allowed:"),
        (TEACHER, STUDENT, {"wrt": "charges"}, "unknown wrt 'charges'; known:"),
        (TEACHER, STUDENT, {"objective": "ful"}, "unknown objective 'ful'; did you mean full"),
        (TEACHER, ew.Student(np.eye(3), np.ones(3)), {}, "dimension 3; allowed: 2"),
        (TEACHER, ew.Student(np.zeros((0, 2)), np.zeros(0)), {}, "no units; allowed: one or more"),
        (TEACHER, np.eye(2), {}, "needs a Student"),
        (np.eye(2), STUDENT, {}, "needs a Teacher"),
        (on("sign"), STUDENT, {}, "sign on R.d has a cusp along every ray.*; allowed: on='sphere'"),
        (on("step"), STUDENT, {}, "step on R.d has a cusp along every ray.*; allowed:"),
        (on("bessel"), STUDENT, {}, "bessel has ridges .*; allowed: dimension 1"),
        (on("sign", "sphere"), ew.Student([[2.0, 0]], [1.0]), {}, "off the sphere; allowed:"),
        (on("harmonic"), STUDENT, {}, "is unbounded; allowed: objective='without-constants'"),
    ],
)
def test_one_line(teacher, student, options, words):
    with pytest.raises(ew.EarnshawError, match=words) as caught:
        simulate(teacher, student, **options)
    assert "\n" not in str(caught.value)
