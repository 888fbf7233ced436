"""Potentials on R^d to activations and back, and proofs that there is none."""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, arb_poly, ctx
from numpy.polynomial import legendre
from scipy import special

from earnshaw.duality.activation import Translation
from earnshaw.duality.families.almost_harmonic import AlmostHarmonic, almost_harmonic_activation
from earnshaw.duality.families.bessel import BesselPotential, BesselTranslation
from earnshaw.duality.families.cores import build_core
from earnshaw.duality.families.distance import Distance
from earnshaw.duality.families.gaussian import GaussianPotential, GaussianTranslation
from earnshaw.duality.families.harmonic import Harmonic, LambdaHarmonic
from earnshaw.duality.families.tabulated import ProductTranslation
from earnshaw.duality.formulas.expression import parse_potential
from earnshaw.duality.realizing._space import realize_space
from earnshaw.duality.realizing._spectrum import measure
from earnshaw.duality.realizing.core_spectrum import core_spectrum
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian
from earnshaw.numerics.hankel import ForwardTransform
from earnshaw.numerics.jax_as_numpy import as_numpy

pytestmark = pytest.mark.slow

CORES = [(1, "ball"), (2, "ball"), (3, "ball"), (3, "paper"), (5, "ball"), (5, "paper")]


def space(text, dim):
    return parse_potential(text, on="space", dim=dim)


# --- activations that give the potential back -----------------------------------------------------


def nodes_between(edges, order=10):
    x, w = legendre.leggauss(order)
    low, high = np.asarray(edges[:-1]), np.asarray(edges[1:])
    middle, half = (low + high) / 2, (high - low) / 2
    return middle[..., None] + half[..., None] * x, half[..., None] * w


def towards(points, low, high, finest=1e-6):
    """Interval edges from `low` to `high` that shrink geometrically towards each of `points`."""
    steps = finest * 2.0 ** np.arange(0, 30)
    edges = [low, high, *points, *(p + s * steps for p in points for s in (1, -1))]
    edges = np.unique(np.concatenate([np.atleast_1d(e) for e in edges]))
    return edges[(edges >= low) & (edges <= high)]


def polar_autocorrelation(h, dim, delta, kink, reach):
    """(h * h)(delta) in polar coordinates around one of the points (the code uses prolate ones).

    |S^(d-2)| int r^(d-1) h(r) int_0^pi sin^(d-2)(phi) h(|x - delta e|) dphi dr, the angle split
    where |x - delta e| = kink and graded towards phi = 0.
    """
    marks = [m for m in (delta, kink, delta + kink, abs(delta - kink)) if m > 0]
    r, wr = (a.ravel() for a in nodes_between(towards([0.0, *marks], 0.0, reach)))
    if dim == 1:
        inner = h(np.abs(r - delta)) + h(r + delta)
        return float(np.sum(wr * h(r) * inner))
    base = np.concatenate([[0.0], np.geomspace(1e-5, math.pi, 28)])
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.arccos(np.clip((r * r + delta**2 - kink**2) / (2 * r * delta), -1, 1))
    edges = np.sort(np.concatenate([np.tile(base[:, None], len(r)), crossing[None]]), axis=0)
    inner = np.zeros_like(r)
    for low, high in pairwise(edges):
        phi, w = (a[0].T for a in nodes_between(np.stack([low, high])))
        distance = np.sqrt((r - delta) ** 2 + 4 * r * delta * np.sin(phi / 2) ** 2)
        inner += np.sum(w * np.sin(phi) ** (dim - 2) * h(distance), axis=0)
    area = 2 * np.pi ** ((dim - 1) / 2) / special.gamma((dim - 1) / 2)
    return float(area * np.sum(wr * r ** (dim - 1) * h(r) * inner))


@lru_cache
def core_activation(dim, core):
    return almost_harmonic_activation(dim, core=core)


@pytest.mark.parametrize(("dim", "core"), CORES)
def test_almost_harmonic_activation_gives_the_potential_back(dim, core):
    sigma = core_activation(dim, core)
    h = as_numpy(sigma.radial_profile)
    potential = AlmostHarmonic(dim, core=core)
    for delta in (0.02, 0.1, 0.7):
        back = polar_autocorrelation(h, dim, delta, 0.1, 20.0)
        assert back == pytest.approx(float(potential.value(delta)), abs=1e-6)


