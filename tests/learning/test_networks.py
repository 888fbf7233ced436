"""Learning networks of several outputs, of several activations, and with another one's units."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew

pytestmark = pytest.mark.slow


def teacher_of(activation, weights, seed: int = 0) -> ew.Teacher:
    rng = np.random.default_rng(seed)
    units = len(weights)
    return ew.Teacher(
        rng.normal(size=(units, 2)), weights, activation, biases=rng.normal(size=units)
    )


def test_two_outputs_are_learned_node_by_node_not_told_how_many(tmp_path):
    """Every unit with the vector of its weights; the run can be drawn."""
    positions = np.random.default_rng(0).normal(size=(2, 2))
    teacher = ew.Teacher(positions, [[1.0, -0.5], [0.3, 1.2]], "gaussian")
    run = ew.learn(teacher)
    assert run.result == "recovered"
    assert run.student.weights.shape == (2, 2)
    assert np.max(run.matching.distance) < 1e-8
    assert np.max(run.matching.weight_error) < 1e-8
    assert run.certificate.kind == "minimum"
    run.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000


@pytest.mark.parametrize("method", ["node-wise-gd", "node-wise-paper"])
def test_outputs_that_are_multiples_of_each_other_are_learned_as_one(method):
    """With weights c u, |u| = 1, the loss is that of the weights c: so is the way down."""
    positions, weights = np.random.default_rng(1).normal(size=(2, 2)), np.array([1.0, -0.6])
    asked = {"method": method, "units": 2, "iterations": 40, "seed": 3}
    one = ew.learn(ew.Teacher(positions, weights, "gaussian"), **asked)
    unit = np.array([0.6, -0.8])
    two = ew.learn(ew.Teacher(positions, np.outer(weights, unit), "gaussian"), **asked)
    np.testing.assert_allclose(two.student.positions, one.student.positions, atol=1e-7)
    np.testing.assert_allclose(two.student.weights, np.outer(one.student.weights, unit), atol=1e-7)


def test_noisy_sgd_goes_down_the_loss_of_two_outputs():
    """To a tenth of it; what is left is the energy of Gaussian charges, of both outputs."""
    positions = np.random.default_rng(1).normal(size=(2, 2))
    weights = np.array([[1.0, -0.5], [0.3, 1.2]])
    teacher = ew.Teacher(positions, weights, "gaussian")
    near = ew.Student(positions + 0.5, np.zeros((2, 2)))
    run = ew.learn(teacher, "noisy-sgd", student=near, steps=0.02, iterations=1000)
    assert run.relative_loss < 0.1
    places = np.concatenate([positions, run.student.positions])
    charges = np.concatenate([weights, -np.asarray(run.student.weights)])
    phi = np.exp(-np.sum((places[:, None] - places) ** 2, axis=2) / 2)
    assert run.loss == pytest.approx(np.sum(charges * (phi @ charges)), rel=1e-9)


def test_units_of_two_activations_and_a_constant_come_back_by_newtons_method():
    """From near by: each unit is matched with one of its own activation."""
    rng = np.random.default_rng(3)
    teacher = ew.Teacher(
        rng.normal(size=(2, 2)),
        [1.0, -0.7],
        ["sin", "gaussian-bump"],  # of elementary potentials, which are soon compiled
        biases=rng.normal(size=2),
        intercept=0.5,
    )
    start = teacher.student()
    near = ew.Student(
        start.hidden + 0.05 * rng.normal(size=(3, 2)),
        start.weights + 0.05 * rng.normal(size=3),
        start.biases + 0.05 * rng.normal(size=3),
    )
    run = ew.learn(teacher, "newton", student=near)
    assert run.relative_loss < 1e-15
    assert run.matching.permutation.tolist() == [0, 1, 2]
    line = run.student.positions[2] * run.student.weights[2]
    assert np.allclose(line, [0.0, 0.0, 0.5], atol=1e-6)
    assert np.max(run.matching.distance[:2]) < 1e-6


def test_a_student_of_another_activation_goes_down_its_own_loss():
    """Which is that of samples."""
    teacher = teacher_of("tanh", [1.0, -0.8], 4)
    run = ew.learn(teacher, "gd", student_activation="erf", units=2, seed=2, iterations=50)
    assert run.student.unit_kind.name == "erf"
    assert not run.matching.is_recovery
    assert run.history.losses[-1] < 0.5 * run.history.losses[0]
    x = np.random.default_rng(0).standard_normal((200_000, 2))
    gaps = (np.asarray(teacher(x)) - np.asarray(run.student(x))) ** 2
    assert abs(run.loss - gaps.mean()) < 5 * gaps.std() / len(gaps) ** 0.5


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "node-wise-sgd"}, "is for one output"),
        ({"oracle": "float64"}, "is for one output"),
        ({"student_activation": "erf,tanh"}, "places units of one activation"),
        ({"samples": 10, "student_activation": "erf"}, "needs an exact loss"),
    ],
)
def test_what_several_outputs_do_not_have_is_one_line(asked, words):
    with pytest.raises(ValueError, match=words):
        ew.learn(teacher_of("erf", np.ones((2, 2))), **asked)
