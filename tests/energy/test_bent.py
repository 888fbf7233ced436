"""Losses up to affine functions, beside quadrature on the line and least squares."""

import numpy as np
import pytest
from scipy.special import expit

import earnshaw as ew
from earnshaw.charges.matching import unit_symmetries
from earnshaw.energy.asked_loss import asked_loss
from earnshaw.energy.bent import bent_loss, with_line
from earnshaw.energy.oracle import oracle_of

SIGMAS = {"softplus": lambda y: np.logaddexp(0, y), "logistic": expit}
MEANS, SPREADS, PARTS = (-0.8, 0.5), (0.6, 1.1), (0.3, 0.7)
W, B, C = np.array([1.2, -0.7, 0.4]), np.array([0.3, 0.5, -1.0]), np.array([1.0, -2.0, 0.5])
PLACES = np.array([[0.9, -0.4], [-1.5, 0.2]])  # of other units: a weight and a bias each


def nodes():
    """Nodes and weights for a mixture of two Gaussians on the line."""
    z, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    parts = zip(PARTS, MEANS, SPREADS, strict=True)
    x, p = zip(*((mean + spread * z, part * weights) for part, mean, spread in parts), strict=True)
    return np.concatenate(x), np.concatenate(p)


def bends(name, values, x, p):
    """What of the values (n, k) at x is no line, or no constant: by weighted least squares."""
    phi = np.stack([x, np.ones_like(x)], axis=1) if name == "softplus" else np.ones((len(x), 1))
    root = np.sqrt(p)[:, None]
    return values - phi @ np.linalg.lstsq(root * phi, root * values, rcond=None)[0]


@pytest.fixture(scope="module", params=SIGMAS)
def both(request):
    """A name, the teacher, its loss as a learner sees it, and that up to affine functions."""
    inputs = ew.GaussianMixture(PARTS, np.reshape(MEANS, (2, 1)), [[[s * s]] for s in SPREADS])
    teacher = ew.Teacher(W[:, None], C, request.param, biases=B, inputs=inputs)
    exact = ew.population_loss(teacher)
    loss = asked_loss(exact, oracle_of("exact", exact))
    species = teacher.species
    bent = bent_loss(loss, unit_symmetries(teacher), species.activation, species.inputs)
    return request.param, teacher, loss, bent


def test_the_loss_is_that_of_the_bends(both):
    name, _, _, bent = both
    x, p = nodes()
    seen, sigma = np.stack([x, np.ones_like(x)], axis=1), SIGMAS[name]
    f = bends(name, sigma(np.outer(x, W) + B) @ C[:, None], x, p)[:, 0]
    units = bends(name, sigma(seen @ PLACES.T), x, p)
    charges = np.array([0.8, -0.3])
    wanted = p @ (f - units @ charges) ** 2
    student = ew.Student(PLACES, charges)
    assert float(bent.value(student)) == pytest.approx(wanted, rel=1e-10)
    assert float(bent.empty_value()) == pytest.approx(p @ f**2, rel=1e-10)
    steps = np.zeros_like(PLACES)
    for index in np.ndindex(*PLACES.shape):
        step = np.array(steps)
        step[index] = 1e-5
        moved = [bends(name, sigma(seen @ (PLACES + s * step).T), x, p) for s in (1, -1)]
        ahead, behind = (p @ (f - one @ charges) ** 2 for one in moved)
        found = float(bent.gradient(student).positions[index])
        assert found == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-8)


def test_a_unit_and_its_mirror_image_are_the_same(both):
    _, _, _, bent = both
    side = unit_symmetries(both[1]).flip
    charges = np.array([0.8, -0.3])
    as_they_are = float(bent.value(ew.Student(PLACES, charges)))
    turned = float(bent.value(ew.Student(-PLACES, side * charges)))
    assert turned == pytest.approx(as_they_are, rel=1e-10)


def test_a_pair_of_units_is_the_affine_part(both):
    """The teacher with two units turned round, and the pair that undoes it, is the teacher."""
    _, teacher, loss, bent = both
    symmetries = unit_symmetries(teacher)
    sides = np.array([-1.0, 1.0, -1.0])
    charges = np.where(sides < 0, symmetries.flip * C, C)
    places = sides[:, None] * np.stack([W, B], axis=1)
    turned = ew.Student(places, charges)
    assert float(loss.value(turned)) > 1e-3
    assert abs(float(bent.value(turned))) < 1e-11
    whole = with_line(bent, symmetries, turned)
    assert whole.units == 5
    assert abs(float(loss.value(whole))) < 1e-11


@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_elsewhere_there_is_none(name):
    teacher = ew.random_teacher(name, dim=2, units=2, seed=0, biases="gaussian")
    run = ew.learn(teacher, seed=0)
    assert not any("affine" in note for note in run.notes)