@pytest.mark.parametrize(
    ("dim", "core"), [(1, "ball"), (2, "ball"), (3, "paper"), (4, "ball"), (5, "ball"), (7, "ball")]
)
def test_almost_harmonic_is_realizable_in_every_dimension(dim, core):
    result = realize_space(AlmostHarmonic(dim, core=core))
    assert result.realizable is True
    assert result.check_error < 3e-6
    assert isinstance(result.activation, Translation)
    assert result.activation.name == "almost-harmonic"
    assert ("balls" in result.reason) == (core == "ball")
    assert ("Lemma B.8" in result.reason) == (core == "paper")


@pytest.mark.parametrize(("radius", "lam"), [(0.9, 100.0)])
def test_almost_harmonic_with_other_parameters(radius, lam):
    assert realize_space(AlmostHarmonic(3, radius, lam)).check_error < 6e-6


def test_almost_harmonic_in_high_dimension():
    assert realize_space(AlmostHarmonic(11)).check_error < 1e-5
    beyond = realize_space(AlmostHarmonic(51))
    assert beyond.realizable is True
    assert beyond.activation is None


@pytest.mark.parametrize(("dim", "core"), [(2, "ball"), (5, "paper")])
def test_core_transform_against_direct_integration(dim, core):
    """Green's identity against the transform of the whole potential, where that has digits."""
    potential = AlmostHarmonic(dim, core=core)
    direct = ForwardTransform(as_numpy(potential.value), dim, (0.1,))
    k = np.concatenate([np.geomspace(1e-2, 100, 20), np.linspace(101, 400, 20)])
    values, errors = direct(k)
    exact = core_spectrum(dim, 0.1, 1.0, core).value(k)
    assert np.all(np.abs(values - exact) < 10 * errors + 1e-13 * exact[0])


@pytest.mark.parametrize(("dim", "core"), [(3, "ball"), (5, "paper"), (7, "ball"), (11, "ball")])
def test_core_transform_is_right_relative_to_itself(dim, core):
    """The charge density of `potentials.cores`, integrated term by term in 2000-bit arithmetic."""
    built = build_core(dim, 0.1, 1.0, core)
    degree = len(built.charge) - 1
    precision, ctx.prec = ctx.prec, 2000
    try:
        charge = sum(
            (
                arb_poly([0, 1]) ** i * arb_poly([1, -1]) ** (degree - i) * arb(float(c))
                for i, c in enumerate(built.charge)
            ),
            arb_poly([0]),
        )
        half = arb(dim) / 2
        area = 2 * arb.pi() ** half / half.gamma()
        for x in (3.0, 40.0, 90.0, 300.0):  # k eps; the last two in the asymptotic range
            total, factor = arb(0), arb(1)
            for j in range(800):
                moments = (charge[n] / (n + dim - 1 + 2 * j) for n in range(degree + 1))
                total += factor * sum(moments, arb(0))
                factor *= -(arb(x) ** 2) / (4 * (j + 1) * (half + j))
            k = x / 0.1
            expected = float(area * arb(0.1) ** (dim - 1) * total / (arb(k) ** 2 + 1))
            value = core_spectrum(dim, 0.1, 1.0, core).value(np.array([k]))[0]
            assert value == pytest.approx(expected, rel=1e-10)
    finally:
        ctx.prec = precision


@pytest.mark.parametrize(("dim", "core"), [*CORES, (4, "ball"), (7, "paper"), (11, "ball")])
def test_tail_of_the_core_transform_follows_from_the_cusp(dim, core):
    cusp = float(AlmostHarmonic(dim, core=core).cusp)
    amplitude = 2**dim * np.pi ** ((dim - 1) / 2) * math.gamma((dim + 1) / 2) * cusp
    spectrum = core_spectrum(dim, 0.1, 1.0, core)
    assert spectrum.tail[0] == pytest.approx(amplitude, rel=1e-12)
    k = np.array([1e6])
    assert spectrum.value(k)[0] * k[0] ** (dim + 1) == pytest.approx(amplitude, rel=1e-3)
    assert np.all(spectrum.value(spectrum.samples) > 0)


def test_core_activation_is_shared_and_takes_its_inputs():
    wide = almost_harmonic_activation(3, inputs=Gaussian(5.0))
    assert wide.inputs.width == 5.0
    assert wide.table is core_activation(3, "ball").table


