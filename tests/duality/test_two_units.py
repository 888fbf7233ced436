"""Units with biases and two activations: values to 1e-13, bounds, derivatives, the public face."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import affine_reference
import earnshaw as ew
from earnshaw.errors import EarnshawError

power = cache(affine_reference.power)
QUICK = [("relu", "erf"), ("elu", "tanh")]
NUMBERS = [(0.3, -0.5, 1.2, 0.7, 0.4), (-1.0, 2.0, 0.5, 3.0, -1.1)]


def covariance(q1: float, q2: float, rho: float) -> float:
    """The float64 next to rho sqrt(q1 q2) that is a covariance."""
    c = float(rho * np.sqrt(q1) * np.sqrt(q2))
    while Fraction(c) ** 2 > Fraction(q1) * Fraction(q2):
        c = float(np.nextafter(c, 0.0))
    return c


def extremes(seed: int, count: int) -> np.ndarray:
    """Rows mu1, mu2, q1, q2, c: |mu| to 20, q from 1e-8 to 100, |rho| to 1 - 1e-12 and 1."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        mu = [rng.choice([0.0, rng.normal(), rng.uniform(-20, 20), -20.0]) for _ in range(2)]
        q = [rng.choice([1e-8, 100.0, 10 ** rng.uniform(-8, 2), rng.uniform(0.1, 4)]) for _ in mu]
        rho = rng.choice([-1, 1]) * (1 - rng.choice([10 ** rng.uniform(-12, 0), rng.random()]))
        if i % 5 == 4:  # the same unit, or nearly
            mu[1], q[1], rho = mu[0], q[0], rng.choice([1.0, 1 - 1e-12])
        rows.append((*mu, *q, covariance(q[0], q[1], rho)))
    return np.array(rows, dtype=float)


def size(first: str, second: str, row: list[float]) -> float:
    """sqrt(E[s(u)^2] E[s'(v)^2]); first of each, since the product may underflow."""
    return float(np.sqrt(power(first, row[0], row[2])) * np.sqrt(power(second, row[1], row[3])))


def quickly_compiled(function):
    """Compiled in a third of the time, for what runs once."""
    return jax.jit(
        lambda *row: function(*row), compiler_options={"xla_backend_optimization_level": 0}
    )


def check(first: str, second: str, rows: np.ndarray, relative: float | None = 1e-13) -> None:
    """Within `relative` of sqrt(E s^2 E s'^2), and within the stated error."""
    potential = ew.potential(first, second, normalize=False)
    found, errors = potential.moment(*rows.T), potential.moment_error(*rows.T)
    for row, value, error in zip(rows.tolist(), found.tolist(), errors.tolist(), strict=True):
        wanted = affine_reference.mean(first, second, *row)
        assert abs(value - wanted) <= error, (first, second, row, value, wanted)
        if relative is not None:
            assert abs(value - wanted) <= relative * size(first, second, row) + 1e-290


@pytest.mark.quick("relu-erf")
@pytest.mark.parametrize(("first", "second"), QUICK)
def test_values(first, second):
    """At ordinary numbers and at the far ends, against 60 digits."""
    check(first, second, np.concatenate([NUMBERS, extremes(len(first + second), 3)]))


@pytest.mark.slow
def test_series():
    """Two smooth functions without closed forms: within the stated bound."""
    check("tanh", "softplus", np.array([(-1.0, 2.0, 0.5, 3.0, -1.1)]), None)


@pytest.mark.slow
def test_double_integral():
    """A kink, and no closed form on either side."""
    check("softsign", "tanh", np.array(NUMBERS[:1]))


