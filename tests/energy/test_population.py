"""The population loss and its derivatives against 80-digit arithmetic, for every potential.

Each case has a unit 1e-6 from a proton, and is computed in tiles: so both the products and, for
that pair, the differences are tested, each row of the answer relative to itself.
"""

import equinox as eqx
import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.named import potential as library_potential
from earnshaw.energy.population import population_loss
from energy.cases import BOUNDED, FORMULA_CASES, NAMED, UNBOUNDED, case, everything, row_error
from energy.dense import ExactLoss
from energy.exact_potentials import by_quadrature, mp, potential

# Of the Hermite series an odd function and one that grows; then the two with kinks. The series of
# the others is the same code, with coefficients that duality/test_duals.py looks at.
QUADRATURE = ("tanh", "softplus", "elu", "laplace")


def check(loss, student, exact, direction):
    """Value to 1e-12, gradient and product to 1e-10, Laplacians to 1e-9."""
    value, gradient, product, laplacian = everything(loss, student, direction)
    assert abs(float(value) - exact.value(student)) <= 1e-12 * exact.scale(student)
    truths = exact.gradient(student), exact.hvp(student, direction)
    for ours, truth in zip((gradient, product), truths, strict=True):
        assert row_error(ours.positions, truth[0]) <= 1e-10
        assert row_error(ours.weights[:, None], truth[1][:, None]) <= 1e-10
    for unit in range(student.units):
        truth, size = exact.laplacian(student, [unit])
        assert abs(float(laplacian[unit]) - truth) <= 1e-9 * size + 1e-14


@pytest.mark.quick("gaussian-space")
@pytest.mark.parametrize(("name", "on"), NAMED)
def test_every_potential_on_every_manifold(name, on):
    check(*case(name, on, objective=objective_of(name, on), near=1e-6, tiles=True))


def objective_of(name, on):
    """On the sphere and for unbounded potentials self-energies are constant, or infinite."""
    return "without-constants" if on == "sphere" or name in UNBOUNDED else "full"


@pytest.mark.slow
@pytest.mark.parametrize("formula", FORMULA_CASES)
def test_formulas(formula):
    # As written, the derivatives of sin(r)/r cancel near 0.
    near = 0.1 if formula[0] == "sin(r)/r" else 1e-6
    check(*case(formula, formula[1], near=near, tiles=True))


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 5])
def test_almost_harmonic_in_other_dimensions(dim):
    check(*case("almost-harmonic", dim=dim, spread=0.1))  # inside the cores, and across their edge


@pytest.mark.slow
@pytest.mark.parametrize("name", ["erf"])
def test_wide_inputs(name):
    """Inputs of standard deviation 2 see weights twice as long."""
    found = case(name)
    teacher = Teacher(found.teacher.positions, found.teacher.weights, name, width=2.0)
    phi = potential(name, 3)
    doubled = lambda x, y: phi(tuple(2 * a for a in x), tuple(2 * a for a in y))  # noqa: E731
    exact = ExactLoss(doubled, teacher.positions, teacher.weights)
    check(population_loss(teacher), found.student, exact, found.direction)


@pytest.mark.slow
def test_a_mixture_of_potentials():
    found = case("gaussian")
    blend = 0.5 * library_potential("gaussian", 3) + 2.0 * library_potential("almost-harmonic", 3)
    teacher = Teacher(found.teacher.positions, found.teacher.weights, blend)
    first, second = potential("gaussian", 3), potential("almost-harmonic", 3)
    exact = ExactLoss(
        lambda x, y: first(x, y) / 2 + 2 * second(x, y), teacher.positions, teacher.weights
    )
    check(population_loss(teacher), found.student, exact, found.direction)


@eqx.filter_jit
def along(loss, student, direction):
    """Everything but Laplacians, which would be a third of what there is to compile."""
    return loss.value(student), loss.gradient(student), loss.hvp(student, direction)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUADRATURE)
def test_activations_without_a_simple_closed_form(name):
    """One unit against one proton: the plane integral, differentiated along two directions."""
    x, w = np.array([[0.7, -0.4]]), np.array([[0.3, 1.1]])
    student, teacher = Student(x, [0.8]), Teacher(w, [-0.6], name)
    loss, exact = population_loss(teacher), ExactLoss(by_quadrature(name), w, [-0.6], step="1e-8")
    first, second = np.array([0.6, 0.8, -0.5]), np.array([1.0, -0.3, 0.4])
    direction = second[None, :2], second[2:]
    value, gradient, product = along(loss, student, direction)
    flat = lambda parts: np.concatenate([np.ravel(part) for part in parts])  # noqa: E731
    scale = exact.scale(student)
    assert abs(float(value) - exact.value(student)) <= 1e-12 * scale
    slope = exact.slope(student, [mp.mpf(a) for a in first])
    assert abs(first @ flat(gradient) - float(slope)) <= 1e-10 * scale
    curvature = exact.curvature(student, [*map(mp.mpf, first)], [*map(mp.mpf, second)])
    assert abs(first @ flat(product) - float(curvature)) <= 1e-10 * scale


@pytest.mark.slow
@pytest.mark.parametrize(("name", "on"), BOUNDED)
def test_no_nan_where_charges_coincide(name, on):
    """Units on protons and on each other (and, on R^d, at the origin); cusps by convention.

    Unbounded potentials are infinite there: see below.
    """
    check_coincident(*case(name, on, objective=objective_of(name, on), tiles=True))


@pytest.mark.slow
@pytest.mark.parametrize("formula", FORMULA_CASES)
def test_no_nan_where_charges_of_a_formula_coincide(formula):
    check_coincident(*case(formula, formula[1], tiles=True))


def check_coincident(loss, student, _, direction):
    w, x = np.asarray(loss.teacher.positions), np.asarray(student.positions)
    origin = np.zeros(3) if loss.manifold.name == "space" else -x[1]
    for rows in ([w[0], w[1], w[0]], [x[1], x[1], origin], [w[0], -w[0], -w[1]]):
        there = Student(np.array(rows), student.weights)
        value, gradient, product, _ = everything(loss, there, direction)
        assert np.isfinite(value)
        for part in gradient:
            assert np.all(np.isfinite(part))
        for part in product:
            assert not np.any(np.isnan(part))


@pytest.mark.slow
@pytest.mark.parametrize("name", UNBOUNDED)
def test_an_unbounded_potential_is_infinite_at_a_proton(name):
    loss, student, _, direction = case(name, objective="without-constants")
    w, x = np.asarray(loss.teacher.positions), np.asarray(student.positions)
    there = Student(np.array([w[0], x[1], x[2]]), student.weights)
    value = float(everything(loss, there, direction)[0])
    pull = float(student.weights[0] * loss.teacher.weights[0])
    assert value == -np.sign(pull) * np.inf
