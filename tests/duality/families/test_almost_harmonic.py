"""The almost lambda-harmonic potential against the definition of its cores, in 130 digits.

The reference knows nothing of the library's formulas: it takes K_nu from Arb, its Taylor
coefficients from Cauchy's integral around the edge of the core, and expands and integrates the
polynomials term by term, with digits to spare for the cancellation that the library avoids.
"""

import math
from functools import lru_cache

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.errors import EarnshawError
from earnshaw.numerics.bernstein_form import bernstein

DIGITS = 160
DIMS = (1, 2, 3, 4, 5, 7, 10, 31, 50, 101)
RADII = (0.01, 0.1, 0.5)
TOLERANCE = 1e-12


@pytest.fixture(autouse=True)
def precision():
    """Enough digits for every reference below, restored afterwards."""
    before, ctx.dps = ctx.dps, DIGITS
    with mp.workdps(DIGITS):
        yield
    ctx.dps = before


def exactly(ball):
    """The midpoint of an Arb ball as an mpmath number."""
    return mp.mpf(ball.mid().str(DIGITS, radius=False))


def cauchy_taylor(function, centre, order):
    """Taylor coefficients of an analytic function: values on a circle, then a Fourier transform."""
    count, reach = 128 + 4 * order, arb(0.25) * centre
    turns = [(acb(2 * k) / count).exp_pi_i() for k in range(count)]
    values = acb.dft([function(centre + reach * turn) for turn in turns])
    return [exactly((values[k] / count / reach**k).real) for k in range(order + 1)]


@lru_cache
def edge_taylor(dim, radius, core, lam=1.0):
    """Coefficients at the edge: of Phi in r (paper core), or of -Phi' in u = r^2 (ball core)."""
    nu, s = acb(dim) / 2 - 1, arb(lam).sqrt()
    if core == "paper":
        return cauchy_taylor(lambda r: (s * r) ** -nu * (s * r).bessel_k(nu), arb(radius), dim - 1)

    def slope(u):
        z = s * u.sqrt()
        return s * z**-nu * z.bessel_k(nu + 1)

    return cauchy_taylor(slope, arb(radius) ** 2, math.ceil((dim - 1) / 2))


@lru_cache
def outside(dim, r, lam=1.0):
    """The raw Phi, Phi', Phi'' for r >= eps, by Phi' = -s z^-nu K_(nu+1) and the equation."""
    nu, s = arb(dim) / 2 - 1, arb(lam).sqrt()
    z = s * r
    value, slope = z**-nu * z.bessel_k(nu), -s * z**-nu * z.bessel_k(nu + 1)
    return exactly(value), exactly(slope), exactly(lam * value - (dim - 1) / arb(r) * slope)


@lru_cache
def inside(dim, radius, core, r, lam=1.0):
    """The raw Phi, Phi', Phi'' for r < eps, straight from the definition of the core."""
    eps, c = mp.mpf(radius), edge_taylor(dim, radius, core, lam)
    if core == "paper":
        h, last = r - eps, c[-1]

        def derivative(i):
            low = sum(mp.ff(k, i) * c[k] * h ** (k - i) for k in range(i, dim - 1))
            bend = mp.ff(dim, i) * h ** (dim - i) / (dim * eps)
            return low + last * (mp.ff(dim - 1, i) * h ** (dim - 1 - i) + bend)

        return derivative(0), derivative(1), derivative(2)
    w, orders = r**2 - eps**2, range(len(c))
    # c_k (u - eps^2)^k, expanded in powers of r and integrated from r to eps.
    powers = [
        sum(c[k] * math.comb(k, i) * (-(eps**2)) ** (k - i) for k in range(i, len(c)))
        for i in orders
    ]
    steps = [(eps ** (2 * i + 1) - r ** (2 * i + 1)) / (2 * i + 1) for i in orders]
    value = outside(dim, radius, lam)[0] + mp.fdot(powers, steps)
    slope = -sum(c[k] * w**k for k in orders)
    return value, slope, -2 * r * sum(k * c[k] * w ** (k - 1) for k in orders if k)


def reference(dim, radius, core, r, lam=1.0):
    """Phi, Phi', Phi'' divided by Phi(0), at a float r."""
    r = float(r)
    raw = inside(dim, radius, core, mp.mpf(r), lam) if r < radius else outside(dim, r, lam)
    origin = inside(dim, radius, core, mp.mpf(0), lam)[0]
    return [term / origin for term in raw]


