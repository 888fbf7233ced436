"""Losses of units with biases, of correlated inputs and of mixtures of them.

Against the loss from its definition in 30 digits, against Monte Carlo, and against the closed forms
of unbiased units under N(0, I), which are other code.
"""

from __future__ import annotations

import dataclasses

import jax
import mpmath
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss

D, K, M = 3, 3, 2


def mixture(rng: np.random.Generator, components: int = 3, dim: int = D) -> ew.GaussianMixture:
    """Gaussians with full covariances."""
    roots = rng.normal(size=(components, dim, dim)) / np.sqrt(dim)
    weights = rng.uniform(0.2, 1, components)
    return ew.GaussianMixture(
        weights / weights.sum(),
        rng.normal(size=(components, dim)),
        roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(dim),
    )


def networks(name: str, inputs=None, seed: int = 0) -> tuple[Teacher, Student]:
    rng = np.random.default_rng(seed)
    teacher = Teacher(
        rng.normal(size=(M, D)), rng.normal(size=M), name, biases=rng.normal(size=M), inputs=inputs
    )
    return teacher, Student(rng.normal(size=(K, D)), rng.normal(size=K), rng.normal(size=K))


# -- from the definition --------------------------------------------------------------------------


def relu_pair(mu1, mu2, q1, q2, c):
    """E[relu(u) relu(v)]: the mean over v given u is closed, that over u is Gauss' rule."""
    mp = mpmath.mp
    s, tau = mp.sqrt(q1), mp.sqrt(q2 - c * c / q1)

    def integrand(z):
        u, m = mu1 + s * z, mu2 + c / s * z
        return u * mp.npdf(z) * (m * mp.ncdf(m / tau) + tau * mp.npdf(m / tau))

    edges = [-mu1 / s + step for step in (0, 1, 2, 4, 8)] + [16]
    return mp.quad(integrand, sorted(edges))


def exact_loss(teacher, point, cloud):
    """The double sum over all pairs at flat coordinates: positions (w, b), then weights."""
    mp = mpmath.mp
    mean, covariance = (mp.matrix(np.asarray(part).tolist()) for part in cloud)
    size = D + 1
    places = [point[i * size : (i + 1) * size] for i in range(K)]
    charges = list(point[K * size :])
    for w, b, weight in zip(teacher.hidden, teacher.biases, teacher.weights, strict=True):
        places.append([mp.mpf(float(x)) for x in (*w, b)])
        charges.append(-mp.mpf(float(weight)))
    dot = lambda x, y: sum(x[i] * covariance[i, j] * y[j] for i in range(D) for j in range(D))  # noqa: E731
    mus = [x[D] + sum(x[i] * mean[i] for i in range(D)) for x in places]
    total = mp.mpf(0)
    for i, x in enumerate(places):
        for j, y in enumerate(places[: i + 1]):
            if i == j:
                q = dot(x, x)
                h = mus[i] / mp.sqrt(q)
                phi = (mus[i] ** 2 + q) * mp.ncdf(h) + mus[i] * mp.sqrt(q) * mp.npdf(h)
            else:
                phi = relu_pair(mus[i], mus[j], dot(x, x), dot(y, y), dot(x, y))
            total += (1 if i == j else 2) * charges[i] * charges[j] * phi
    return total


@pytest.mark.slow
def test_a_relu_teacher_with_biases_and_correlated_inputs():
    """Value to 1e-13, slope and curvature along a line to 1e-11, by differences in 30 digits."""
    rng = np.random.default_rng(3)
    one = mixture(rng, 1)
    inputs = ew.Gaussian(mean=one.means[0], covariance=one.covariances[0])
    teacher, student = networks("relu", inputs, 4)
    loss = population_loss(teacher)
    along = rng.normal(size=(K, D + 1)), rng.normal(size=K)
    value, gradient = loss.value_and_gradient(student)
    product = loss.hvp(student, along)
    with mpmath.workdps(30):
        start = [mpmath.mpf(float(x)) for x in (*np.ravel(student.positions), *student.weights)]
        step = [mpmath.mpf(float(x)) for x in (*np.ravel(along[0]), *along[1])]
        h = mpmath.mpf(10) ** -8
        at = lambda t: exact_loss(  # noqa: E731
            teacher, [x + t * v for x, v in zip(start, step, strict=True)],
            (one.means[0], one.covariances[0]),
        )  # fmt: skip
        behind, here, ahead = (at(t) for t in (-h, 0, h))
        slope, bend = (ahead - behind) / (2 * h), (ahead - 2 * here + behind) / h**2
    scale = float(loss.empty_value()) + float(abs(here))
    assert abs(float(value) - float(here)) < 1e-13 * scale
    found = np.sum(along[0] * gradient.positions) + along[1] @ gradient.weights
    assert float(found) == pytest.approx(float(slope), rel=1e-11)
    found = np.sum(along[0] * product.positions) + along[1] @ product.weights
    assert float(found) == pytest.approx(float(bend), rel=1e-9)


