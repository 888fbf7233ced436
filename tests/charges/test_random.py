"""Random teachers and students: their laws within five standard errors, and their seeds."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import earnshaw as ew
from earnshaw.errors import EarnshawError, UnknownName

UNITS = 4000
PVALUE = 1e-4  # of fixed samples: a law that is right passes for good


def positions(law: str, dim: int, units: int = UNITS, seed: int = 1) -> np.ndarray:
    return np.asarray(ew.random_teacher("relu", dim, units, seed, positions=law).positions)


def weights(law: str) -> np.ndarray:
    return np.asarray(ew.random_teacher("relu", 2, UNITS, 2, weights=law).weights)


@pytest.mark.quick("gaussian-*")
@pytest.mark.parametrize(
    ("law", "dim", "variance"),
    [
        ("paper", 7, 7 * math.log(7)),  # Full, Theorem 4.1
        ("paper", 2, 2 * math.log(2)),
        ("paper", 1, math.log(2)),  # the floor: log 1 = 0
        ("gaussian", 5, 1 / 5),
    ],
)
def test_gaussian_positions(law, dim, variance):
    x = positions(law, dim)
    assert stats.kstest(x.ravel() / math.sqrt(variance), "norm").pvalue > PVALUE
    covariance = x.T @ x / UNITS
    error = variance * np.sqrt((1 + np.eye(dim)) / UNITS)
    assert np.all(np.abs(covariance - variance * np.eye(dim)) < 5 * error)


def test_paper_positions_are_about_d_sqrt_2_log_d_apart():
    """mathematics.md, error 20: not d log d."""
    dim = 100
    x = positions("paper", dim, 40)
    apart = np.linalg.norm(x[0::2] - x[1::2], axis=1)
    expected = dim * math.sqrt(2 * math.log(dim))
    assert abs(np.mean(apart) / expected - 1) < 5 / math.sqrt(2 * dim * len(apart))


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2, 3, 6])
def test_positions_on_the_sphere_are_uniform(dim):
    """(1 + x_1)/2 ~ Beta((d-1)/2, (d-1)/2) in every coordinate; for d = 1 a fair coin."""
    x = positions("sphere", dim)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)
    if dim == 1:
        assert abs(np.sum(x)) < 5 * math.sqrt(UNITS)
        return
    half = (dim - 1) / 2
    for i in range(dim):
        assert stats.kstest((1 + x[:, i]) / 2, stats.beta(half, half).cdf).pvalue > PVALUE
    off = (x.T @ x / UNITS)[~np.eye(dim, dtype=bool)]
    assert np.all(np.abs(off) < 5 / math.sqrt(dim * (dim + 2) * UNITS))


@pytest.mark.quick("1-1")
@pytest.mark.parametrize(("units", "dim"), [(1, 1), (2, 5), (5, 5)])
def test_orthonormal_positions(units, dim):
    x = positions("orthonormal", dim, units)
    np.testing.assert_allclose(x @ x.T, np.eye(units), atol=1e-14)


@pytest.mark.slow
def test_orthonormal_positions_are_uniform():
    """Rows are uniform on the circle, and rotations as likely as reflections."""
    many = [positions("orthonormal", 2, 2, seed) for seed in range(100)]
    angles = np.array([np.arctan2(x[1, 1], x[1, 0]) for x in many]) / (2 * math.pi) + 0.5
    assert stats.kstest(angles, "uniform").pvalue > PVALUE
    assert abs(sum(np.linalg.det(x) for x in many)) < 5 * math.sqrt(len(many))


def test_laws_of_weights():
    assert stats.kstest(weights("uniform"), stats.uniform(-1, 2).cdf).pvalue > PVALUE
    assert stats.kstest(weights("gaussian"), "norm").pvalue > PVALUE
    np.testing.assert_array_equal(weights("ones"), np.ones(UNITS))
    signs = weights("signs")
    assert set(signs) == {-1.0, 1.0}
    assert abs(np.sum(signs)) < 5 * math.sqrt(UNITS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("activation", "more", "law", "on"),
    [
        ("almost-harmonic", {"radius": 0.2}, "paper", "space"),
        ("gaussian", {}, "paper", "space"),
        ("bessel", {}, "paper", "space"),
        (None, {"potential": "exp(-r)"}, "paper", "space"),
        (None, {"potential": "rho", "on": "sphere"}, "sphere", "sphere"),
        ("gaussian", {"on": "sphere"}, "sphere", "sphere"),
        ("sphere-synthetic", {}, "sphere", "sphere"),
        ("relu", {}, "sphere", "space"),
        ("relu", {"on": "sphere", "width": 2.0}, "sphere", "sphere"),
        (np.tanh, {}, "sphere", "space"),
    ],
)
def test_defaults_by_activation_and_manifold(activation, more, law, on):
    teacher = ew.random_teacher(activation, 3, 5, 4, **more)
    assert teacher.manifold.name == on
    assert (teacher.units, teacher.dim) == (5, 3)
    assert teacher.species.inputs.width == more.get("width", 1.0)
    same = ew.random_teacher(activation, 3, 5, 4, positions=law, weights="uniform", **more)
    np.testing.assert_array_equal(teacher.positions, same.positions)
    np.testing.assert_array_equal(teacher.weights, same.weights)


def test_parameters_reach_the_activation():
    teacher = ew.random_teacher("almost-harmonic", dim=3, units=2, radius=0.3, lam=2.0)
    assert dict(teacher.species.parameters) == {"radius": 0.3, "lam": 2.0}
    given = ew.random_teacher(ew.potential("gaussian", dim=3), dim=3, units=2)
    assert given.species.origin == "object"


@pytest.mark.slow
def test_seeds():
    one, same, other, far = (
        ew.random_teacher("relu", 3, 4, seed) for seed in (5, np.int64(5), 6, 5 + 2**32)
    )
    np.testing.assert_array_equal(one.positions, same.positions)
    np.testing.assert_array_equal(one.weights, same.weights)
    for different in (other, far):
        assert not np.any(one.positions == different.positions)
        assert not np.any(one.weights == different.weights)


@pytest.mark.slow
def test_the_same_seed_in_another_process():
    code = (
        "import hashlib, numpy as np, earnshaw as ew;"
        "t = ew.random_teacher('gaussian', 3, 4, 11); s = ew.random_student(t, seed=12);"
        "b = b''.join(np.asarray(a).tobytes() for n in (t, s) for a in (n.positions, n.weights));"
        "print(hashlib.sha256(b).hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    teacher = ew.random_teacher("gaussian", 3, 4, 11)
    student = ew.random_student(teacher, seed=12)
    content = b"".join(
        np.asarray(a).tobytes() for n in (teacher, student) for a in (n.positions, n.weights)
    )
    assert other.stdout.strip() == hashlib.sha256(content).hexdigest()


def test_a_student_of_the_same_seed_knows_nothing_of_its_teacher():
    teacher = ew.random_teacher("gaussian", 2, UNITS, 3)
    student = ew.random_student(teacher, seed=3)
    assert (student.units, student.dim) == (UNITS, 2)
    for a, b in ((teacher.positions, student.positions), (teacher.weights, student.weights)):
        correlation = np.corrcoef(np.ravel(a), np.ravel(b))[0, 1]
        assert abs(correlation) < 5 / math.sqrt(np.size(a))
    scaled = np.ravel(student.positions) / math.sqrt(2 * math.log(2))
    assert stats.kstest(scaled, "norm").pvalue > PVALUE


@pytest.mark.slow
def test_students_by_law_width_and_scale():
    teacher = ew.random_teacher("relu", 4, 3)
    student = ew.random_student(teacher, UNITS, positions="gaussian", scale=3.0, weights="ones")
    assert stats.kstest(np.ravel(student.positions) * 2 / 3, "norm").pvalue > PVALUE
    np.testing.assert_array_equal(student.weights, np.ones(UNITS))
    on_sphere = ew.random_student(ew.random_teacher("relu", 4, 3, on="sphere"), 7)
    np.testing.assert_allclose(np.linalg.norm(on_sphere.positions, axis=1), 1.0, rtol=1e-14)
    for law in ("sphere", "gaussian", "orthonormal"):
        assert ew.random_student(teacher, 0, positions=law).positions.shape == (0, 4)


SPHERE_TEACHER = ew.random_teacher("relu", 2, 3, on="sphere")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ew.random_teacher("relu", 0, 1), EarnshawError, "dimension is 0"),
        (lambda: ew.random_teacher("relu", 2.0, 1), EarnshawError, "dimension is 2.0"),
        (lambda: ew.random_teacher("relu", 2, 0), EarnshawError, "units is 0"),
        (lambda: ew.random_teacher("relu", 2, True), EarnshawError, "units is True"),
        (lambda: ew.random_teacher("relu", 2, 1, -1), EarnshawError, "seed is -1"),
        (lambda: ew.random_teacher("relu", 2, 1, 0.5), EarnshawError, "seed is 0.5"),
        (lambda: ew.random_teacher("relu", 2, 1, 2**64), EarnshawError, "seed is"),
        (lambda: ew.random_teacher("relu", 2, 1, positions="papr"), UnknownName, "mean paper"),
        (lambda: ew.random_teacher("relu", 2, 1, weights="two"), UnknownName, "weights 'two'"),
        (lambda: ew.random_teacher("relu", 2, 1, positions=np.ones((30, 2))), EarnshawError, "law"),
        (lambda: ew.random_teacher("relu", 2, 1, weights=[1.0]), EarnshawError, "names their"),
        (lambda: ew.random_teacher("relu", 2, 3, positions="orthonormal"), EarnshawError, "most 2"),
        (
            lambda: ew.random_teacher("relu", 2, 3, on="sphere", positions="paper"),
            EarnshawError,
            "sphere or orthonormal",
        ),
        (lambda: ew.random_teacher("rellu", 2, 3), UnknownName, "did you mean relu"),
        (lambda: ew.random_teacher(None, 2, 3), EarnshawError, "activation="),
        (lambda: ew.random_teacher("relu", 2, 3, potential="r"), EarnshawError, "activation="),
        (lambda: ew.random_teacher("almost-harmonic", 2, 3, radius=-1), EarnshawError, "radius"),
        (lambda: ew.random_student(SPHERE_TEACHER, -1), EarnshawError, "units is -1"),
        (lambda: ew.random_student(SPHERE_TEACHER, scale=2.0), EarnshawError, "allowed: 1"),
        (lambda: ew.random_student(SPHERE_TEACHER, scale=0.0), EarnshawError, "scale"),
    ],
)
def test_bad_input_is_one_line(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