def radii_of_interest(radius):
    inner = np.array([0, 1e-6, 0.3, 0.5, 0.99, 1, 1.01, 3]) * radius
    return np.concatenate([inner, [1.0, 4.0, 50.0, 1000.0]])


def relative_error(ours, truth):
    """The largest error relative to the truth; where that underflows, ours must be 0."""
    worst = 0.0
    for a, b in zip(np.asarray(ours), truth, strict=True):
        assert np.isfinite(a)
        if abs(b) < 1e-306:
            assert abs(a) < 1e-305
        else:
            worst = max(worst, float(abs(mp.mpf(float(a)) / b - 1)))
    return worst


CASES = [(d, "ball") for d in DIMS] + [(d, "paper") for d in DIMS if d >= 3 and d % 2]


@jax.jit
def everything(phi, r):
    return [
        f(r) for f in (phi.value, phi.first, phi.second, phi.log_value, phi.log_first, phi.drop)
    ]


@pytest.mark.quick("0.1-1-ball")
@pytest.mark.parametrize(("dim", "core"), CASES)
@pytest.mark.parametrize("radius", RADII)
def test_value_derivatives_and_logarithms_are_right_relative_to_themselves(dim, core, radius):
    r = radii_of_interest(radius)
    ours = everything(AlmostHarmonic(dim, radius, core=core), r)
    value, first, second = zip(*(reference(dim, radius, core, x) for x in r), strict=True)
    truth = (
        value,
        first,
        second,
        [mp.log(v) for v in value],
        [f / v for f, v in zip(first, value, strict=True)],
        [1 - v for v in value],
    )
    for a, b in zip(ours, truth, strict=True):
        assert relative_error(a, b) < TOLERANCE
    assert [float(ours[i][0]) for i in (0, 3, 5)] == [1.0, 0.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dim", "core", "lam"), [(3, "paper", 4.0), (4, "ball", 0.2), (7, "ball", 9.0)]
)
def test_other_eigenvalues(dim, core, lam):
    phi, r = AlmostHarmonic(dim, 0.3, lam, core), np.linspace(0, 1, 12)
    truth = zip(*(reference(dim, 0.3, core, x, lam) for x in r), strict=True)
    for ours, expected in zip(everything(phi, r)[:3], truth, strict=True):
        assert relative_error(ours, expected) < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dim", "radius", "core", "half", "one", "four"),
    [
        (3, 0.1, "ball", 0.627570505288, 0.014332655455, 0.000178395224258),
        (3, 0.1, "paper", 0.627570505288, 0.014332655455, 0.000178395224258),
        (5, 0.1, "ball", 0.370373903147, 5.75516037477e-5, 1.1192678244e-7),
        (5, 0.1, "paper", 0.190278880708, 2.3009482503e-5, 4.47490108784e-8),
        (7, 0.5, "ball", 0.239118741689, 0.000495795288042, 1.06753628762e-7),
        (7, 0.5, "paper", 0.0529220178003, 6.25741881264e-5, 1.347334638e-8),
        (4, 0.1, "ball", 0.432981605251, 0.00086260986242, 4.47261169057e-6),
    ],
)
def test_reference_table_of_the_mathematics_page(dim, radius, core, half, one, four):
    r = np.repeat([radius / 2, 1.0, 4.0], 4)  # twelve, as above: already compiled
    ours = everything(AlmostHarmonic(dim, radius, core=core), r)[0]
    np.testing.assert_allclose(ours, np.repeat([half, one, four], 4), rtol=1e-10)


@pytest.mark.parametrize(("dim", "cusp"), [(3, 7.8), (7, 18.2), (31, 43.3)])
def test_cusps_of_the_mathematics_page(dim, cusp):
    phi = AlmostHarmonic(dim)
    assert round(float(phi.cusp), 1) == cusp
    assert float(phi.first(0.0)) == -float(phi.cusp)
    assert float(phi.singular_charge) == pytest.approx((dim - 1) * float(phi.cusp))


