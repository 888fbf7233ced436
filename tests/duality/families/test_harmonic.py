"""Coulomb and Yukawa potentials in every dimension."""

import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special

from earnshaw.duality.families.harmonic import Harmonic, LambdaHarmonic
from earnshaw.errors import EarnshawError

RADII = np.array([0.03, 0.5, 1.0, 4.0, 30.0])


def check_against(phi, exact, rtol=1e-13):
    """Value and two derivatives against `exact(r)`, and autodiff against them."""
    with mp.workdps(40):
        truth = np.array([[float(c) for c in exact(mp.mpf(float(r)))] for r in RADII]).T
    ours = [phi.value(RADII), phi.first(RADII), phi.second(RADII)]
    r = jnp.asarray(RADII)
    ours.append(jax.vmap(jax.grad(phi.value))(r))
    ours.append(jax.vmap(jax.grad(jax.grad(phi.value)))(r))
    for a, b in zip(ours, truth[[0, 1, 2, 1, 2]], strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol)


@pytest.mark.quick("4")
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 11])
def test_harmonic_values_derivatives_and_laplacian(dim):
    def exact(r):
        if dim == 1:
            return -r, -1, 0
        if dim == 2:
            return -mp.log(r), -1 / r, 1 / r**2
        return [r ** (2 - dim), *(mp.diff(lambda t: t ** (2 - dim), r, n) for n in (1, 2))]

    phi = Harmonic(dim)
    check_against(phi, exact)
    assert np.all(np.diff(phi.value(RADII)) < 0)
    plain = phi.second(RADII) + (dim - 1) / RADII * phi.first(RADII)
    np.testing.assert_allclose(plain, phi.laplacian(RADII), atol=1e-12 * np.max(phi.second(RADII)))
    assert phi.regions() == (("harmonic", 0.0, math.inf, 0.0),)


@pytest.mark.quick("31-1.0")
@pytest.mark.parametrize(
    ("dim", "lam"), [(1, 2.0), (2, 1.0), (3, 0.3), (4, 5.0), (10, 1.0), (31, 1.0)]
)
def test_lambda_harmonic_values_derivatives_and_laplacian(dim, lam):
    phi, nu = LambdaHarmonic(dim, lam), mp.mpf(dim) / 2 - 1

    def exact(r):
        # K' = -(K_(nu-1) + K_(nu+1))/2 and Bessel's equation, then the product rule.
        s = mp.sqrt(mp.mpf(lam))
        z = s * r
        k = mp.besselk(nu, z)
        k1 = -(mp.besselk(nu - 1, z) + mp.besselk(nu + 1, z)) / 2
        k2 = (1 + nu**2 / z**2) * k - k1 / z
        power = z**-nu
        first = power * (k1 - nu * k / z)
        second = power * (k2 - 2 * nu * k1 / z + nu * (nu + 1) * k / z**2)
        return power * k, s * first, s**2 * second

    check_against(phi, exact)
    plain = phi.second(RADII) + (dim - 1) / RADII * phi.first(RADII)
    np.testing.assert_allclose(plain, lam * phi.value(RADII), rtol=1e-9)
    np.testing.assert_allclose(phi.laplacian(RADII), lam * phi.value(RADII))
    np.testing.assert_allclose(
        phi.log_first(RADII), phi.first(RADII) / phi.value(RADII), rtol=1e-13
    )
    assert phi.regions() == (("lambda-harmonic", 0.0, math.inf, lam),)


def test_far_away_the_logarithm_is_right_and_nothing_is_nan():
    phi = LambdaHarmonic(7)
    with mp.workdps(40):
        exact = mp.log(mp.mpf(1000) ** -2.5 * mp.besselk(2.5, 1000))
    assert float(phi.log_value(1000.0)) == pytest.approx(float(exact), rel=1e-15)
    assert [float(f(1000.0)) for f in (phi.value, phi.first, phi.second)] == [0, 0, 0]
    assert float(phi.log_first(1000.0)) == pytest.approx(-1.003, abs=1e-4)


