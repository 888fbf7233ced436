"""Charges that are very close: nothing is lost to cancellation at any separation.

Squared distances from |x|^2 + |y|^2 - 2 x.y would be wrong by up to 1e-5 in r at these positions.
"""

import numpy as np
import pytest
from scipy.integrate import quad

import earnshaw as ew
from energy.cases import case, everything, row_error

pytestmark = pytest.mark.slow

SEPARATIONS = (0.0, 1e-12, 1e-6, 1e-3)
ANGLES = (0.0, 1e-12, 1e-6, 1e-3)


# At a cusp the reference cancels terms of order 1, and knows what is left to 1e-55 only.
LEAST = 1e-40


def theorem_4_1(dim, separation, seed=0):
    """Protons N(0, d log d I); unit 0 beside a proton, unit 2 beside unit 1."""
    generator = np.random.default_rng(seed)
    spread = np.sqrt(dim * np.log(dim))
    w, x = spread * generator.standard_normal((2, dim)), np.zeros((3, dim))
    aside = generator.standard_normal((2, dim))
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    x[0] = w[0] + separation * aside[0]
    x[1] = spread * generator.standard_normal(dim)
    x[2] = x[1] + separation * aside[1]
    return x, w


@pytest.mark.parametrize("separation", SEPARATIONS)
@pytest.mark.parametrize(
    ("name", "dim"), [("gaussian", 7), ("almost-harmonic", 7), ("almost-harmonic", 31)]
)
def test_at_the_scale_of_theorem_4_1(name, dim, separation):
    places = theorem_4_1(dim, separation)
    loss, student, exact, direction = case(name, dim=dim, places=places, tiles=True)
    value, gradient, product, laplacian = everything(loss, student, direction)
    assert abs(float(value) - exact.value(student)) <= 1e-12 * exact.scale(student)
    axes = list(range(dim))[:: dim // 7]
    truth = exact.gradient(student, axes)
    assert row_error(gradient.positions[:, np.array(axes)], truth[0], LEAST) <= 1e-10
    assert row_error(gradient.weights[:, None], truth[1][:, None], LEAST) <= 1e-10
    if separation == 0 and name == "almost-harmonic":  # a cusp has no second derivative
        assert not np.any(np.isnan(product.positions))
        return
    truth = exact.hvp(student, direction, axes)
    assert row_error(product.positions[:, np.array(axes)], truth[0], LEAST) <= 1e-10
    assert row_error(product.weights[:, None], truth[1][:, None], LEAST) <= 1e-10
    total, size = exact.laplacian(student, [0])
    assert abs(float(laplacian[0]) - total) <= 1e-9 * size


def at_an_angle(angle, facing, lengths):
    """Unit 0 at `angle` from a proton (or from its opposite), unit 2 at `angle` from unit 1."""
    generator = np.random.default_rng(2)
    first, *_, second, third = np.linalg.qr(generator.standard_normal((3, 3)))[0]
    w = np.array([first, (second + third) / np.sqrt(2)])
    turned = lambda u, v: np.cos(angle) * u + np.sin(angle) * v  # noqa: E731
    other = (first - second + third) / np.sqrt(3)
    aside = np.cross(other, first)
    aside /= np.linalg.norm(aside)
    x = np.array([facing * lengths * turned(first, second), other, facing * turned(other, aside)])
    return x, w


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("facing", [1, -1])
@pytest.mark.parametrize(("on", "length"), [("space", 1.0), ("space", 2.5), ("sphere", 1.0)])
@pytest.mark.parametrize("name", ["relu", "sign"])
def test_nearly_parallel_and_antiparallel_units(name, on, length, facing, angle):
    places = at_an_angle(angle, facing, length)
    loss, student, exact, direction = case(name, on, places=places)
    value, gradient, product, laplacian = everything(loss, student, direction)
    assert abs(float(value) - exact.value(student)) <= 1e-12 * exact.scale(student)
    if name == "sign" and angle == 0:  # a cusp
        assert np.all(np.isfinite(gradient.positions))
        return
    # The force of sign has the direction of the difference of unit vectors, in which a rounding of
    # a position counts as much as 1e-16 beside the angle.
    tolerance = 1e-10 if name == "relu" else max(1e-10, 1e-15 / angle)
    truth = exact.gradient(student)
    assert row_error(gradient.positions, truth[0], LEAST) <= tolerance
    assert row_error(gradient.weights[None], truth[1][None]) <= 1e-10
    truth = exact.hvp(student, direction)
    assert row_error(product.positions, truth[0], LEAST) <= tolerance
    assert row_error(product.weights[None], truth[1][None]) <= tolerance
    # Units are on the sphere to a rounding of their length only, and |x - y|^2 is the square of the
    # angle plus that of the rounding: which one it is, is the processor's choice.
    off = 0.0 if name == "relu" or angle == 0 else (2 * np.finfo(float).eps / angle) ** 2
    for unit in range(3):
        total, size = exact.laplacian(student, [unit])
        assert abs(float(laplacian[unit]) - total) <= max(1e-9, off) * size


def test_exactly_parallel_units_of_different_length():
    """relu(2 x) = 2 relu(x): such a student is perfect, and stays so in every digit."""
    w = np.array([[0.3, -1.2, 0.5], [0.7, 0.1, -0.4]])
    x = np.array([2 * w[0], w[1] / 4, 2 * w[1]])
    b = np.array([0.8, -0.6])
    c = np.array([0.4, -0.6 * 2, -0.6 / 4])
    loss, student, exact, _ = case("relu", places=(x, w), weights=(c, b))
    assert abs(float(loss.value(student))) <= 1e-15 * exact.scale(student)
    gradient = loss.gradient(student)
    assert np.max(np.abs(gradient.positions)) <= 1e-15
    assert np.max(np.abs(gradient.weights)) <= 1e-15


@pytest.mark.parametrize("dim", [1, 3])
def test_parallel_units_of_any_lengths_have_the_hessian_of_the_ray(dim):
    """Relu units along one ray: L = (x - y)^2/2, whatever the last digits of x and y are."""
    rng = np.random.default_rng(0)
    ray = np.eye(1, dim) if dim == 1 else rng.normal(size=(1, dim))
    ray /= np.linalg.norm(ray)
    for x, y in rng.uniform(0.3, 2.0, size=(12, 2)):
        loss = ew.population_loss(ew.Teacher(y * ray, [1.0], "relu"))
        found = loss.hvp(ew.Student(x * ray, [1.0]), (ray, None)).positions
        assert float(np.sum(ray * np.asarray(found))) == pytest.approx(1.0, abs=1e-6)


def test_laplace_units_on_a_line():
    """L'' of E[exp(-|Z|(x + y))] in closed form by SciPy's quadrature."""
    second = lambda c: quad(  # noqa: E731
        lambda z: 2 * z * z * np.exp(-c * z - z * z / 2) / np.sqrt(2 * np.pi), 0, 12
    )[0]
    loss = ew.population_loss(ew.Teacher([[0.7]], [1.0], "laplace"))
    found = float(loss.hessian(ew.Student([[1.3]], [1.0]))[0, 0])
    assert found == pytest.approx(4 * second(2.6) - 2 * second(2.0), rel=1e-9)