@pytest.mark.parametrize(
    ("text", "dim", "accuracy"),
    [
        ("exp(-r)", 2, 1e-7),
        ("exp(-r)", 5, 1e-7),
        ("(1+r)*exp(-r)", 3, 3e-8),
        ("1/(1+r**2)**2", 3, 1e-7),
        ("1/(1+r**2)", 2, 1e-6),
    ],
)
def test_formulas_that_are_realizable(text, dim, accuracy):
    result = realize_space(space(text, dim))
    assert result.realizable is True
    assert result.check_error < accuracy
    assert result.activation.name == text
    assert result.activation.dim == dim


def test_activation_of_the_exponential_on_the_line_is_the_bessel_one():
    result = realize_space(space("exp(-r)", 1))
    assert result.check_error < 1e-7
    r = np.array([1e-4, 0.02, 0.5, 3.0, 9.0])
    expected = np.sqrt(2) / np.pi * special.k0(r)
    np.testing.assert_allclose(result.activation.radial_profile(r), expected, atol=1e-8)


def test_activation_of_a_gaussian_formula_is_the_gaussian_one():
    r = np.array([0.0, 0.02, 0.5, 2.0])
    result = realize_space(space("exp(-r**2)", 3))
    assert result.check_error < 1e-7
    tabulated = result.activation.radial_profile(r)
    exact = GaussianTranslation(3, 2.0).profile(r[:, None] * np.eye(1, 3))
    # The root of a transform known to 1e-15 is known to 3e-8 at each of many frequencies.
    np.testing.assert_allclose(tabulated, exact, atol=1e-6)


def test_gaussian_and_bessel_have_their_own_activations():
    gaussian = realize_space(GaussianPotential(4, 2.0), Gaussian(3.0))
    assert isinstance(gaussian.activation, GaussianTranslation)
    assert gaussian.activation.inputs.width == 3.0
    assert gaussian.check_error < 1e-13
    bessel = realize_space(BesselPotential(3))
    assert isinstance(bessel.activation, BesselTranslation)
    assert bessel.check_error < 1e-8


def test_overlap_of_intervals_gives_an_interval_back():
    """(1-r)_+ on the line: F = (2 sin(k/2)/k)^2 touches 0; the root that changes sign is short."""
    result = realize_space(space("max(1-r,0)", 1))
    assert result.realizable is True
    assert result.check_error < 1e-5
    r = np.array([0.1, 0.4, 0.49, 0.52, 0.7, 1.0, 1.5])
    np.testing.assert_allclose(result.activation.radial_profile(r), r < 0.5, atol=2e-3)


def test_products_over_coordinates():
    result = realize_space(space("exp(-abs(x1))*exp(-x2**2)", 2))
    assert result.realizable is True
    assert result.check_error < 1e-7
    assert isinstance(result.activation, ProductTranslation)
    x = np.array([0.3, -0.2])
    expected = np.sqrt(2) / np.pi * special.k0(0.3) * (4 / np.pi) ** 0.25 * np.exp(-2 * 0.2**2)
    assert float(result.activation.profile(x)) == pytest.approx(expected, rel=1e-6)
    assert realize_space(space("(-exp(-x1**2))*(-exp(-x2**2))", 2)).realizable is True


def test_mixtures_of_realizable_potentials_are_realizable():
    smooth = 0.5 * GaussianPotential(3) + 0.5 * space("exp(-r)", 3)
    result = realize_space(smooth)
    assert result.realizable is True
    assert result.check_error < 1e-7
    cored = 0.5 * AlmostHarmonic(3) + 0.5 * GaussianPotential(3)
    result = realize_space(cored)
    assert result.realizable is True
    assert result.check_error < 2e-6


# --- potentials that no activation has ------------------------------------------------------------


def form(function, points, weights):
    """The quadratic form, from the definition and a NumPy function of the distance."""
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return float(weights @ function(distances) @ weights / (weights @ weights))


REFUTED = [
    ("heaviside(1-r)", (1, 2, 3), lambda r: np.heaviside(1 - r, 0.5)),
    ("max(1-r,0)", (2, 3), lambda r: np.maximum(1 - r, 0)),
    ("exp(-r**4)", (1, 4), lambda r: np.exp(-(r**4))),
    ("exp(-r)*cos(r)", (3,), lambda r: np.exp(-r) * np.cos(r)),
]


