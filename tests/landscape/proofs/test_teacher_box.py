"""One proof for a box of teachers: each teacher in it, proved alone, is as the box says."""

import dataclasses

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs.prove import prove
from earnshaw.landscape.proofs.teacher_box import largest_box, prove_teachers
from landscape.proofs.test_strict_sign_file import PROOF

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def box():
    return prove_teachers(PROOF, 5e-8)


def test_every_teacher_in_the_box_has_the_strict_minimum(box):
    rng = np.random.default_rng(0)
    w, b = np.asarray(PROOF.teacher.positions), np.asarray(PROOF.teacher.weights)
    for corner in range(12):
        # Corners of the box, where it is easiest to be wrong, and points inside.
        draw = (lambda size: rng.choice([-1.0, 1.0], size)) if corner % 2 else rng.standard_normal
        moved = w + box.spread * np.clip(draw((3, 3)), -1, 1)
        teacher = Teacher(
            moved / np.linalg.norm(moved, axis=1, keepdims=True),
            b + box.spread * np.clip(draw(3), -1, 1),
            "sign",
            on="sphere",
        )
        x = np.array(PROOF.centre.positions)
        x[:2] = np.asarray(teacher.positions)[[0, 2]]
        alone = prove(teacher, Student(x, PROOF.centre.weights))
        assert alone.kind == "cusp-minimum"
        assert alone.smallest_eigenvalue > box.smallest_eigenvalue
        assert min(alone.margins[:2]) > box.smallest_margin
        assert box.loss[0] <= alone.loss[0] <= alone.loss[1] <= box.loss[1]
        gap = np.abs(np.asarray(alone.centre.weights) - np.asarray(PROOF.centre.weights))
        assert np.max(gap) <= box.radius


def test_the_box_is_away_from_zero_and_no_larger_than_it_can_be(box):
    assert box.away_from_zero
    assert 0 < box.smallest_eigenvalue < PROOF.smallest_eigenvalue
    assert 0 < box.smallest_margin < min(PROOF.margins[:2])
    assert prove_teachers(PROOF, 1e-3) is None
    widest = largest_box(PROOF)
    assert 5e-8 <= widest.spread < 1e-3
    assert prove_teachers(PROOF, 2 * widest.spread) is None


def test_a_saddle_has_no_box():
    saddle = dataclasses.replace(PROOF, kind="strict-saddle")
    with pytest.raises(EarnshawError, match="needs a proven minimum"):
        prove_teachers(saddle, 1e-9)
