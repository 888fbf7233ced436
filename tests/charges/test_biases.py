"""Networks with biases, and inputs of any mean and covariance: made, called, stored, refused."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.charges.network import same_teacher
from earnshaw.errors import EarnshawError
from earnshaw.learning.exports.networks import network

W, B, BIASES = [[0.6, 0.8], [-1.0, 0.5]], [1.5, -2.0], [0.25, -1.0]
INPUTS = ew.Gaussian(mean=[1.0, -1.0], covariance=[[2.0, 0.5], [0.5, 1.0]])
OTHER = ew.Gaussian(mean=[0.0, 0.0, 0.0])


def test_a_bias_is_a_coordinate():
    teacher = ew.Teacher(W, B, "relu", biases=BIASES)
    assert np.array_equal(teacher.hidden, W)
    assert np.array_equal(teacher.biases, BIASES)
    assert teacher.positions.shape == (2, 3)
    assert repr(teacher) == "Teacher(relu, 2 units with biases in d = 2, in space)"
    student = ew.Student(W, B, BIASES)
    assert np.array_equal(student.biases, BIASES)
    x = np.array([[0.3, -0.2], [1.0, 2.0], [-3.0, 0.5]])
    wanted = np.maximum(x @ np.array(W).T + BIASES, 0) @ B
    assert np.allclose(teacher(x), wanted, atol=1e-15)
    assert np.allclose(student.of(teacher)(x), wanted, atol=1e-15)
    assert ew.Teacher(W, B, "relu").biases is None


def test_exports():
    """As NumPy code, with its biases."""
    teacher = ew.Teacher(W, B, "relu", biases=BIASES)
    x = np.array([[0.3, -0.2], [1.0, 2.0]])
    assert np.allclose(network(teacher)(x), teacher(x), atol=1e-15)


@pytest.mark.parametrize("ending", [".json", ".npz", ".csv"])
def test_files(ending, tmp_path):
    teacher = ew.Teacher(W, B, "leaky-relu", negative_slope=0.1, biases=BIASES, inputs=INPUTS)
    ew.save(tmp_path / f"teacher{ending}", teacher)
    again = ew.load(tmp_path / f"teacher{ending}")
    assert same_teacher(teacher, again)
    student = ew.Student(W, B, BIASES)
    ew.save(tmp_path / f"student{ending}", student)
    back = ew.load(tmp_path / f"student{ending}")
    assert np.array_equal(back.positions, student.positions)
    assert np.array_equal(back.biases, BIASES)
    ew.save(tmp_path / f"known{ending}", student.of(teacher))
    known = ew.load_teacher(tmp_path / f"known{ending}")
    assert same_teacher(known, teacher)


def test_a_file_by_hand(tmp_path):
    file = tmp_path / "hand.csv"
    file.write_text("# activation: relu\nx1,x2,bias,weight\n0.6,0.8,0.25,1.5\n-1,0.5,-1,-2\n")
    assert same_teacher(ew.load(file), ew.Teacher(W, B, "relu", biases=BIASES))
    other = ew.load_teacher(file, inputs=INPUTS)
    assert same_teacher(other, ew.Teacher(W, B, "relu", biases=BIASES, inputs=INPUTS))


def test_inputs_of_no_mean_and_one_width_are_the_width():
    """The fast way stays the fast way."""
    teacher = ew.Teacher(W, B, "relu", inputs=ew.Gaussian(covariance=4.0))
    assert same_teacher(teacher, ew.Teacher(W, B, "relu", width=2.0))
    assert teacher.potential.kind == "zonal"


@pytest.mark.slow
def test_random_networks():
    teacher = ew.random_teacher(
        "tanh", 4, 3, 5, biases="gaussian", inputs=ew.Gaussian(mean=4 * [1.0])
    )
    again = ew.random_teacher(
        "tanh", 4, 3, 5, biases="gaussian", inputs=ew.Gaussian(mean=4 * [1.0])
    )
    assert same_teacher(teacher, again)
    assert np.allclose(np.linalg.norm(teacher.hidden, axis=1), 1)
    # Hidden weights are those of the network without biases.
    assert np.array_equal(teacher.hidden, ew.random_teacher("tanh", 4, 3, 5).positions)
    student = ew.random_student(teacher, 6, 1)
    assert student.positions.shape == (6, 5)
    assert student.biases.shape == (6,)


def test_flips_and_scales_take_the_bias_along():
    """tanh(-w.x - b) = -tanh(w.x + b); relu(t (w.x + b)) = t relu(w.x + b)."""
    odd = ew.Teacher(W, B, "tanh", biases=BIASES)
    flipped = ew.Student(-np.array(W), -np.array(B), -np.array(BIASES))
    assert ew.match(odd, flipped).is_permutation
    ramps = ew.Teacher(W, B, "relu", biases=BIASES)
    scaled = ew.Student(2 * np.array(W), np.array(B) / 2, 2 * np.array(BIASES))
    assert ew.match(ramps, scaled).is_permutation


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("biases of shape", lambda: ew.Teacher(W, B, "relu", biases=[1.0])),
        ("no function of x.w", lambda: ew.Teacher(W, B, "almost-harmonic", biases=BIASES)),
        ("inputs have dimension 3", lambda: ew.Teacher(W, B, "relu", inputs=OTHER)),
        ("one of them", lambda: ew.Teacher(W, B, "relu", width=2.0, inputs=INPUTS)),
        ("need an activation", lambda: ew.Teacher(W, B, potential="exp(-r)", biases=BIASES)),
        ("allowed: ew.Gaussian", lambda: ew.Teacher(W, B, "relu", inputs="normal")),
        ("real numbers", lambda: ew.Teacher(W, B, "relu", biases=["a", "b"])),
        ("on=space", lambda: ew.Teacher(W, B, "relu", biases=BIASES, on="sphere")),
        ("law of biases", lambda: ew.random_teacher("relu", 2, 2, biases="cauchy")),
    ],
)  # fmt: skip
def test_refused(message, make):
    with pytest.raises(EarnshawError, match=message):
        make()
