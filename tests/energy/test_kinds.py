"""Losses of networks of several activations, of several outputs, and with linear parts.

Against the loss from its definition in 30 digits, against Monte Carlo in plain NumPy, and against
what is known of linear regression.
"""

from __future__ import annotations

import re

import jax
import mpmath
import numpy as np
import pytest
import scipy.special

import earnshaw as ew
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss

D, K, M, OUTPUTS = 2, 2, 2, 3
PLAIN = {
    "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
    "erf": (scipy.special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "softplus": (lambda x: np.logaddexp(0, x), scipy.special.expit),
    "hermite-1": (lambda x: x, np.ones_like),
}


def mixture(rng: np.random.Generator, components: int = 3) -> ew.GaussianMixture:
    """Gaussians with full covariances."""
    roots = rng.normal(size=(components, D, D)) / np.sqrt(D)
    weights = rng.uniform(0.2, 1, components)
    return ew.GaussianMixture(
        weights / weights.sum(),
        rng.normal(size=(components, D)),
        roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(D),
    )


def relu_teacher_and_erf_student(seed: int) -> tuple[Teacher, Student, ew.GaussianMixture]:
    """Both with biases and three outputs, under a mixture of three Gaussians."""
    rng = np.random.default_rng(seed)
    inputs = mixture(rng)
    teacher = Teacher(
        rng.normal(size=(M, D)),
        rng.normal(size=(M, OUTPUTS)),
        "relu",
        biases=rng.normal(size=M),
        inputs=inputs,
    )
    student = Student(
        rng.normal(size=(K, D)), rng.normal(size=(K, OUTPUTS)), rng.normal(size=K), "erf"
    )
    return teacher, student, inputs


# -- from the definition --------------------------------------------------------------------------


def value_of(kind: str, u):
    return mpmath.erf(u) if kind == "erf" else max(u, mpmath.mpf(0))


def mean_of(kind: str, m, variance):
    """E[s(v)] for v ~ N(m, variance)."""
    mp = mpmath.mp
    if kind == "erf":
        return mp.erf(m / mp.sqrt(1 + 2 * variance))
    tau = mp.sqrt(variance)
    return m * mp.ncdf(m / tau) + tau * mp.npdf(m / tau)


def pair(kinds, mu1, mu2, q1, q2, c):
    """E[s(u) s'(v)]: the mean over v given u is closed, that over u is Gauss' rule."""
    mp = mpmath.mp
    if kinds == ("erf", "relu"):
        return pair(("relu", "erf"), mu2, mu1, q2, q1, c)
    s, rest = mp.sqrt(q1), max(q2 - c * c / q1, mp.mpf(0))

    def integrand(z):
        u, m = mu1 + s * z, mu2 + c / s * z
        given = mean_of(kinds[1], m, rest) if rest > 0 else value_of(kinds[1], m)
        return value_of(kinds[0], u) * mp.npdf(z) * given

    steps = (0, 1, 2, 4, 8) if kinds[0] == "relu" else (-8, -4, -2, -1, 0, 1, 2, 4, 8)
    edges = [-mu1 / s + step for step in steps] + [16] + ([-16] if kinds[0] == "erf" else [])
    return mp.quad(integrand, sorted(edges))


def exact_loss(teacher, point, clouds):
    """The sum over clouds and pairs, less the constant; positions (w, b), then weights (k, m)."""
    mp = mpmath.mp
    size = D + 1
    own = [(point[i * size : (i + 1) * size], "erf") for i in range(K)]
    rows = point[K * size :]
    charges = [rows[i * OUTPUTS : (i + 1) * OUTPUTS] for i in range(K)]
    for place, weight in zip(teacher.positions, teacher.weights, strict=True):
        own.append(([mp.mpf(float(x)) for x in place], "relu"))
        charges.append([-mp.mpf(float(w)) for w in weight])
    total = mp.mpf(0)
    for probability, mean, cov in clouds:
        dot = lambda x, y, cov=cov: sum(  # noqa: E731
            x[i] * mp.mpf(float(cov[i, j])) * y[j] for i in range(D) for j in range(D)
        )
        mus = [x[D] + sum(x[i] * mp.mpf(float(mean[i])) for i in range(D)) for x, _ in own]
        for i, (x, one) in enumerate(own[:K]):
            for j, (y, other) in enumerate(own):
                if j < K and j < i:
                    continue
                phi = pair((one, other), mus[i], mus[j], dot(x, x), dot(y, y), dot(x, y))
                product = sum(a * b for a, b in zip(charges[i], charges[j], strict=True))
                total += mp.mpf(float(probability)) * (1 if i == j else 2) * product * phi
    return total


@pytest.mark.slow
def test_three_outputs_a_relu_teacher_and_an_erf_student_by_differences():
    """Slope and curvature along a line, by differences of the definition in 30 digits."""
    teacher, student, inputs = relu_teacher_and_erf_student(3)
    rng = np.random.default_rng(4)
    loss = population_loss(teacher)
    along = rng.normal(size=(K, D + 1)), rng.normal(size=(K, OUTPUTS))
    value, gradient = loss.value_and_gradient(student)
    product = loss.hvp(student, along)
    clouds = inputs.components(D)
    with mpmath.workdps(30):
        start = [mpmath.mpf(float(x)) for x in np.append(student.positions, student.weights)]
        step = [mpmath.mpf(float(x)) for x in np.append(*along)]
        h = mpmath.mpf(10) ** -8
        at = lambda t: exact_loss(  # noqa: E731
            teacher, [x + t * v for x, v in zip(start, step, strict=True)], clouds
        )
        behind, here, ahead = (at(t) for t in (-h, 0, h))
        slope, bend = (ahead - behind) / (2 * h), (ahead - 2 * here + behind) / h**2
    scale = float(loss.empty_value())
    assert float(value) - scale == pytest.approx(float(here), abs=1e-12 * scale)
    found = np.sum(along[0] * gradient.positions) + np.sum(along[1] * gradient.weights)
    assert float(found) == pytest.approx(float(slope), rel=1e-11)
    found = np.sum(along[0] * product.positions) + np.sum(along[1] * product.weights)
    assert float(found) == pytest.approx(float(bend), rel=1e-9)
    # The dense Hessian is that of these products, weights row by row.
    flat = np.append(*along)
    assert flat @ np.asarray(loss.hessian(student)) @ flat == pytest.approx(float(bend), rel=1e-9)


# -- Monte Carlo ----------------------------------------------------------------------------------


def responses(kinds, positions, x):
    """s_i(x.w_i + b_i) and its derivative, (n, k) each."""
    seen = np.column_stack([x, np.ones(len(x))]) @ np.asarray(positions).T
    columns = [[part(seen[:, i]) for part in PLAIN[kind]] for i, kind in enumerate(kinds)]
    return (np.stack(part, axis=1) for part in zip(*columns, strict=True))


def against_samples(teacher, student, theirs, ours, inputs):
    """Value and gradient within 4 standard errors, from plain NumPy."""
    x = np.asarray(inputs.sample(jax.random.key(1), 100_000, D))
    f, _ = responses(theirs, teacher.positions, x)
    g, slopes = responses(ours, student.positions, x)
    c = np.reshape(student.weights, (student.units, -1))
    b = np.reshape(teacher.weights, (teacher.units, -1))
    gap = g @ c - f @ b
    seen = np.column_stack([x, np.ones(len(x))])
    rows = [np.sum(gap**2, axis=1)]
    rows += [2 * gap[:, o] * g[:, i] for i in range(len(c)) for o in range(c.shape[1])]
    pulls = 2 * (gap @ c.T) * slopes
    rows += [pulls[:, i] * seen[:, j] for i in range(len(c)) for j in range(D + 1)]
    means, errors = np.mean(rows, axis=1), np.std(rows, axis=1) / np.sqrt(len(x))
    value, gradient = population_loss(teacher).value_and_gradient(student)
    found = np.concatenate([[value], np.ravel(gradient.weights), np.ravel(gradient.positions)])
    assert np.all(np.abs(found - means) < 4 * errors)
    assert np.allclose(teacher(x).reshape(len(x), -1), f @ b, atol=1e-12)
    assert np.allclose(student(x).reshape(len(x), -1), g @ c, atol=1e-12)


@pytest.mark.slow
def test_three_outputs_against_samples():
    teacher, student, inputs = relu_teacher_and_erf_student(5)
    against_samples(teacher, student, ["relu"] * M, ["erf"] * K, inputs)


@pytest.mark.slow
def test_a_network_of_all_kinds_and_a_line_against_samples():
    """A teacher of relu and tanh units with a linear part, a student of softplus and relu."""
    rng = np.random.default_rng(6)
    inputs = mixture(rng)
    teacher = Teacher(
        rng.normal(size=(2, D)),
        rng.normal(size=2),
        ["relu", "tanh"],
        biases=rng.normal(size=2),
        inputs=inputs,
        linear=rng.normal(size=D),
        intercept=0.3,
    )
    kinds = ["softplus", "relu"]
    student = Student(rng.normal(size=(2, D)), rng.normal(size=2), rng.normal(size=2), kinds)
    against_samples(teacher, student, ["relu", "tanh", "hermite-1"], kinds, inputs)


# -- what is known otherwise ----------------------------------------------------------------------


def test_the_best_line_is_that_of_linear_regression():
    """Of a student of one line: E[X~ X~^T]^-1 E[X~ f], with the moments of a mixture by hand."""
    rng = np.random.default_rng(7)
    inputs = mixture(rng, 2)
    teacher = Teacher(
        rng.normal(size=(2, D)), rng.normal(size=2), "hermite-1", biases=[0.5, -1.0], inputs=inputs
    )
    line = np.asarray(teacher.weights) @ np.asarray(teacher.positions)
    student = Student(line[None, :D], [1.0], line[D:], "hermite-1")
    loss = population_loss(teacher)
    scale = float(loss.empty_value())
    moments = np.zeros((D + 1, D + 1))
    for p, mean, cov in inputs.components(D):
        seen = np.append(mean, 1.0)
        moments += p * (np.outer(seen, seen) + np.pad(cov, (0, 1)))
    assert scale == pytest.approx(float(line @ moments @ line), rel=1e-13)
    assert abs(float(loss.value(student))) < 1e-13 * scale


@pytest.mark.slow
def test_optimal_weights_of_several_outputs_are_those_of_each():
    teacher, student, _ = relu_teacher_and_erf_student(8)
    found = population_loss(teacher).optimal_weights(student)
    for o in range(OUTPUTS):
        one = Teacher(
            teacher.hidden,
            teacher.weights[:, o],
            "relu",
            biases=teacher.biases,
            inputs=teacher.species.seen_inputs,
        )
        alone = population_loss(one, activation="erf").optimal_weights(
            Student(student.positions, student.weights[:, o])
        )
        assert np.allclose(found.weights[:, o], alone.weights, atol=1e-12)


@pytest.mark.slow
def test_the_potential_is_what_a_further_unit_of_the_students_kind_feels():
    """C = -dL/dc / 2 at a unit of weight 0, whatever the teacher is of."""
    rng = np.random.default_rng(10)
    teacher = Teacher(rng.normal(size=(2, D)), [1.0, -0.5], "relu", biases=[0.2, 0.7])
    place, weight, bias = rng.normal(size=(1, D)), [0.8], [0.4]
    student = Student(place, weight, bias, "erf")
    point = rng.normal(size=(1, D + 1))
    more = Student(np.concatenate([student.positions, point]), [0.8, 0.0], activation="erf")
    loss = population_loss(teacher)
    found = loss.potential(point, student)
    assert float(found[0]) == pytest.approx(-float(loss.gradient(more).weights[1]) / 2, rel=1e-12)
    certificate = ew.certify(teacher, student)
    assert certificate.kind == "not-critical"
    assert certificate.theorems == ()  # none is about two activations
    with pytest.raises(ValueError, match="the student is of erf"):
        ew.prove(teacher, student)


@pytest.mark.slow
def test_laplacians_of_several_outputs_are_traces_of_the_hessian():
    teacher, student, _ = relu_teacher_and_erf_student(9)
    loss = population_loss(teacher)
    hessian, size = np.asarray(loss.hessian(student)), D + 1
    for i, found in enumerate(loss.laplacian(student)):
        block = hessian[i * size : (i + 1) * size, i * size : (i + 1) * size]
        assert float(found) == pytest.approx(np.trace(block), rel=1e-10)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Teacher(np.eye(2), np.ones(2), ["relu"]), "1 activations for 2 units"),
        (lambda: Teacher(np.eye(2), np.ones(2), ["relu", "gaussian"]), "no function of x.w"),
        (lambda: Teacher(np.eye(2), np.ones(2), "relu", linear=np.ones(3)), "allowed: (2,)"),
        (lambda: Teacher(np.eye(2), np.ones((2, 3)), "relu", intercept=1.0), "allowed: (3,)"),
        (lambda: Student(np.eye(2), np.ones(2), activation=["relu"]), "1 activations for 2"),
        (
            lambda: population_loss(Teacher(np.eye(2), np.ones((2, 3)), "erf")).value(
                Student(np.eye(2), np.ones(2))
            ),
            "allowed: (2, 3), as the teacher's",
        ),
        (
            lambda: population_loss(Teacher(np.eye(2), np.ones((2, 3)), "erf"), "regularized"),
            "for one output",
        ),
        (
            lambda: population_loss(Teacher(np.eye(2), np.ones((2, 3)), "erf")).potential(
                np.eye(2)
            ),
            "is a vector",
        ),
    ],
)
def test_bad_input_is_one_line(make, words):
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        make()
    assert "\n" not in str(caught.value)
