"""Half-lines by Phi2 against the single integral, which 60-digit arithmetic is the test of."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import norm

import earnshaw as ew
from earnshaw.duality.affine import Affine
from earnshaw.duality.affine_moment import affine_energy, affine_moment
from earnshaw.duality.half_lines import HalfLinePair

NAMES = ("step", "sign", "relu", "leaky-relu", "relu2", "relu3", "hard-tanh", "erf", "gelu")
LINES = (*NAMES, "normal-cdf")


def numbers(count: int) -> tuple[np.ndarray, ...]:
    """mu1, mu2, q1, q2, c, the first of them nearly parallel and nearly antiparallel."""
    rng = np.random.default_rng(count)
    mu1, mu2 = 1.5 * rng.normal(size=(2, count))
    q1, q2 = np.exp(rng.normal(size=(2, count)))
    rho = rng.uniform(-1, 1, count)
    rho[:2] = 1 - 1e-9, 1e-9 - 1
    return mu1, mu2, q1, q2, rho * np.sqrt(q1 * q2)


@pytest.mark.slow
@pytest.mark.parametrize("second", ["erf", None])
@pytest.mark.parametrize("first", LINES)
def test_values_and_slopes(first, second):
    """Within its own bound; slopes to 1e-12 of what they are."""
    one = ew.activation(first)
    two = one if second is None else ew.activation(second)
    fast, slow = affine_energy(one, two), affine_moment(one, two)
    assert isinstance(fast, HalfLinePair)
    units = Affine.of_moments(*numbers(12))
    jet = jax.jit(fast.jet)(units)
    assert np.all(np.abs(jet.value - slow(units)) <= fast.error_at(units))
    kappa = units.c / units.q1 if fast.turning else 0.0
    in_q = (jet.along - kappa * jet.in_c) / 2
    for name, found in (("mu1", jet.in_mu), ("q1", in_q), ("c", jet.in_c)):
        moved = [jnp.ones_like(part) if key == name else jnp.zeros_like(part)
                 for key, part in units._asdict().items()]  # fmt: skip
        wanted = jax.jvp(lambda *row: slow(Affine(*row)), tuple(units), tuple(moved))[1]
        # Two that are all but parallel: the slope in c of a jump is a density of 1e4.
        assert np.allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_second_derivatives_are_symmetric_and_right():
    """The jet of the jet, against differences of the jet."""
    form = affine_energy(ew.activation("relu"), ew.activation("gelu"))  # with noise: kappa = 0
    at = [np.array(x) for x in (0.3, -0.5, 1.2, 0.7, 0.4)]

    def slopes(*row):
        _, in_mu, along, in_c = form.jet(Affine.of_moments(*row))
        return in_mu, along / 2, in_c

    second = np.array(jax.jit(jax.jacfwd(slopes, (0, 2, 4)))(*at))
    assert np.allclose(second, second.T, atol=1e-14)
    step = 1e-5
    for column, place in enumerate((0, 2, 4)):
        ahead, behind = (
            [x + sign * step * (i == place) for i, x in enumerate(at)] for sign in (1, -1)
        )
        wanted = (np.array(slopes(*ahead)) - np.array(slopes(*behind))) / (2 * step)
        assert np.allclose(second[:, column], wanted, atol=1e-9)


@pytest.mark.slow
def test_one_unit_twice():
    """E[relu(u)^2] = (mu^2 + q) Phi(h) + mu sqrt(q) phi(h), and no NaN in second derivatives."""
    form = affine_energy(*2 * [ew.activation("relu")])
    mu, q = np.array([-1.0, 0.0, 2.0]), np.array([0.5, 1.0, 3.0])
    h = mu / np.sqrt(q)
    wanted = (mu**2 + q) * norm.cdf(h) + mu * np.sqrt(q) * norm.pdf(h)
    power = lambda mu, q: form(Affine.of_one(mu, q))  # noqa: E731
    assert np.allclose(power(mu, q), wanted, rtol=1e-14)
    # d^2/dmu^2 is 2 Phi(h), d/dq is Phi(h).
    slope = jax.vmap(jax.grad(power, 1))
    assert np.allclose(slope(mu, q), norm.cdf(h), rtol=1e-13)
    bend = jax.vmap(jax.grad(jax.grad(power)))
    assert np.allclose(bend(mu, q), 2 * norm.cdf(h), rtol=1e-13)


@pytest.mark.parametrize("turn", [0.0, 1e-16, 1e-12, 1e-9, 1e-6])
def test_nearly_equal_units(turn):
    """E[relu(u) relu(v)] of parallel units is E[relu(u)^2]; a turn t changes it by t^2 or less."""
    form = affine_energy(*2 * [ew.activation("relu")])
    low = 1.3 * (1 - np.sqrt(1 - turn**2)) if turn > 1e-7 else 1.3 * turn**2 / 2
    mu, q = np.array(-0.8), np.array(1.3)
    near = Affine(mu, mu, q, q, q - low, np.array(low), 2 * q - low)
    found, wanted = form.jet(near), form.jet(Affine.of_one(mu, q))
    assert np.allclose(found, wanted, atol=3 * turn + 1e-15, rtol=0)


def test_units_that_do_not_vary():
    """Of variance 0 a unit is a constant: relu(mu1) times the mean of the other."""
    form = affine_energy(ew.activation("relu"), ew.activation("erf"))
    units = Affine.of_moments([2.0, -1.0, 0.0], [0.5, 0.5, 0.5], 0.0, 1.5, 0.0)
    wanted = np.array([2.0, 0.0, 0.0]) * erf(0.5 / np.sqrt(1 + 2 * 1.5))
    assert np.allclose(form(units), wanted, atol=1e-15)