@pytest.mark.slow
@pytest.mark.parametrize("first", affine_reference.CLOSED)
def test_many_pairs(first):
    """Each closed form with every tenth activation, at the far ends; `two_units_fuzz.py` has all.

    Every activation is integrated over here, and smoothed.
    """
    names = (*affine_reference.CLOSED, *affine_reference.NO_FORMULA)
    start = names.index(first)
    for second in names[start % 10 :: 10]:
        rows = extremes(start * 100 + names.index(second), 3)
        found = quickly_compiled(ew.potential(first, second, normalize=False).moment)(*rows.T)
        for row, value in zip(rows.tolist(), found.tolist(), strict=True):
            wanted = affine_reference.mean(first, second, *row)
            assert abs(value - wanted) <= 1e-13 * size(first, second, row) + 1e-290


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [("logistic", "mish"), ("softplus", "silu"), ("softsign", "softsign")]
)
def test_pairs_without_closed_form(first, second):
    """Each of them once; tanh is above."""
    check(first, second, np.array(NUMBERS[:1]), None if first != "softsign" else 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "relu",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("erf", "tanh", "elu", "sin")),
    ],
)
def test_without_biases(name):
    """Five numbers with biases 0 are the three of old."""
    rows = np.array([(1.0, 2.0, 0.3), (0.5, 0.5, -0.5), (3.0, 0.1, 0.0)]).T
    potential = ew.potential(name)
    zero = np.zeros(3)
    error = potential.moment_error(zero, zero, *rows) + potential.moment_error(*rows[:2])
    assert np.all(np.abs(potential.moment(zero, zero, *rows) - potential.moment(*rows)) <= error)


# -- derivatives ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_gradient():
    """relu and erf: d/dmu1 is that of step and erf; d/dmu2 and d/dc by differences."""
    at, h = (0.3, -0.5, 1.25, 0.75, 0.375), 2.0**-10
    found = jax.jacfwd(ew.potential("relu", "erf").moment, tuple(range(5)))(*at)
    assert float(found[0]) == pytest.approx(affine_reference.mean("step", "erf", *at), rel=1e-13)
    for n in (1, 2, 3, 4):
        moved = [[x + step * h * (i == n) for i, x in enumerate(at)] for step in (-2, -1, 1, 2)]
        low2, low, high, high2 = (affine_reference.mean("relu", "erf", *row) for row in moved)
        wanted = (8 * (high - low) - (high2 - low2)) / (12 * h)
        assert float(found[n]) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [("relu", "hard-tanh"), ("step", "gelu"), ("tanh", "leaky-relu")]
)
def test_derivatives(first, second):
    """First and second ones, against differences of the 60-digit values."""
    at, h = np.array([0.3, -0.5, 1.25, 0.75, 0.375]), 2.0**-12
    form = ew.potential(first, second, normalize=False)

    @cache
    def wanted(*moved: int) -> float:
        steps = np.array(moved, dtype=int)
        row = at + h * np.bincount(np.abs(steps), np.sign(steps), 6)[1:]
        return affine_reference.mean(first, second, *row.tolist())

    gradient = jax.jacfwd(form.moment, tuple(range(5)))
    curvature = jax.jacfwd(gradient, tuple(range(5)))
    both = quickly_compiled(lambda *row: (gradient(*row), curvature(*row)))
    found, twice = map(np.array, both(*at))
    for n in range(1, 6):
        third = (wanted(n) - wanted(-n)) / (2 * h)
        fine = (8 * (wanted(n) - wanted(-n)) - (wanted(n, n) - wanted(-n, -n))) / (12 * h)
        assert found[n - 1] == pytest.approx(fine, abs=1e-10 + 1e-2 * abs(fine - third))
    assert np.allclose(twice, twice.T, rtol=1e-11, atol=1e-12)
    for m, n in itertools.combinations_with_replacement(range(1, 6), 2):
        # To h^2, from values that mostly are there already.
        alone = wanted(m) + wanted(n) + wanted(-m) + wanted(-n) - 2 * wanted()
        mixed = (wanted(m, n) + wanted(-m, -n) - alone) / (2 * h * h)
        assert twice[m - 1, n - 1] == pytest.approx(mixed, abs=1e-5)


@pytest.mark.slow
def test_gradient_where_units_coincide():
    """relu: d/dmu1 is E[u; u > 0], d/dc is P(u > 0), d/dq1 vanishes; all finite at rho = 1."""
    mu, q = 0.4, 1.3
    found = jax.jacfwd(ew.potential("relu").moment, tuple(range(5)))(*(mu, mu, q, q, q))
    half = affine_reference.mean("relu", "step", mu, mu, q, q, q)
    chance = affine_reference.power("step", mu, q)
    assert np.allclose(found, [half, half, 0.0, 0.0, chance], rtol=1e-13, atol=1e-15)


