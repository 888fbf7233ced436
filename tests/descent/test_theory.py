"""Bounds of derivatives against sampled ones, and what the lemmas promise with them."""

import dataclasses
import functools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descent.toys import Toy, batch, descend, one_step, quadratic
from earnshaw.charges.manifolds import Space
from earnshaw.charges.network import Student, Teacher
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.method import Stop, norm, stop_of
from earnshaw.descent.second_gd import SecondGD
from earnshaw.descent.theory import (
    _spectral_bound,
    paper_tolerance,
    theory_bounds,
    theory_steps,
)
from earnshaw.energy.objective import Gradient, direction_of, freedom
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError

pytestmark = pytest.mark.slow

DIM = 3


@functools.cache
def _case(name, on="space", objective="full", **parameters):
    """A loss of two units under a teacher of two, and a start."""
    generator = np.random.default_rng(5)
    x, w = generator.standard_normal((2, 2, DIM))
    if on == "sphere":
        x, w = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, w))
    teacher = Teacher(w, np.asarray([0.8, -0.6]), name, on=on, **parameters)
    return population_loss(teacher, objective), Student(x, np.asarray([0.5, 0.3]))


def _positions_only():
    loss, start = _case("gaussian")
    return dataclasses.replace(loss, wrt="positions"), start


CASES = {  # made when they are asked for: every run of the tests imports this file
    "gaussian": lambda: _case("gaussian"),
    "gaussian, positions": _positions_only,
    "almost-harmonic": lambda: _case("almost-harmonic", objective="regularized", radius=0.3),
    "hermite": lambda: _case("hermite", "sphere", degree=3),
    "relu": lambda: _case("relu", "sphere"),
}


@functools.cache
def _bounds(name):
    return theory_bounds(*CASES[name]())


def _students(name, count):
    """Students where the bounds hold, half of them with a unit as near a charge as allowed."""
    loss, start = CASES[name]()
    bounds = _bounds(name)
    generator = np.random.default_rng(0)
    found = []
    while len(found) < count:
        x = generator.standard_normal(start.positions.shape)
        towards = (loss.teacher.positions[0], x[1])[len(found) % 2]
        if len(found) % 4 > 1:
            aside = generator.standard_normal(DIM)
            x[0] = towards + bounds.radius * 1.0001 * aside / np.linalg.norm(aside)
        if bounds.curved:
            x /= np.linalg.norm(x, axis=1, keepdims=True)
        weights = bounds.weights * generator.uniform(-1, 1, len(x))
        weights = start.weights if loss.wrt == "positions" else weights
        student = Student(x, weights)
        if bounds.hold_at(loss, student):
            found.append(student)
    return found


@eqx.filter_jit
def _slopes(loss, student, direction, times):
    """|grad L|, and d/dt L(Pi(x + t v)) at some times."""

    def slope(t):
        path = lambda t: loss.manifold.retract(student.positions, t * direction.positions)  # noqa: E731
        positions, speed = jax.jvp(path, (t,), (jnp.ones(()),))
        moved = Student(positions, student.weights + t * direction.weights)
        gradient = loss.euclidean(moved)[1]
        return jnp.sum(gradient.positions * speed) + jnp.sum(gradient.weights * direction.weights)

    return norm(loss.gradient(student)), jax.lax.map(slope, times)