@pytest.mark.parametrize(
    ("text", "dim", "function"),
    [(text, dim, function) for text, dims, function in REFUTED for dim in dims],
)
def test_negative_frequencies_come_with_a_witness(text, dim, function):
    potential = space(text, dim)
    result = realize_space(potential)
    assert result.realizable is False
    found = result.obstruction
    assert found.kind == "negative-frequency"
    exact, error = ForwardTransform(function, dim, (1.0,))(np.array([found.location]))
    assert found.value == pytest.approx(exact[0], rel=1e-6)
    assert found.value < -10 * error[0]
    assert found.points.shape == (len(found.weights), dim)
    assert len(found.weights) <= 60
    assert form(function, found.points, found.weights) < -1e-4
    assert found.quadratic_form(potential) < -1e-4


def test_potentials_that_exceed_their_value_at_coincidence():
    for potential in (space("1-r**2", 2), Distance(3), Harmonic(1), space("exp(-(r-1)**2)", 3)):
        result = realize_space(potential)
        assert result.realizable is False
        assert result.obstruction.kind == "exceeds-origin"
        assert len(result.obstruction.weights) == 2
        assert result.obstruction.quadratic_form(potential) < 0
    negative = realize_space(space("-exp(-r)", 2))
    assert negative.obstruction.quadratic_form(space("-exp(-r)", 2)) == pytest.approx(-1.0)


def test_potentials_that_are_infinite_at_coincidence():
    for potential in (Harmonic(2), Harmonic(3), LambdaHarmonic(3), space("exp(-r)/r", 3)):
        result = realize_space(potential)
        assert result.realizable is False
        assert result.obstruction.kind == "unbounded"
        assert result.obstruction.points is None
    assert realize_space(LambdaHarmonic(1)).realizable is True


def test_a_bad_factor_spoils_a_product():
    potential = space("exp(-x1**2)*exp(-x2**4)", 2)
    result = realize_space(potential)
    assert result.realizable is False
    assert result.reason.startswith("in x2")
    assert np.all(result.obstruction.points[:, 0] == 0)
    assert result.obstruction.quadratic_form(potential) < -1e-3


def test_what_is_not_square_integrable_is_inconclusive_or_refuted():
    for text, dim in (("cos(r)", 1), ("(2+r)/(1+r)^2", 3)):
        result = realize_space(space(text, dim))
        assert result.realizable is None
        assert "not square-integrable" in result.reason
    planar = realize_space(space("cos(r)", 2))  # a wave on the line, but no kernel in the plane
    assert planar.realizable is False
    points, weights = planar.obstruction.points, planar.obstruction.weights
    assert form(np.cos, points, weights) < -0.1


def test_formulas_that_are_no_products_are_inconclusive():
    result = realize_space(space("exp(-x1**2-x2**2-x1*x2)", 2))
    assert result.realizable is None
    assert "no product" in result.reason


def test_sphere_potentials_are_refused():
    with pytest.raises(EarnshawError, match="zonal"):
        realize_space(parse_potential("rho", dim=3))


def test_mixture_with_a_negative_weight_is_refuted():
    potential = 1.5 * AlmostHarmonic(3) + (-0.5) * GaussianPotential(3)
    result = realize_space(potential)
    assert result.realizable is False
    assert result.obstruction.quadratic_form(potential) < -1e-3


def test_spectrum_says_how_well_it_is_known():
    spectrum = measure(space("exp(-r)", 3))
    k = np.array([0.01, 1.0, 10.0, 60.0])
    exact = 8 * np.pi / (1 + k * k) ** 2
    assert np.all(np.abs(spectrum.value(k) - exact) < 10 * spectrum.error)
    assert spectrum.most_negative() is None
    assert spectrum.power == 4
    np.testing.assert_allclose(spectrum.tail[:2], [8 * np.pi, -16 * np.pi], rtol=1e-6)


def test_high_dimension_is_admitted_to_be_out_of_reach():
    """(1+r) exp(-r) is realizable in every dimension, but float64 cannot show it in R^20."""
    for dim in (20, 60):
        result = realize_space(space("(1+r)*exp(-r)", dim))
        assert result.realizable is None
        assert result.reason.startswith("inconclusive")


def test_mixtures_of_gaussians_are_realizable_in_every_dimension():
    """Schoenberg's theorem speaks where no transform can be computed."""
    for text, dim in (("exp(-r)", 20), ("exp(-r)", 10**5), ("1+0*r", 2), ("1/(1+r)", 3)):
        result = realize_space(space(text, dim))
        assert result.realizable is True
        assert "Schoenberg" in result.reason
        assert result.activation is None
    assert realize_space(space("exp(-r)", 3)).activation is not None
