"""Oracles: what they answer, how wrong they may be, and that a learner needs nothing else."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.descent.lockstep_descent import LockstepDescent
from earnshaw.descent.methods import MethodOptions, node_wise_method, simultaneous_method
from earnshaw.descent.nodes import begin_nodes, run_nodes, usual_starts
from earnshaw.energy._field import LogPotential
from earnshaw.energy.asked_loss import asked_loss, difference
from earnshaw.energy.oracle import Oracle, oracle_of
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_oracle

W = np.array([[0.3, -0.8], [1.1, 0.4], [-0.9, 0.7]])
B = np.array([1.0, -0.6, 0.8])
X = np.array([[0.1, 0.2], [-0.4, 1.3], [2.0, -1.0], [0.3, -0.7]])
TAU = 1e-3


def by_hand(x):
    """F(x) = sum_j b_j exp(-|x - w_j|^2/2) and its gradient, in NumPy."""
    gaps = x[:, None] - W
    terms = B * np.exp(-np.sum(gaps**2, axis=2) / 2)
    return terms.sum(axis=1), -np.einsum("nj,njd->nd", terms, gaps)


@pytest.fixture(scope="module")
def exact():
    return ew.population_loss(ew.Teacher(W, B, "gaussian"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["exact", "float64"])
def test_the_field_and_its_gradient(exact, name):
    oracle = oracle_of(name, exact)
    value, gradient = by_hand(X)
    told = oracle.ask(jnp.asarray(X))
    np.testing.assert_allclose(told[0], value, rtol=1e-14)
    np.testing.assert_allclose(told[1], gradient, rtol=1e-13, atol=1e-15)
    logs = oracle.ask_log(jnp.asarray(X))
    np.testing.assert_allclose(logs.sign * np.exp(logs.log_size), value, rtol=1e-14)
    np.testing.assert_allclose(logs.gradient, gradient / value[:, None], rtol=1e-12)
    assert float(oracle.error) == 0


@pytest.mark.slow
def test_far_away_only_the_exact_oracle_sees_anything():
    """In d = 3, 900 from the only charge, Phi is about 1e-394: no float64, but it has a logarithm.

    Off the core Phi(r) = A exp(-r)/r, so that log Phi(r) - log Phi(1) = 1 - r - log r.
    """
    loss = ew.population_loss(ew.Teacher(np.zeros((1, 3)), np.ones(1), "almost-harmonic"))
    near, far = jnp.asarray([[1.0, 0.0, 0.0]]), jnp.asarray([[900.0, 0.0, 0.0]])
    logs = oracle_of("exact", loss)
    fall = logs.ask_log(far).log_size[0] - logs.ask_log(near).log_size[0]
    np.testing.assert_allclose(fall, 1 - 900 - np.log(900), rtol=1e-14)
    np.testing.assert_allclose(logs.ask_log(far).gradient[0], [-1 - 1 / 900, 0, 0], rtol=1e-13)
    assert float(oracle_of("float64", loss).ask(far)[0][0]) == 0
    assert np.isneginf(oracle_of("float64", loss).ask_log(far).log_size[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["noisy", "rounded"])
def test_answers_are_wrong_by_at_most_tau(exact, kind):
    oracle = oracle_of(f"{kind}:{TAU}", exact, seed=3)
    points = np.random.default_rng(0).standard_normal((500, 2))
    value, gradient = by_hand(points)
    told = oracle.ask(jnp.asarray(points))
    errors = np.column_stack([told[0] - value, told[1] - gradient]) / TAU
    assert np.max(np.abs(errors)) <= 1 + 1e-9
    # Uniform noise, and the rounding of numbers spread over many multiples, has a third of tau^2.
    assert abs(np.mean(errors**2) - 1 / 3) < 5 * np.sqrt(4 / 45 / errors.size)
    assert abs(np.mean(errors)) < 5 / np.sqrt(3 * errors.size)
    if kind == "rounded":
        steps = np.asarray(told[0]) / (2 * TAU)
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


@pytest.mark.slow
def test_who_asks_again_hears_the_same(exact):
    oracle = oracle_of(f"noisy:{TAU}", exact, seed=3)
    whole = oracle.ask(jnp.asarray(X))
    for row, point in enumerate(X):
        alone = oracle.ask(jnp.asarray(point[None]))
        assert float(alone[0][0]) == float(whole[0][row])
        np.testing.assert_array_equal(alone[1][0], whole[1][row])
    other = oracle_of(f"noisy:{TAU}", exact, seed=4).ask(jnp.asarray(X))
    nudged = oracle.ask(jnp.asarray(np.nextafter(X, np.inf)))
    for changed in (other, nudged):
        assert np.all(np.abs(changed[0] - whole[0]) > 1e-3 * TAU)


@pytest.mark.slow
def test_second_derivatives_are_asked_for_too(exact):
    """Along v the gradient of F changes by its Hessian times v, told to tau |v|."""
    oracle = oracle_of(f"noisy:{TAU}", exact, seed=3)
    v = np.array([[0.3, -0.4]] * len(X))
    told = jax.jvp(oracle.ask, (jnp.asarray(X),), (jnp.asarray(v),))[1]
    step = 1e-5
    bent = (by_hand(X + step * v)[1] - by_hand(X - step * v)[1]) / (2 * step)
    errors = np.asarray(told[1]) - bent
    assert np.max(np.abs(errors)) <= 0.5 * TAU + 1e-8
    assert np.max(np.abs(errors)) > 0.05 * TAU
    np.testing.assert_allclose(told[0], np.sum(oracle.ask(jnp.asarray(X))[1] * v, axis=1))


def test_differences_in_logarithms():
    """exp(-2000) (1 - 0.25) and cancellation, by mpmath; gradients as those of two exponentials."""
    logs = np.array([-2000.0, -1.0, 0.5])
    others = logs + np.log([0.25, 1 - 1e-9, 3.0])
    slopes = np.array([[1.0], [2.0], [3.0]]), np.array([[-1.0], [2.5], [0.0]])
    one = LogPotential(jnp.ones(3), jnp.asarray(logs), jnp.asarray(slopes[0]))
    other = LogPotential(jnp.ones(3), jnp.asarray(others), jnp.asarray(slopes[1]))
    found = difference(one, other)
    with mpmath.workdps(50):
        for i in range(3):
            a, b = mpmath.exp(mpmath.mpf(logs[i])), mpmath.exp(mpmath.mpf(others[i]))
            size = float(mpmath.log(abs(a - b)))
            slope = float((a * slopes[0][i, 0] - b * slopes[1][i, 0]) / (a - b))
            assert float(found.sign[i]) == float(mpmath.sign(a - b))
            assert abs(float(found.log_size[i]) - size) < 1e-6
            assert abs(float(found.gradient[i, 0]) - slope) <= 1e-6 * abs(slope)


@pytest.mark.slow
def test_a_learner_with_an_exact_oracle_sees_the_loss(exact):
    """Against E[(f - g)^2] written out, and its derivatives by differences of that."""
    seen = asked_loss(exact, oracle_of("exact", exact))
    theta, c = np.array([[0.2, 0.1], [-0.5, 0.9]]), np.array([0.7, -1.2])

    def kernel(x, y):
        return np.exp(-np.sum((x[:, None] - y) ** 2, axis=2) / 2)

    def loss(theta, c):
        return c @ kernel(theta, theta) @ c - 2 * c @ by_hand(theta)[0] + B @ kernel(W, W) @ B

    value, gradient = seen.value_and_gradient(ew.Student(theta, c))
    assert seen.teacher is None
    np.testing.assert_allclose(value, loss(theta, c), rtol=1e-13)
    step = 1e-6
    for i in range(2):
        e = step * np.eye(2)[i]
        slope = (loss(theta, c + e) - loss(theta, c - e)) / (2 * step)
        np.testing.assert_allclose(gradient.weights[i], slope, atol=1e-8)
    np.testing.assert_allclose(
        seen.refit(ew.Student(theta, c))[0].weights,
        np.linalg.solve(kernel(theta, theta), by_hand(theta)[0]),
        rtol=1e-10,
    )
    left = seen.left_by(ew.Student(theta, c))
    potential = by_hand(X)[0] - kernel(X, theta) @ c
    np.testing.assert_allclose(left.free_units(X).weights, potential, rtol=1e-12)
    one = ew.Student(X[:1], np.array([0.3]))
    both = loss(np.concatenate([theta, X[:1]]), np.append(c, 0.3))
    np.testing.assert_allclose(left.value(one), both, rtol=1e-12)


class Sealed(Oracle):
    """Answers by a function of its own: there is no teacher in it, and nothing to look up."""

    answer: Callable = eqx.field(static=True)
    error: jax.Array

    def power(self):
        return jnp.asarray(float(B @ np.exp(-np.sum((W[:, None] - W) ** 2, axis=2) / 2) @ B))

    def ask(self, points):
        return self.answer(points)


def answer(points):
    gaps = points[:, None] - W
    terms = B * jnp.exp(-jnp.sum(gaps**2, axis=2) / 2)
    return jnp.sum(terms, axis=1), -jnp.einsum("nj,njd->nd", terms, gaps)


@pytest.fixture(scope="module")
def sealed(exact):
    return asked_loss(exact, Sealed(answer=answer, error=jnp.zeros(())))


@pytest.mark.slow
def test_node_wise_learning_needs_nothing_but_answers(sealed):
    around = usual_starts(sealed.manifold, 2, directions=False)
    method, _ = node_wise_method("node-wise", sealed, 10, around, MethodOptions())
    nodes, _ = run_nodes(method, sealed, begin_nodes(sealed, 10, seed=0))
    found = nodes.result()
    order = np.argmin(np.linalg.norm(W[:, None] - np.asarray(found.positions), axis=2), axis=1)
    assert found.units == 3
    np.testing.assert_allclose(np.asarray(found.positions)[order], W, atol=1e-6)
    np.testing.assert_allclose(np.asarray(found.weights)[order], B, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["node-wise-gd", "node-wise-paper"])
def test_so_do_the_papers_node_wise_methods(sealed, name):
    around = usual_starts(sealed.manifold, 2, directions=False)
    method, _ = node_wise_method(name, sealed, 2, around, MethodOptions(iterations=50))
    nodes, _ = run_nodes(method, sealed, begin_nodes(sealed, 2, seed=0))
    assert float(nodes.loss) < 0.5 * float(nodes.losses[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gd", "hessian-descent", "second-gd", "noisy-sgd", "newton"])
def test_so_do_methods_of_all_units(sealed, name):
    start = ew.Student(W + 0.1, B)
    method, _ = simultaneous_method(name, sealed, start, MethodOptions())
    state = method.init(sealed, start)
    after = method.step(sealed, state, jax.random.key(0))
    assert np.all(np.isfinite(np.asarray(after.student.positions)))


@pytest.mark.slow
def test_so_does_the_descent_of_hunts(sealed):
    method, start = LockstepDescent(cusps=True), ew.Student(W + 0.1, B)
    after = method.step(sealed, method.init(sealed, start), jax.random.key(0))
    assert np.all(np.isfinite(np.asarray(after.student.positions)))


@pytest.mark.parametrize(
    "name",
    [
        *("", "exactly", "exact:1", "noisy", "noisy:", "noisy:x", "noisy:0", "noisy:-1"),
        *("noisy:nan", "rounded:inf", "samples:0", "samples:1.5", "samples:99999999999", None, 3),
    ],
)
def test_names_that_are_none(name):
    with pytest.raises(EarnshawError, match="allowed"):
        check_oracle(name)


def test_two_names_of_one_oracle():
    from earnshaw.learning.settings import Settings

    assert Settings(samples=9) == Settings(oracle="samples:9")
    assert Settings().oracle == "exact"
    with pytest.raises(EarnshawError, match="two oracles"):
        Settings(oracle="float64", samples=9)
    with pytest.raises(EarnshawError, match="theory steps"):
        Settings(oracle="noisy:1e-6", steps="theory", method="gd")
