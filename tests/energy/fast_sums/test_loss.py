"""The loss with fast sums beside the same loss by tiles: the same protocol, compiled or not."""

from unittest.mock import patch

import equinox as eqx
import jax
import numpy as np
import pytest

import earnshaw as ew
from descent.toys import batch, descend
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.steps import Steps
from earnshaw.energy.fast_sums import far, field

pytest.importorskip("finufft")

SLOW = pytest.mark.slow
CASES = [
    ("gaussian", 2),
    ("almost-harmonic", 3),
    pytest.param("almost-harmonic", 2, marks=SLOW),
    pytest.param("bessel", 1, marks=SLOW),
]


def problem(name, dim, units=90, **options):
    """Both losses, and a student with two units on protons."""
    rng = np.random.default_rng(dim)
    teacher = ew.Teacher(rng.uniform(-2, 2, (20, dim)), rng.standard_normal(20), name)
    positions = rng.uniform(-2, 2, (units, dim))
    positions[:2] = teacher.positions[:2]
    positions[3] = positions[4]
    student = ew.Student(positions, rng.standard_normal(units))
    losses = (ew.population_loss(teacher, sums=sums, **options) for sums in ("tiles", "fast"))
    return *losses, student


def close(found, exact, tolerance=1e-10):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(exact), strict=True):
        assert np.max(np.abs(one - other)) <= tolerance * np.max(np.abs(other))


@pytest.fixture(params=["far and near", pytest.param("as planned", marks=SLOW)])
def cut(request):
    """Few charges would all be near: half of the time far parts are thought to be cheap."""
    if request.param == "as planned":
        yield
    else:
        cheap = lambda grid, *_: 1e-9 * grid.modes**grid.dim  # noqa: E731
        with patch("earnshaw.energy.fast_sums.plan._far_seconds", cheap):
            yield


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize(("name", "dim"), CASES)
def test_value_gradient_and_hessian(name, dim):
    tiles, fast, student = problem(name, dim)
    assert (tiles.sums, fast.sums) == ("tiles", "fast")
    assert fast.sums_for(student) == "fast"
    close(fast.value_and_gradient(student), tiles.value_and_gradient(student))
    close(fast.value(student), tiles.value(student))
    rng = np.random.default_rng(0)
    direction = rng.standard_normal((student.units, dim)), rng.standard_normal(student.units)
    close(fast.hvp(student, direction), tiles.hvp(student, direction))
    points = rng.uniform(-2, 2, (5, dim))
    close(fast.potential(points, student), tiles.potential(points, student))
    close(fast.potential_gradient(points, student), tiles.potential_gradient(points, student))


def test_inside_compiled_code():
    tiles, fast, student = problem("almost-harmonic", 3)
    both = eqx.filter_jit(lambda student: fast.value_and_gradient(student))(student)
    close(both, tiles.value_and_gradient(student))
    slope = jax.grad(lambda x: fast.value(ew.Student(x, student.weights)))(student.positions)
    close(slope, tiles.gradient(student).positions)


@SLOW
def test_side_by_side():
    tiles, fast, student = problem("almost-harmonic", 3)
    students = eqx.filter_vmap(lambda c: fast.value(ew.Student(student.positions, c)))
    weights = np.stack([student.weights, -student.weights])
    again = eqx.filter_vmap(lambda c: tiles.value(ew.Student(student.positions, c)))
    close(students(weights), again(weights))


def test_the_dense_hessian():
    tiles, fast, student = problem("gaussian", 1, units=6)
    close(fast.hessian(student), tiles.hessian(student))


@pytest.mark.parametrize(
    "objective",
    ["without-constants", *(pytest.param(o, marks=SLOW) for o in ("regularized", "assumption-1"))],
)
def test_variants(objective):
    rng = np.random.default_rng(0)
    teacher = ew.Teacher(rng.uniform(-2, 2, (20, 2)), np.ones(20), "almost-harmonic")
    student = ew.Student(rng.uniform(-2, 2, (70, 2)), np.ones(70))
    tiles, fast = (ew.population_loss(teacher, objective, sums=s) for s in ("tiles", "fast"))
    close(fast.value_and_gradient(student), tiles.value_and_gradient(student))