@jax.jit
def by_autodiff(phi, r):
    def each(f):
        return jax.vmap(jax.grad(f))(r)

    second = each(jax.grad(phi.value))
    return each(phi.value), second, each(phi.second), each(phi.log_value), each(phi.log_first)


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "core"), [(4, "ball"), (7, "paper")])
def test_autodiff_agrees_with_the_derivatives_and_gives_no_nan(dim, core):
    phi = AlmostHarmonic(dim, 0.1, core=core)
    r = jnp.array([0.0, 1e-9, 0.05, 0.0999, 0.1, 0.1001, 1.0, 1000.0])
    value, first, second, _, log_first, _ = everything(phi, r)
    d_value, d2_value, d_second, d_log, d_log_first = by_autodiff(phi, r)
    np.testing.assert_allclose(d_value, first, rtol=1e-14)
    np.testing.assert_allclose(d2_value, second, rtol=1e-14)
    np.testing.assert_allclose(d_log, log_first, rtol=1e-14)
    assert np.all(np.isfinite(d_second))
    near = slice(0, -1)  # Phi is 0 in floating point at 1000
    curvature, square = second[near] / value[near], log_first[near] ** 2
    error = np.abs(d_log_first[near] - (curvature - square)) / (curvature + square)
    assert np.max(error) < 1e-12
    assert np.all(np.isfinite(d_log_first))
    # The third derivative by differences of the reference's second, off the edge and off 0.
    step = 1e-12
    for index in (2, 3, 5, 6):
        low, high = (reference(dim, 0.1, core, float(r[index]) + s)[2] for s in (-step, step))
        expected = float((high - low) / (2 * step))
        assert float(d_second[index]) == pytest.approx(expected, rel=1e-4, abs=1e-9)


@pytest.mark.slow
def test_hessians_by_jax_do_not_meet_nan_where_units_coincide_with_the_edge():
    phi = AlmostHarmonic(3)
    energy = lambda x: phi.value(jnp.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2))  # noqa: E731
    hessian = jax.hessian(energy)(jnp.array([0.06, 0.08, 0.0]))
    assert np.all(np.isfinite(hessian))
    assert float(jnp.trace(hessian)) == pytest.approx(float(phi.value(0.1)), rel=1e-9)


@pytest.mark.quick("1-ball")
@pytest.mark.parametrize(("dim", "core"), [(1, "ball"), (2, "ball"), (7, "paper"), (31, "ball")])
def test_charge_density_is_the_screened_charge(dim, core):
    phi = AlmostHarmonic(dim, 0.1, core=core)
    r = np.array([1e-4, 0.03, 0.06, 0.09, 0.099])
    truth = []
    for x in r:
        value, first, second = reference(dim, 0.1, core, x)
        truth.append(value - second - (dim - 1) / mp.mpf(x) * first)
    ours = phi.charge_density(r)
    assert relative_error(ours, truth) < 1e-11
    assert np.all(ours > 0)
    assert np.all(phi.charge_density(np.array([0.1, 0.5, 1000.0])) == 0)
    np.testing.assert_allclose(phi.laplacian(r), phi.value(r) - ours)
    if dim > 1:
        assert float(phi.charge_density(0.0)) == math.inf
        near = 1e-9
        assert float(phi.charge_density(near)) * near == pytest.approx(float(phi.singular_charge))


def test_total_charge_is_that_of_the_point_source():
    """Integrated against sinh(r)/r, the charge in R^3 is that of the Yukawa point source."""
    phi = AlmostHarmonic(3)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    r, weights = 0.05 * (nodes + 1), 0.05 * weights
    total = float(np.sum(weights * 4 * np.pi * r * np.sinh(r) * phi.charge_density(r)))
    strength = float(phi.value(1.0)) * math.e  # outside, Phi = strength exp(-r)/r
    assert total == pytest.approx(4 * math.pi * strength, rel=1e-12)


@pytest.mark.quick("3")
@pytest.mark.parametrize("dim", [2, 3, 31])
def test_outside_the_core_it_is_lambda_harmonic(dim):
    phi, r = AlmostHarmonic(dim, 0.2, 2.5), np.linspace(0.2, 5.0, 12)
    value, first, second, *_ = everything(phi, r)
    np.testing.assert_allclose(second + (dim - 1) / r * first, 2.5 * value, rtol=1e-9)
    regions = phi.regions()
    assert regions[-1] == ("lambda-harmonic", 0.2, math.inf, 2.5)
    assert regions[0].character == "superharmonic"
    assert [a.high for a in regions[:-1]] == [b.low for b in regions[1:]]
    for region in regions[:-1]:
        middle = float(phi.laplacian((region.low + region.high) / 2))
        assert (middle > 0) == (region.character == "subharmonic")