# -- Monte Carlo ----------------------------------------------------------------------------------

PLAIN = {
    "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(x)), lambda x: np.where(x > 0, 1, np.exp(x))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_a_mixture_of_three_against_samples(name):
    """Value and gradient within 4 standard errors, from plain NumPy."""
    inputs = mixture(np.random.default_rng(7))
    teacher, student = networks(name, inputs, 8)
    x = np.asarray(inputs.sample(jax.random.key(1), 100_000, D))
    s, ds = PLAIN[name]
    seen = np.column_stack([x, np.ones(len(x))])
    u, v = seen @ np.asarray(student.positions).T, seen @ np.asarray(teacher.positions).T
    gap = s(u) @ np.asarray(student.weights) - s(v) @ np.asarray(teacher.weights)
    rows = [gap**2, *(2 * gap[:, None] * s(u)).T]
    rows += [2 * gap * c * ds(u[:, i]) * seen[:, j]
             for i, c in enumerate(np.asarray(student.weights)) for j in range(D + 1)]  # fmt: skip
    means, errors = np.mean(rows, axis=1), np.std(rows, axis=1) / np.sqrt(len(x))
    value, gradient = population_loss(teacher).value_and_gradient(student)
    found = np.concatenate([[value], gradient.weights, np.ravel(gradient.positions)])
    assert np.all(np.abs(found - means) < 4 * errors)
    assert np.allclose(teacher(x), s(v) @ np.asarray(teacher.weights), atol=1e-12)


# -- against the closed forms of unbiased units ---------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "sign", "tanh", "gelu"])
def test_biases_of_zero_are_no_biases(name):
    """And correlated inputs are uncorrelated ones of other units: w S^(1/2)."""
    rng = np.random.default_rng(11)
    root = rng.normal(size=(D, D)) / 2  # a series is right to 1e-12 up to norms of 3
    w, b = rng.normal(size=(M, D)), rng.normal(size=M)
    theta, c = rng.normal(size=(K, D)), rng.normal(size=K)
    plain = population_loss(Teacher(w @ root, b, name))
    general = population_loss(
        Teacher(w, b, name, biases=np.zeros(M), inputs=ew.Gaussian(covariance=root @ root.T))
    )
    value, gradient = plain.value_and_gradient(Student(theta @ root, c))
    found, slopes = general.value_and_gradient(Student(theta, c, np.zeros(K)))
    assert float(found) == pytest.approx(float(value), rel=1e-12)
    assert np.allclose(slopes.weights, gradient.weights, atol=1e-12)
    assert np.allclose(slopes.positions[:, :D], gradient.positions @ root.T, atol=1e-11)


@pytest.mark.slow
def test_the_laplacian_is_the_trace_of_the_hessian():
    teacher, student = networks("relu", mixture(np.random.default_rng(2), 2), 5)
    loss = population_loss(teacher)
    hessian = np.asarray(loss.hessian(student)).reshape(-1, K * (D + 1) + K)
    size = D + 1
    for i, found in enumerate(loss.laplacian(student)):
        block = hessian[i * size : (i + 1) * size, i * size : (i + 1) * size]
        assert float(found) == pytest.approx(np.trace(block), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "erf"])
def test_at_the_teacher_the_loss_is_zero_and_a_minimum(name):
    """Also of a relu, whose pairs of equal units are where its second derivatives could fail."""
    teacher, _ = networks(name, mixture(np.random.default_rng(9)), 1)
    loss, perfect = population_loss(teacher), teacher.student()
    value, gradient = loss.value_and_gradient(perfect)
    scale = float(loss.empty_value())
    assert abs(float(value)) < 1e-13 * scale
    assert np.max(np.abs(gradient.positions)) < 1e-13 * scale
    eigenvalues = np.linalg.eigvalsh(loss.hessian(perfect))
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    # A relu's units may be scaled: one flat direction each.
    flat = np.sum(eigenvalues < 1e-10 * eigenvalues[-1])
    assert flat == (M if name == "relu" else 0)


