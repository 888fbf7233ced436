"""What the empirical loss says to data and calls that it cannot use: one line each."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.charges.network import Student, Teacher

ARRAYS = (np.ones((4, 2)), np.ones(4))
TEACHER = {"positions": np.eye(2), "weights": [1.0, 0.5], "activation": "relu"}


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (ARRAYS, {}, "activation="),
        (ARRAYS, {"activation": "rleu"}, "relu"),
        (ARRAYS, {"activation": "relu", "slope": 1.0}, "no parameter"),
        (ARRAYS, {"activation": "relu", "samples": 5}, "teacher"),
        (ARRAYS, {"activation": "relu", "inputs": ew.Gaussian()}, "teacher"),
        (ARRAYS, {"activation": "relu", "wrt": "position"}, "positions"),
        (ARRAYS, {"activation": "relu", "objective": "ful"}, "full"),
        (ARRAYS, {"activation": "relu", "objective": "one-node"}, "pairs"),
        (ARRAYS, {"activation": "relu", "objective": "assumption-1", "wrt": "weights"}, "fixed"),
        (ARRAYS, {"activation": "relu", "batch": 0}, "batch"),
        (ARRAYS, {"activation": "relu", "batch": 5}, "from 1 to 4"),
        (ARRAYS, {"activation": "relu", "chunk": 0.5}, "chunk"),
        (ARRAYS, {"activation": "relu", "kink_width": -1.0}, "kink_width"),
        (ARRAYS, {"activation": "relu", "kink_width": float("nan")}, "kink_width"),
        (ARRAYS, {"activation": "relu", "on": "ball"}, "manifold"),
        (ARRAYS, {"activation": "gaussian", "dim": 3}, "dimension 3"),
        (ARRAYS, {"activation": np.tanh}, "jax.numpy"),
        (ARRAYS, {"activation": lambda z: jnp.sum(z)}, "elementwise"),
        (ARRAYS, {"activation": 3}, "function"),
        ((np.ones((4, 2)), np.ones(3)), {"activation": "relu"}, "shapes"),
        ((np.ones(4), np.ones(4)), {"activation": "relu"}, "shapes"),
        ((np.ones((4, 2)), np.ones((4, 1))), {"activation": "relu"}, "shapes"),
        ((np.ones((0, 2)), np.ones(0)), {"activation": "relu"}, "no samples"),
        ((np.full((4, 2), np.nan), np.ones(4)), {"activation": "relu"}, "x have NaN"),
        ((np.ones((4, 2)), np.full(4, np.inf)), {"activation": "relu"}, "y have NaN"),
        ((np.ones((4, 2)) * 1j, np.ones(4)), {"activation": "relu"}, "real numbers"),
        (("abc", "d"), {"activation": "relu"}, "real numbers"),
        (np.ones((4, 2)), {"activation": "relu"}, "pair"),
        (TEACHER, {}, "samples="),
        (TEACHER, {"samples": 0}, "samples"),
        (TEACHER, {"samples": 10, "seed": -1}, "seed"),
        (TEACHER, {"samples": 10, "activation": "relu"}, "not a teacher"),
        (TEACHER, {"samples": 10, "inputs": 2.0}, "TruncatedGaussian"),
        (TEACHER, {"samples": 10, "objective": "assumption-1"}, "to be 1"),
        (TEACHER, {"samples": 10, "batch": 11}, "batch"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(data, options, said):
    if isinstance(data, dict):
        data = Teacher(**data)
    with pytest.raises(ew.EarnshawError, match=said) as refusal:
        ew.empirical_loss(data, **options)
    assert "\n" not in str(refusal.value)


def test_bad_calls_are_one_line():
    generator = np.random.default_rng(21)
    x, y = generator.standard_normal((45, 3)), generator.standard_normal(45)
    student = Student(generator.standard_normal((3, 3)), np.ones(3))
    loss = ew.empirical_loss((x, y), activation="relu")
    for call in (
        lambda: loss.minibatch(jax.random.key(0)),
        lambda: loss.fresh(jax.random.key(0)),
        lambda: loss.laplacian(student, [3]),
        lambda: loss.laplacian(student, []),
        lambda: loss.laplacian(student, [0.5]),
        lambda: loss.subset([45]),
        lambda: loss.subset([]),
        lambda: loss.node(3, student),
        lambda: loss.value(Student(np.ones((3, 4)), np.ones(3))),
        lambda: ew.empirical_loss((x, y), activation="relu", on="sphere").value(student),
    ):
        with pytest.raises(ew.EarnshawError) as refusal:
            call()
        assert "\n" not in str(refusal.value)


def test_a_student_of_another_activation_is_refused():
    """Its units would be taken for the loss's own."""
    teacher = ew.Teacher([[1.0, 0.0]], [1.0], "relu")
    loss = ew.empirical_loss(teacher, samples=10)
    with pytest.raises(ew.EarnshawError, match=r"the student is of erf.*allowed"):
        loss.value(ew.Student([[1.0, 0.0]], [1.0], activation="erf"))
    assert float(loss.value(ew.Student([[1.0, 0.0]], [1.0], activation="relu"))) == 0