@pytest.mark.slow
def test_a_unit_without_weights():
    """q = 0: a constant s(b)."""
    form = ew.potential("relu", "erf", normalize=False)
    wanted = 0.7 * affine_reference.mean("erf", "cos", 0.2, 0.0, 1.5, 1e-30, 0.0)
    assert float(form.moment(0.7, 0.2, 0.0, 1.5, 0.0)) == pytest.approx(wanted, rel=1e-14)
    other = ew.potential("erf", "relu", normalize=False)
    assert float(other.moment(0.2, 0.7, 1.5, 0.0, 0.0)) == pytest.approx(wanted, rel=1e-14)


# -- the public face ------------------------------------------------------------------------------


@pytest.mark.slow
def test_potential_of_two():
    """On the sphere: values, both orders, vectors, normalised and raw."""
    mixed, raw = ew.potential("relu", "erf"), ew.potential("relu", "erf", dim=3, normalize=False)
    wanted = affine_reference.mean("relu", "erf", 0, 0, 1, 1, 0.3)
    assert float(raw.value(0.3)) == pytest.approx(wanted, abs=raw.error_bound)
    both = np.sqrt(power("relu", 0.0, 1.0) * power("erf", 0.0, 1.0))
    assert float(mixed(0.3)) == pytest.approx(wanted / both, abs=mixed.error_bound)
    assert (raw.dim, raw.method) == (3, "single integral")
    assert raw.error_bound < 1e-13
    back = ew.potential("erf", "relu", normalize=False)
    assert float(back.moment(0.1, 0.2, 1.0, 2.0, 0.3)) == pytest.approx(
        float(raw.moment(0.2, 0.1, 2.0, 1.0, 0.3)), rel=1e-13
    )
    theta, w = jnp.array([1.0, 2.0, 0.0]), jnp.array([0.5, -1.0, 1.0])
    assert float(raw.between(theta, w)) == pytest.approx(float(raw.moment(5.0, 2.25, -1.5)))


def test_width():
    """Inputs of width 2 are weight vectors twice as long; biases stay."""
    wide, unit = (ew.potential("relu", "tanh", width=s, normalize=False) for s in (2.0, 1.0))
    assert float(wide.moment(0.3, 0.2, 1.0, 0.5, 0.1)) == pytest.approx(
        float(unit.moment(0.3, 0.2, 4.0, 2.0, 0.4)), rel=1e-13
    )


@pytest.mark.slow
def test_the_second_argument():
    """A name, an activation, a function or, as before, the dimension."""
    assert [ew.potential("relu", 10).dim, ew.potential("relu", dim=10).dim] == [10, 10]
    leaky = ew.activation("leaky-relu", negative_slope=0.3)
    assert ew.potential(leaky, "swish").name == "leaky-relu and silu"
    own = ew.potential("relu", jnp.tanh, normalize=False)
    assert own.error_bound is None
    assert own.error_estimate < 1e-12
    named = ew.potential("relu", "tanh", normalize=False)
    assert float(own.moment(*NUMBERS[0])) == pytest.approx(float(named.moment(*NUMBERS[0])))


@pytest.mark.parametrize(
    ("arguments", "keywords", "words"),
    [
        (("relu", "gaussian"), {}, "dim"),
        (("relu", "nonsense"), {}, "unknown activation"),
        (("relu", "erf"), {"alpha": 1.0}, "make each with activation"),
        (("relu", 3), {"dim": 3}, "two dimensions"),
        (("relu", 2.5), {}, "dimension is 2.5"),
    ],
)
def test_refused(arguments, keywords, words):
    with pytest.raises(EarnshawError, match=words):
        ew.potential(*arguments, **keywords)


def test_wrong_number_of_numbers():
    for potential in (ew.potential("relu"), ew.potential("relu", "erf")):
        with pytest.raises(EarnshawError, match="mu1, mu2, q1, q2, c"):
            potential.moment(1.0, 2.0)
