"""Series with a table of coefficients, as energies use them, against 50-digit plane integrals."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb

import earnshaw as ew
from earnshaw.duality.pair import Pair
from earnshaw.duality.series._hermite_series import hermite_series
from reference import ACTIVATIONS, line_mean, plane_mean

PAIRS = [  # norms and correlation: short and long, beside the edges of pieces, nearly parallel
    (1e-9, 2e-6, 0.5),
    (0.03125, 0.0312499, -0.9),
    (0.7, 1.3, 0.999999),
    (1.0, 3.9, -0.3),
    (4.0, 2.5, 0.8),
]


def of(s1, s2, rho):
    return Pair.of_moments(s1**2, s2**2, rho * s1 * s2)


def size(name, s):
    return float(line_mean(lambda x: ACTIVATIONS[name](s * x))) ** 0.5


@functools.cache
def table_of(name):
    """Made once for all its cases."""
    return ew.potential(name).form.for_many_pairs()


@pytest.mark.quick("tanh-0.7-*")
@pytest.mark.parametrize(("s1", "s2", "rho"), PAIRS)
@pytest.mark.parametrize("name", ["tanh", "logistic", "softplus", "silu", "mish"])
def test_moments_are_those_of_the_plane(name, s1, s2, rho):
    form = table_of(name)
    assert form.table is not None
    truth = float(plane_mean(ACTIVATIONS[name], rho, s1**2, s2**2))
    error = abs(float(form(of(s1, s2, rho))) - truth)
    assert error <= 2e-14 * size(name, s1) * size(name, s2)
    assert error <= float(form.error_at(jnp.asarray(s1**2), jnp.asarray(s2**2)))


def _sech(x: arb) -> arb:
    return 1 / x.cosh() ** 2


def _bend(x: arb) -> arb:
    return -2 * x.tanh() * _sech(x)


@pytest.mark.slow
@pytest.mark.parametrize(("s1", "s2", "rho"), [(0.02, 1.5, 0.6), (0.8, 2.2, -0.9)])
def test_derivatives_are_means_of_derivatives(s1, s2, rho):
    """Price: d/dc E[s s] = E[s' s'], d2/dc2 = E[s'' s''], and d/dq1 by differences of the truth."""
    form = table_of("tanh")
    q1, q2, c = (jnp.asarray(x) for x in (s1**2, s2**2, rho * s1 * s2))
    in_c = lambda c: jax.jvp(lambda c: form(Pair.of_moments(q1, q2, c)), (c,), (1.0,))[1]  # noqa: E731
    slope, bend = jax.jvp(in_c, (c,), (1.0,))
    for found, mean in ((slope, _sech), (bend, _bend)):
        truth = float(plane_mean(mean, rho, s1**2, s2**2))
        assert float(found) == pytest.approx(truth, rel=1e-10)
    in_q1 = jax.jvp(lambda q: form(Pair.of_moments(q, q2, c)), (q1,), (1.0,))[1]
    h = arb("1e-12")

    def moved(step):
        q = arb(float(q1)) + step
        rho = arb(float(c)) / (q * arb(float(q2))).sqrt()
        return plane_mean(ACTIVATIONS["tanh"], rho, q, arb(float(q2)))

    difference = float((moved(h) - moved(-h)) / (2 * h))  # to h^2 = 1e-24, in 50 digits
    assert float(in_q1) == pytest.approx(difference, rel=1e-10)


def test_beyond_its_end_a_table_promises_nothing():
    form = table_of("tanh")
    far = jnp.asarray(1e8)
    assert np.isinf(float(form.error_at(far, jnp.asarray(1.0))))
    assert np.isfinite(float(form(Pair.of_moments(far, jnp.asarray(1.0), jnp.asarray(0.0)))))


@pytest.mark.slow
def test_a_function_that_no_table_resolves_has_none():
    rough = hermite_series(lambda x: np.sin(300 * np.asarray(x)), proven=False)
    assert rough.for_many_pairs().table is None


def test_vectors_of_length_zero():
    form = table_of("softplus")
    nothing = jnp.zeros(())
    expected = np.log(2) ** 2
    assert float(form(Pair.of_moments(nothing, nothing, nothing))) == pytest.approx(expected)
