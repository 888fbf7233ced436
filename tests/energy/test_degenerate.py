"""Widths of every kind, duplicate units, zero weights, units at the origin and on protons."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from energy.cases import case, error, everything
from energy.dense_numpy import NumpyLoss

pytestmark = pytest.mark.slow

# (potential, units, protons, dimension): few, since each is compiled; wider and narrower.
SHAPES = (
    ("gaussian", 3, 2, 3), ("gaussian", 1, 1, 1), ("gaussian", 1, 4, 2), ("gaussian", 0, 2, 3),
    ("relu", 3, 2, 3),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([1e-3, 1.0, 10.0]),
    duplicates=st.booleans(),
    bound=st.booleans(),
    silent=st.booleans(),
    at_origin=st.booleans(),
)
def test_any_network(shape, seed, spread, duplicates, bound, silent, at_origin):
    name, units, protons, dim = shape
    generator = np.random.default_rng(seed)
    x, w = (spread * generator.standard_normal((count, dim)) for count in (units, protons))
    c, b = generator.uniform(-1, 1, units), generator.uniform(-1, 1, protons)
    if bound and units:
        x[0] = w[0]
    if duplicates and units:
        x[-1] = x[0]
    if silent and units:
        c[0], b[0] = 0.0, 0.0
    smooth = True
    if at_origin and units:
        x[units // 2], smooth = 0.0, name != "relu"
    loss, student, exact, direction = case(
        name, dim=dim, units=units, protons=protons, places=(x, w), weights=(c, b), seed=seed
    )
    value, gradient, product, laplacian = everything(loss, student, direction)
    assert abs(float(value) - exact.value(student)) <= 1e-12 * exact.scale(student)
    assert gradient.positions.shape == product.positions.shape == (units, dim)
    assert gradient.weights.shape == product.weights.shape == laplacian.shape == (units,)
    for part in (*gradient, *product):
        assert np.all(np.isfinite(part))
    if not smooth:
        return
    size = max(1.0, spread) ** 2
    for ours, truth in zip(gradient, exact.gradient(student), strict=True):
        assert np.max(np.abs(ours - np.reshape(truth, ours.shape)), initial=0.0) <= 1e-12 * size
    for ours, truth in zip(product, exact.hvp(student, direction), strict=True):
        assert np.max(np.abs(ours - np.reshape(truth, ours.shape)), initial=0.0) <= 1e-11 * size


def test_an_empty_student_has_the_teachers_power():
    loss, student, exact, _ = case("relu", units=0)
    assert float(loss.value(student)) == pytest.approx(exact.value(student), rel=1e-13)
    assert loss.gradient(student).positions.shape == (0, 3)
    assert loss.hessian(student).shape == (0, 0)
    assert loss.optimal_weights(student).weights.shape == (0,)


@pytest.mark.parametrize(
    ("name", "units", "protons", "dim", "tile"),
    [("gaussian", 700, 300, 3, 2**20), ("gaussian", 40, 23, 3, 64), ("relu", 37, 30, 3, 256)],
)
def test_more_pairs_than_a_tile_holds(name, units, protons, dim, tile):
    """And not a multiple of what it holds; tiles above the diagonal serve both ways."""
    generator = np.random.default_rng(1)
    x, w = generator.standard_normal((units, dim)), generator.standard_normal((protons, dim))
    x[3], x[5] = w[2] + 1e-7, x[30] - 1e-7
    c, b = generator.uniform(-1, 1, units), generator.uniform(-1, 1, protons)
    along, change = generator.standard_normal((units, dim)), generator.standard_normal(units)
    loss, dense = population_loss(Teacher(w, b, name), tile=tile), NumpyLoss(name, w, b)
    student = Student(x, c)
    value, gradient, product, _ = everything(loss, student, (along, change))
    truth = dense.value_and_gradient(x, c)
    tolerance = 1e-10 if name == "gaussian" else 1e-7  # NumPy's arccos loses half the digits
    assert float(value) == pytest.approx(float(truth[0]), rel=1e-11)
    for ours, exact in zip(gradient, truth[1:], strict=True):
        assert error(ours, exact) <= tolerance
    for ours, exact in zip(product, dense.hvp(x, c, along, change), strict=True):
        assert error(ours, exact) <= tolerance