@pytest.mark.parametrize("name", CASES)
def test_bounds_hold_and_are_not_absurd(name):
    loss, _ = CASES[name]()
    bounds = _bounds(name)
    second, third = bounds.along_steps
    step = 1e-4
    generator = np.random.default_rng(1)
    largest = np.zeros(3)
    for student in _students(name, 12):
        bends, turns = [], []
        size = freedom(loss, student)
        for _ in range(12):
            coordinates = generator.standard_normal(size)
            coordinates *= np.exp(generator.standard_normal(size))  # some with few large entries
            coordinates /= np.linalg.norm(coordinates)
            direction = direction_of(loss, student, jnp.asarray(coordinates))
            size_here, (before, here, after) = _slopes(
                loss, student, Gradient(*direction), jnp.asarray([-step, 0.0, step])
            )
            bends.append(abs(float(after - before)) / (2 * step))
            turns.append(abs(float(after - 2 * here + before)) / step**2)
        found = np.asarray([float(size_here), max(bends), max(turns)])
        assert np.all(found <= [bounds.gradient, second, third])
        largest = np.maximum(largest, found)
    assert np.all(np.asarray([bounds.gradient, second, third]) < 100 * largest)


def test_the_hessian_and_its_lipschitz_constant():
    """Dense Hessians of pairs of students a small step apart."""
    loss, _ = CASES["gaussian"]()
    bounds = _bounds("gaussian")
    generator = np.random.default_rng(2)
    for student in _students("gaussian", 4):
        step = 1e-4 * generator.standard_normal((2, DIM + 1))
        near = Student(student.positions + step[:, :DIM], student.weights + step[:, DIM])
        first, second = (np.asarray(loss.hessian(where)) for where in (student, near))
        assert np.linalg.norm(first, 2) <= bounds.hessian
        change = np.linalg.norm(second - first, 2) / np.linalg.norm(step)
        assert bounds.third / 1000 < change <= bounds.third


@pytest.mark.parametrize("name", ["gaussian", "hermite", "almost-harmonic"])
def test_steps_of_theory_keep_their_lemmas(name):
    """Single steps of SecondGD, of both kinds: eta says which."""
    loss, _ = CASES[name]()
    found = theory_steps(_bounds(name), eta=0.05, gamma=0.05)
    assert found.alpha == pytest.approx(1 / max(_bounds(name).along_steps))
    by_gradient = SecondGD(found.steps(), eta=0.0, gamma=1e-3)
    by_curvature = SecondGD(found.steps(), eta=1e9, gamma=1e-3)
    curved = 0
    for student in _students(name, 8):
        before, after = one_step(by_gradient, loss, student)
        promised = found.alpha * float(before.gradient_norm) ** 2 / 2
        assert float(before.value - after.value) >= promised - 1e-15
        before, after = one_step(by_curvature, loss, student)
        smallest = float(after.smallest_eigenvalue)
        if smallest < -1e-3:
            curved += 1
            promised = found.alpha**2 * abs(smallest) ** 3 / 3
            assert float(before.value - after.value) >= promised - 1e-15
    assert curved >= 4
    truth = np.linalg.eigvalsh(np.asarray(loss.hessian(student)))[0]
    assert smallest == pytest.approx(truth, abs=1e-11)


def test_gradient_descent_with_theory_steps_converges():
    loss, start = CASES["gaussian"]()
    found = theory_steps(_bounds("gaussian"), eta=0.02)
    found.check()
    assert found.alpha == pytest.approx(1 / _bounds("gaussian").hessian)
    method = GradientDescent(found.steps(), tolerance=0.02)
    loop = descend(method, loss, batch(start), math.ceil(found.iterations))
    assert stop_of(int(loop.states.stop[0])) == Stop.STATIONARY
    assert int(loop.iteration) <= found.iterations
    assert _bounds("gaussian").hold_at(
        loss, jax.tree.map(lambda part: part[0], loop.states.student)
    )


def test_second_gd_with_theory_steps_ends_in_m():
    loss, start = CASES["gaussian"]()
    bounds = _bounds("gaussian")
    found = theory_steps(bounds, eta=0.05, gamma=0.3)
    assert found.alpha == pytest.approx(1 / max(bounds.along_steps))
    assert found.decrease == pytest.approx(
        min(found.alpha * 0.05**2 / 2, found.alpha**2 * 0.3**3 / 3)
    )
    method, student, used = SecondGD(found.steps(), eta=0.05, gamma=0.3), start, 0
    stop = None
    while stop is None:  # constant steps remember nothing, so each may begin anew
        _, after = one_step(method, loss, student)
        student, stop, used = after.student, stop_of(int(after.stop)), used + 1
    assert stop == Stop.CONVERGED
    assert used <= found.iterations
    assert "at most" in found.describe()
    assert "\n" not in found.describe()