def test_several_outputs():
    """One call back for each, also of numbers."""
    rng = np.random.default_rng(0)
    teacher = ew.Teacher(rng.uniform(-2, 2, (20, 2)), rng.standard_normal((20, 2)), "gaussian")
    student = ew.Student(rng.uniform(-2, 2, (30, 2)), rng.standard_normal((30, 2)))
    tiles, fast = (ew.population_loss(teacher, sums=s) for s in ("tiles", "fast"))
    close(fast.value_and_gradient(student), tiles.value_and_gradient(student))


def test_auto_says_what_it_does(monkeypatch):
    """Tiles for few units and in compiled code; else what is estimated to be faster."""
    monkeypatch.setattr(field, "FEW_PAIRS", 1000)
    tiles, _, student = problem("gaussian", 2)
    loss = ew.population_loss(tiles.teacher)
    assert loss.sums == "auto"
    with patch.object(field, "tile_seconds", lambda *_: 1e9):
        assert loss.sums_for(student) == "fast"
        close(loss.value_and_gradient(student), tiles.value_and_gradient(student))
        direction = np.ones((student.units, 2)), None
        close(loss.hvp(student, direction), tiles.hvp(student, direction))
        with patch.object(field.FastSums, "fields", side_effect=AssertionError):
            close(eqx.filter_jit(loss.value)(student), tiles.value(student))
    with patch.object(field, "tile_seconds", lambda *_: 0.0):
        assert loss.sums_for(student) == "tiles"


def test_without_finufft(monkeypatch):
    """Auto means tiles, and asking for fast sums says how to have them."""
    teacher = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    monkeypatch.setattr(field, "available", lambda: False)
    assert ew.population_loss(teacher).sums == "tiles"
    monkeypatch.setitem(__import__("sys").modules, "finufft", None)
    assert far.finufft is field.finufft
    with pytest.raises(ew.EarnshawError, match=r"pip install 'earnshaw\[fast\]'"):
        ew.population_loss(teacher, sums="fast")


def test_what_cannot_be_fast():
    gaussian = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    for teacher in (
        ew.Teacher([[0.0, 1.0]], [1.0], "relu"),
        ew.Teacher(np.eye(4), np.ones(4), "gaussian"),
        ew.Teacher([[0.0, 1.0]], [1.0], "bessel"),
        ew.Teacher([[0.0, 1.0]], [1.0], "almost-harmonic", on="sphere"),
    ):
        assert ew.population_loss(teacher).sums == "tiles"
        with pytest.raises(ew.EarnshawError, match=r"no fast sums for .*; allowed: gaussian and"):
            ew.population_loss(teacher, sums="fast")
    with pytest.raises(ew.EarnshawError, match="unknown way to do sums 'quick'"):
        ew.population_loss(gaussian, sums="quick")
    with pytest.raises(ew.EarnshawError, match="tolerance is 1e-20; allowed: a number from 1e-13"):
        ew.population_loss(gaussian, sums="fast", tolerance=1e-20)


@SLOW
def test_descent_runs_on_fast_sums():
    """A compiled loop that calls back: the same run, to what the sums differ by."""
    rng = np.random.default_rng(0)
    teacher = ew.Teacher(rng.uniform(-2, 2, (5, 2)), np.ones(5), "gaussian")
    student = ew.Student(rng.uniform(-2, 2, (6, 2)), 0.1 * np.ones(6))
    ends = [
        descend(
            GradientDescent(Steps(0.01)),
            ew.population_loss(teacher, sums=sums),
            batch(student),
            5,
        )
        for sums in ("tiles", "fast")
    ]
    close(*(end.states.student.positions for end in ends))
