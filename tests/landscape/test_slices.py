"""Spectra and slices of a loss: beside a double well by formula, and symmetries that are known."""

import numpy as np
import pytest

from double_well import Toy, at
from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.slices import loss_slice
from earnshaw.landscape.spectrum import spectrum


def formula(x, y):
    return (x**2 - 1) ** 2 + 5 * (y + x**2 - 1) ** 2


def test_the_spectrum_of_a_saddle():
    """At (0, 1) the Hessian is diag(-4, 10)."""
    found = spectrum(Toy(), at(0, 1), tolerance=1e-6)
    np.testing.assert_allclose(found.values, [-4, 10], atol=1e-12)
    np.testing.assert_allclose(np.abs(found.vectors), [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    assert found.negative.tolist() == [True, False]
    assert found.positive.tolist() == [False, True]
    assert not found.of_symmetry.any()
    assert found.gradient_norm == 0
    np.testing.assert_allclose(found.shares(), [[1], [1]])
    with pytest.raises(EarnshawError, match="no eigenvector 2"):
        found.direction(2)


def test_a_slice_along_the_eigenvectors():
    """s along x and t along y, up to signs; both ways the formula, on every point of the grid."""
    found = loss_slice(Toy(), at(0, 1), reach=0.5, grid=5)
    np.testing.assert_allclose(found.rights, np.linspace(-0.5, 0.5, 5))
    s, t = np.meshgrid(found.rights, found.ups)
    up = float(found.axes[1].motion.positions[0, 1])
    np.testing.assert_allclose(found.losses, formula(s, 1 + up * t), atol=1e-12)
    assert [axis.curvature for axis in found.axes] == pytest.approx([-4, 10])
    np.testing.assert_allclose(found.points, [[0, 0]])


def test_a_slice_through_three_students():
    found = loss_slice(Toy(), at(-1, 0), at(1, 0), at(0, 1), grid=7)
    np.testing.assert_allclose(found.points, [[0, 0], [2, 0], [1, 1]], atol=1e-12)
    np.testing.assert_allclose(found.point_losses, [0, 0, 1], atol=1e-12)
    s, t = np.meshgrid(found.rights, found.ups)
    np.testing.assert_allclose(found.losses, formula(s - 1, t), atol=1e-12)
    assert found.rights[0] < 0 < 2 < found.rights[-1]
    np.testing.assert_allclose(found.project(at(0.5, 0.25)), [1.5, 0.25])


def test_a_slice_through_two_students_is_as_high_as_wide():
    found = loss_slice(Toy(), at(-1, 0), at(1, 0), grid=3)
    np.testing.assert_allclose(found.points, [[0, 0], [2, 0]], atol=1e-12)
    assert np.ptp(found.ups) == pytest.approx(np.ptp(found.rights))
    assert abs(float(found.axes[1].motion.positions[0, 1])) == pytest.approx(1)


def test_what_is_refused():
    with pytest.raises(EarnshawError, match="one and the same"):
        loss_slice(Toy(), at(0, 0), at(0, 0))
    with pytest.raises(EarnshawError, match="on one line"):
        loss_slice(Toy(), at(0, 0), at(1, 0), at(2, 0))
    with pytest.raises(EarnshawError, match="through three students"):
        loss_slice(Toy(), at(0, 0), at(1, 0), at(2, 0), at(0, 1))
    with pytest.raises(EarnshawError, match="allowed: two"):
        loss_slice(Toy(), at(0, 1), along=(1, 1))
    with pytest.raises(EarnshawError, match="Teacher or a loss"):
        spectrum(at(0, 0), at(0, 0))


@pytest.mark.slow
def test_zeros_of_symmetries_are_told_from_others():
    """relu: (theta, c) -> (t theta, c/t) is one zero a unit; a spare unit adds others."""
    teacher = Teacher(np.eye(3)[:2], [1.0, 2.0], "relu")
    found = spectrum(teacher, teacher.student())
    assert (found.of_symmetry.sum(), found.zero.sum(), found.negative.sum()) == (2, 0, 0)
    np.testing.assert_allclose(found.values[found.of_symmetry], 0, atol=1e-12)
    for row in np.flatnonzero(found.of_symmetry):
        moved = found.motion(row)
        rates = np.asarray(moved.positions)[[0, 1], [0, 1]] / [1.0, 1.0]
        np.testing.assert_allclose(moved.weights, -rates * [1.0, 2.0], atol=1e-12)
    spare = Student([*np.eye(3)[:2], [0.3, 0.4, 0.5]], [1.0, 2.0, 0.0])
    found = spectrum(teacher, spare)  # a unit of weight 0 may go anywhere: also along its ray
    assert (found.of_symmetry.sum(), found.zero.sum(), found.negative.sum()) == (3, 2, 0)