@pytest.mark.parametrize(
    "phi", [Harmonic(2), Harmonic(3), LambdaHarmonic(2), LambdaHarmonic(5, 2.0)]
)
def test_singular_at_coincidence_without_nan(phi):
    assert float(phi.value(0.0)) == math.inf
    assert float(phi.first(0.0)) == -math.inf
    assert float(phi.second(0.0)) == math.inf
    assert phi.error_bound is None


@pytest.mark.parametrize("phi", [Harmonic(1), LambdaHarmonic(1)])
def test_bounded_at_coincidence_in_one_dimension(phi):
    assert np.isfinite([float(f(0.0)) for f in (phi.value, phi.first, phi.second)]).all()


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("k", [0.5, 2.0])
def test_fourier_by_the_hankel_transform(dim, k):
    lam, nu = 1.7, dim / 2 - 1
    s = math.sqrt(lam)

    def integrand(r):
        return r ** (dim / 2) * special.jv(nu, k * r) * (s * r) ** -nu * special.kv(nu, s * r)

    integral = sum(integrate.quad(integrand, a, b, limit=200)[0] for a, b in ((0, 1), (1, 40)))
    expected = (2 * math.pi) ** (dim / 2) * k**-nu * integral
    assert LambdaHarmonic(dim, lam).fourier(k) == pytest.approx(expected, rel=1e-8)


def self_convolution_of_k1(delta):
    """(h * h)(delta) in R^3 for h(r) = K_1(r)/r, in bipolar coordinates.

    (h * h)(delta) = (2 pi/delta) integral integral h(a) h(b) a b da db over |a-b| < delta < a+b;
    with h(a) a = K_1(a) the inner integral of K_1 is a difference of K_0.
    """

    def outer(a):
        return special.k1(a) * (special.k0(abs(delta - a)) - special.k0(delta + a))

    pieces = ((0, delta / 2), (delta / 2, delta), (delta, 2 * delta), (2 * delta, 60))
    total = sum(integrate.quad(outer, a, b, limit=400)[0] for a, b in pieces)
    return 2 * math.pi / delta * total


@pytest.mark.parametrize("delta", [0.3, 1.0, 2.5])
def test_paper_error_10_lemma_b_10_lacks_the_factor_pi_to_the_three_halves(delta):
    """pi^(-3/2) K_1(r)/r convolved with itself is exp(-r)/r, r > 0; as printed, pi^3 times it."""
    yukawa = math.exp(-delta) / delta
    printed = self_convolution_of_k1(delta)
    assert printed / math.pi**3 == pytest.approx(yukawa, rel=1e-8)
    assert printed == pytest.approx(31.00627668 * yukawa, rel=1e-8)
    ours = float(LambdaHarmonic(3).value(delta))
    assert ours == pytest.approx(math.sqrt(math.pi / 2) * yukawa, rel=1e-14)


def test_paper_error_10_lemma_b_10_k1_over_r_is_not_square_integrable():
    """Its square integral over r > cut, 4 pi integral K_1^2 dr, grows as 4 pi/cut."""
    for cut in (1e-2, 1e-3, 1e-4):
        ends = (cut, 10 * cut, 100 * cut, 1.0, 40.0)
        pieces = [integrate.quad(lambda r: special.k1(r) ** 2, a, b)[0] for a, b in pairwise(ends)]
        total = sum(pieces)
        assert total * cut == pytest.approx(1, abs=60 * cut)


def test_logarithms_of_what_is_not_positive_are_refused():
    np.testing.assert_allclose(Harmonic(5).log_value(2.0), -3 * math.log(2))
    for dim in (1, 2):
        with pytest.raises(EarnshawError, match="not positive"):
            Harmonic(dim).log_value(2.0)


@pytest.mark.parametrize(
    "arguments", [{"dim": 0}, {"dim": 3, "lam": -1.0}, {"dim": 3, "lam": math.nan}]
)
def test_bad_input_is_refused(arguments):
    with pytest.raises(EarnshawError, match="allowed"):
        LambdaHarmonic(**arguments)