@pytest.mark.slow
def test_item_14_bounded_above_one_dimension_means_superharmonic_somewhere():
    """A maximum at coincidence forbids a subharmonic punctured neighbourhood, for d >= 2."""
    for dim, found in ((1, False), (2, True), (3, True)):
        characters = {region.character for region in AlmostHarmonic(dim).regions()}
        assert ("superharmonic" in characters) == found


def test_in_one_dimension_the_core_is_linear():
    phi = AlmostHarmonic(1, 0.5)
    assert [region.character for region in phi.regions()] == ["harmonic", "lambda-harmonic"]
    assert float(phi.value(0.25)) == pytest.approx((1 + float(phi.value(0.5))) / 2)


def derivatives(dim, radius, core, r):
    """All derivatives 0 .. d-1 inside the core, from the reference polynomials."""
    x = mp.mpf(r)
    return mp.taylor(lambda t: inside(dim, radius, core, t)[0], x, dim - 1)


@pytest.mark.quick("3")
@pytest.mark.parametrize("dim", [3, 7])
def test_lemma_4_2_signs_of_derivatives_hold_for_the_paper_core(dim):
    for fraction in (0.01, 0.5, 0.9):
        signs = derivatives(dim, 0.1, "paper", fraction * 0.1)
        assert signs[dim - 1] >= 0
        assert all(signs[k] >= 0 >= signs[k + 1] for k in range(0, dim - 2, 2))
    phi = AlmostHarmonic(dim, core="paper")
    r = np.linspace(1e-3, 0.099, 50)
    third = jax.vmap(jax.grad(phi.second))(r)
    if dim >= 5:
        assert np.all(third <= 0)


def test_lemma_4_2_signs_fail_for_the_ball_core_in_seven_dimensions():
    assert derivatives(7, 0.1, "ball", 0.001)[3] > 0
    assert float(jax.grad(AlmostHarmonic(7).second)(0.001)) > 0


def test_the_cores_coincide_in_three_dimensions_only():
    r = np.linspace(0, 0.2, 12)
    for dim, gap in ((3, 0.0), (5, 0.1)):
        ball, paper = (everything(AlmostHarmonic(dim, core=c), r)[0] for c in ("ball", "paper"))
        assert np.max(np.abs(ball - paper)) > gap if gap else np.allclose(ball, paper, 1e-14, 0)


def test_compiled_code_is_shared_between_radii():
    traces = []

    @jax.jit
    def energy(phi, r):
        traces.append(phi.dim)
        return phi.value(r) + phi.cusp

    for radius, lam in ((0.1, 1.0), (0.2, 1.0), (0.3, 2.0)):
        energy(AlmostHarmonic(3, radius, lam), 1.0)
    assert traces == [3]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(radius=st.floats(0.001, 0.999), lam=st.floats(1e-3, 1e3), fraction=st.floats(0, 1e4))
def test_bounded_decreasing_and_joined_smoothly(radius, lam, fraction):
    phi = AlmostHarmonic(5, radius, lam)
    r = fraction * radius
    assert 0 <= float(phi.value(r)) <= 1
    assert float(phi.first(r)) <= 0 <= float(phi.second(r))
    below, edge = np.nextafter(radius, 0), radius
    for method in (phi.value, phi.first, phi.second, phi.log_value, phi.log_first):
        assert float(method(below)) == pytest.approx(float(method(edge)), rel=1e-9)


@settings(deadline=None)
@given(st.lists(st.floats(1e-3, 1e3), min_size=40, max_size=40), st.floats(0, 1))
def test_bernstein_form_has_no_cancellation(terms, x):
    exact = mp.mpf(x)
    truth = mp.fsum(t * exact**i * (1 - exact) ** (39 - i) for i, t in enumerate(terms))
    ours = jax.jit(bernstein)(jnp.asarray(terms), jnp.asarray(x), jnp.asarray(1 - x))
    assert float(ours) == pytest.approx(float(truth), rel=1e-13, abs=0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"dim": 0}, {"dim": 2.5}, {"dim": 100_000}, {"dim": 3, "radius": 0.0},
        {"dim": 3, "radius": 1.0}, {"dim": 3, "radius": math.nan}, {"dim": 3, "lam": 0.0},
        {"dim": 3, "core": "bal"}, {"dim": 4, "core": "paper"}, {"dim": 1, "core": "paper"},
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(arguments):
    with pytest.raises(EarnshawError) as error:
        AlmostHarmonic(**arguments)
    assert "\n" not in str(error.value)