def test_steps_below_rounding_are_refused():
    loss, start = CASES["gaussian"]()
    tolerance = paper_tolerance(loss, start)
    found = theory_steps(_bounds("gaussian"), 1e-9, 1e-9)
    with pytest.raises(EarnshawError, match=r"below rounding of the loss .*--steps adaptive"):
        found.check()
    assert 0 < tolerance < 1
    # A step may be too small for its decrease to be a number at all.
    nothing = theory_steps(_bounds("gaussian"), 1e-200, 1e-200)
    assert (nothing.decrease, nothing.iterations) == (0, math.inf)


def test_the_papers_tolerance():
    loss, start = CASES["gaussian"]()
    good = loss.optimal_weights(start)
    zero = Student(start.positions, np.zeros(2))
    delta = math.sqrt(float(loss.value(zero))) - math.sqrt(float(loss.value(good)))
    assert paper_tolerance(loss, good, simultaneous=False) == pytest.approx(delta**2 / (2 * DIM))
    assert paper_tolerance(loss, good) == pytest.approx(delta**2 / (2 * 8 * DIM))
    with pytest.raises(EarnshawError, match="allowed: starts of less"):
        paper_tolerance(loss, zero)


def test_what_has_no_theory_steps():
    loss, start = CASES["relu"]()
    with pytest.raises(EarnshawError, match="exact population loss"):
        theory_bounds(Toy((), quadratic), start)
    with pytest.raises(EarnshawError, match=r"not relu on R\^d; allowed: --steps adaptive"):
        theory_bounds(dataclasses.replace(loss, manifold=Space()), start)
    with pytest.raises(EarnshawError, match="unbounded"):
        theory_bounds(*_case("sign", "sphere", "without-constants"))
    loss, start = CASES["almost-harmonic"]()
    with pytest.raises(EarnshawError, match="unbounded"):
        theory_bounds(loss, start, radius=0.0)  # a cusp
    with pytest.raises(EarnshawError, match="radius"):
        theory_bounds(loss, start, radius=-1.0)


def test_bounds_hold_only_where_they_say():
    loss, start = CASES["almost-harmonic"]()
    bounds = _bounds("almost-harmonic")
    assert bounds.radius == 0.3
    assert bounds.weights == pytest.approx(math.sqrt(bounds.loss))
    near = Student(start.positions.at[0].set(loss.teacher.positions[1] + 0.1), start.weights)
    assert not bounds.hold_at(loss, near)
    together = Student(start.positions.at[0].set(start.positions[1] + 0.1), start.weights)
    assert not bounds.hold_at(loss, together)
    assert not bounds.hold_at(loss, Student(start.positions, np.asarray([9.0, 0.0])))
    smaller = theory_bounds(loss, start, radius=0.6, largest_weight=0.5)
    assert smaller.third < bounds.third
    for bad in ({"radius": 5.0}, {"largest_weight": 0.4}):
        with pytest.raises(EarnshawError, match="the start has units less than"):
            theory_bounds(loss, start, **bad)


def test_the_spectral_bound():
    generator = np.random.default_rng(0)
    for size in (1, 2, 7):
        matrix = generator.exponential(size=(size, size)) ** 3
        matrix = matrix + matrix.T
        norm = np.linalg.norm(matrix, 2)
        assert norm * (1 - 1e-12) <= _spectral_bound(matrix) <= 1.001 * norm
    assert _spectral_bound(np.diag([3.0, 1.0, 0.0])) == 3
    assert _spectral_bound(np.zeros((2, 2))) == 0
