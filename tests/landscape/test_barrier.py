"""The path between two minima: beside a double well by formula, and networks by hand."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from double_well import Toy, at
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.landscape.alignment import aligned
from earnshaw.landscape.barrier import barrier


def slope(x, y):
    """The gradient of the double well."""
    return np.array([4 * x * (x**2 - 1) + 20 * x * (y + x**2 - 1), 10 * (y + x**2 - 1)])


@pytest.mark.slow
def test_a_bent_valley_between_two_wells():
    """On the line L = 6 (x^2 - 1)^2, so 6; over the saddle (0, 1) of eigenvalues -4, 10 it is 1."""
    found = barrier(Toy(), at(-1, 0), at(1, 0))
    parts = np.linspace(-1, 1, len(found.line))
    np.testing.assert_allclose(found.line, 6 * (parts**2 - 1) ** 2, atol=1e-12)
    assert found.line_height == pytest.approx(6, abs=1e-9)
    assert found.saddle_loss == pytest.approx(1, abs=1e-12)
    assert found.saddle_eigenvalue == pytest.approx(-4, abs=1e-6)
    np.testing.assert_allclose(found.saddle.positions, [[0, 1]], atol=1e-7)
    # The polygon is a path: never below the saddle, and here not far above it.
    assert 1 - 1e-12 <= found.top < 1.02
    assert found.error == pytest.approx(found.top - 1, abs=1e-12)
    x, y = found.positions[:, 0].T
    np.testing.assert_allclose(found.losses, (x**2 - 1) ** 2 + 5 * (y + x**2 - 1) ** 2, atol=1e-12)
    # The way that L falls from the saddle is the path that the images are to be on.
    down = solve_ivp(lambda _, z: -slope(*z), (0, 20), [1e-6, 1.0], rtol=1e-10, atol=1e-12).y
    right = x > 0
    far = np.min(np.hypot(x[right, None] - down[0], y[right, None] - down[1]), axis=1)
    assert np.max(far) < 0.02


@pytest.mark.slow
def test_downhill_there_is_no_barrier():
    found = barrier(Toy(), at(0.5, 0.75), at(1, 0))
    assert found.height == pytest.approx(0, abs=1e-12)
    assert found.error == 0
    assert found.saddle is None


GAUSSIANS = Teacher([[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0], "gaussian")


def by_hand(teacher, positions):
    """sum_ij q_i q_j Phi over teacher (+1) and student (-1) units, Phi = exp(-c r^2 / 2)."""
    places = np.concatenate([np.asarray(teacher.positions), positions])
    charges = np.array([1.0, 1.0, -1.0, -1.0])
    squares = np.sum((places[:, None] - places) ** 2, axis=2)
    rate = -2 * np.log(float(teacher.potential.value(1.0)) / float(teacher.potential.value(0.0)))
    return charges @ np.exp(-rate * squares / 2) @ charges * float(teacher.potential.value(0.0))


@pytest.mark.slow
def test_two_gaussian_units_that_change_places():
    """On the line both meet at the origin; past each other they need not climb so high."""
    loss = population_loss(GAUSSIANS, wrt="positions")
    start, end = GAUSSIANS.student(), Student(-GAUSSIANS.positions, GAUSSIANS.weights)
    found = barrier(loss, start, end, match=False)
    parts = 1 - 2 * np.linspace(0, 1, len(found.line))
    w = np.asarray(GAUSSIANS.positions)
    np.testing.assert_allclose(found.line, [by_hand(GAUSSIANS, t * w) for t in parts], atol=1e-12)
    assert found.line_height == pytest.approx(by_hand(GAUSSIANS, 0 * w), rel=1e-9)
    # Past each other at (0, +-y), L = 4 + 2 exp(-2) + 2 exp(-2 y^2) - 8 exp(-(1 + y^2)/2), whose
    # least is at y^2 = 1/3 (rate 1).
    assert found.saddle_loss == pytest.approx(4 + 2 * np.exp(-2) - 6 * np.exp(-2 / 3), abs=1e-8)
    np.testing.assert_allclose(np.abs(found.saddle.positions[:, 1]), 3**-0.5, atol=1e-4)
    assert found.saddle_loss - 1e-12 <= found.top < found.saddle_loss + 1e-3
    np.testing.assert_allclose(
        found.losses, [by_hand(GAUSSIANS, x) for x in found.positions], atol=1e-12
    )
    # The same network: up to the order of its units there is nothing to climb.
    same = barrier(loss, start, end)
    assert same.distance == 0
    assert same.height == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("activation", "wrt", "given", "wanted"),
    [
        ("erf", "both", ([[0, 2], [-1, 0]], [3, -2]), ([[1, 0], [0, 2]], [2, 3])),  # odd
        ("relu", "both", ([[0, 2], [3, 0]], [3, 1]), ([[1, 0], [0, 1]], [3, 6])),  # s(tx) = t s(x)
        ("relu", "both", ([[-0.6, -0.8], [0, 1]], [1, 1]), ([[-0.6, -0.8], [0, 1]], [1, 1])),
        ("gaussian", "positions", ([[0, 2], [1, 0]], [1, 1]), ([[1, 0], [0, 2]], [1, 1])),
    ],
)
def test_units_are_matched_by_what_leaves_the_network_as_it_is(activation, wrt, given, wanted):
    teacher = Teacher(np.eye(2), [1.0, 1.0], activation)
    loss = population_loss(teacher, wrt=wrt)
    found = aligned(loss, teacher.student(), Student(*given))
    np.testing.assert_allclose(found.positions, wanted[0], atol=1e-15)
    np.testing.assert_allclose(found.weights, wanted[1], atol=1e-15)
    assert float(loss.value(found)) == pytest.approx(float(loss.value(Student(*given))), rel=1e-12)


def test_what_is_refused():
    toy = Toy()
    with pytest.raises(EarnshawError, match="different weights"):
        barrier(toy, at(0, 0), Student([[1.0, 0.0]], [2.0]))
    with pytest.raises(EarnshawError, match="different weights"):
        barrier(toy, at(0, 0), Student([[1.0, 0.0]], [2.0]), match=False)
    with pytest.raises(EarnshawError, match="number of images"):
        barrier(toy, at(0, 0), at(1, 0), images=2)
    with pytest.raises(EarnshawError, match="as many in both"):
        barrier(toy, at(0, 0), Student(np.zeros((2, 2)), [1.0, 1.0]))