@pytest.mark.slow
def test_tiles_are_the_same_sums():
    """A student too large for all pairs at once; two units nearly in one place."""
    rng = np.random.default_rng(0)
    teacher = Teacher(rng.normal(size=(2, D)), [1.0, -1.0], "relu", biases=[0.5, -0.5])
    places, biases = rng.normal(size=(40, D)), rng.normal(size=40)
    places[1], biases[1] = places[0] * (1 + 1e-9), biases[0] * (1 + 1e-9)
    student = Student(places, rng.normal(size=40), biases)
    value, gradient = population_loss(teacher).value_and_gradient(student)
    # No pair from differences but those that are close.
    loss = population_loss(teacher, tile=256)
    tiled = dataclasses.replace(loss, field=dataclasses.replace(loss.field, small=0))
    found, slopes = tiled.value_and_gradient(student)
    assert float(found) == pytest.approx(float(value), rel=1e-12)
    assert np.allclose(slopes.positions, gradient.positions, atol=1e-10)
    assert np.allclose(tiled.laplacian(student), population_loss(teacher).laplacian(student))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "jump"), [("sign", 2.0), ("step", 1.0)])
def test_the_cusp_of_a_jump_is_the_least_slope(name, jump):
    """From its definition: (J^2/2) p(0) E[|v.X| given u = 0], by samples of X given u = 0.

    The slope given is never more, and not less than sqrt(2/pi)^2 of the least for two clouds.
    """
    rng = np.random.default_rng(3)
    inputs = mixture(rng, 2)
    teacher, _ = networks(name, inputs, seed=4)
    found = np.asarray(population_loss(teacher).cusp(teacher.positions))
    opposite = np.asarray(population_loss(teacher).antipodal_cusp(teacher.positions))
    assert np.allclose(opposite, -found)
    for x, slope in zip(np.asarray(teacher.positions), found, strict=True):
        turns = rng.normal(size=(2000, D + 1))
        turns -= np.outer(turns @ x, x) / (x @ x)
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        slopes = np.zeros(len(turns))
        for cloud in inputs.components(D):
            mean, cov = np.asarray(cloud.mean), np.asarray(cloud.covariance)
            mu, q = x[:D] @ mean + x[D], x[:D] @ cov @ x[:D]
            density = np.exp(-(mu**2) / (2 * q)) / np.sqrt(2 * np.pi * q)
            drawn = rng.multivariate_normal(mean, cov, size=4000)
            drawn -= np.outer((drawn @ x[:D] + x[D]) / q, cov @ x[:D])  # X given u = 0
            seen = np.concatenate([drawn, np.ones((len(drawn), 1))], axis=1)
            means = np.mean(np.abs(seen @ turns.T), axis=0)
            slopes += float(cloud.probability) * density * means
        least = jump**2 / 2 * np.min(slopes)
        assert 2 / np.pi * least < slope < 1.02 * least  # 1.02: of 4000 samples


@pytest.mark.slow
def test_units_on_biased_sign_units_are_held():
    """A student that has one of two units: held by it, the other free; and the answer itself."""
    teacher = Teacher(
        [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.05], "sign", biases=[0.3, -0.4], inputs=ew.Gaussian()
    )
    answer = Student(teacher.hidden, teacher.weights, teacher.biases)
    assert ew.certify(teacher, answer).kind == "cusp-minimum"
    loss, rng = population_loss(teacher), np.random.default_rng(0)
    one = loss.optimal_weights(Student([[1.0, 0.0]], [1.0], [0.3])).weights
    found = ew.certify(teacher, Student([[1.0, 0.0]], one, [0.3]))
    assert found.kind == "cusp-minimum"
    assert found.cusp_margins[0] > 0
    # Whatever way it turns a little, the loss rises.
    here = float(loss.value(Student([[1.0, 0.0]], one, [0.3])))
    for _ in range(20):
        moved = np.array([1.0, 0.0, 0.3]) + 1e-4 * rng.normal(size=3)
        assert float(loss.value(Student(moved[None, :2], one, moved[2:]))) >= here


@pytest.mark.parametrize("growth", ["exp(x^2)", ["exp(x^2)", "sin"]])
def test_units_that_grow_too_fast_for_the_inputs_are_refused(growth):
    """E[exp(2 u^2)] is infinite for u of variance 1/4 and more."""
    teacher = ew.Teacher(np.eye(2), [1.0, 1.0], growth, biases=[0.0, 0.1])
    with pytest.raises(ValueError, match=r"^E\[f\(X\)\^2\] of .* is not finite.*; allowed: "):
        ew.population_loss(teacher)
