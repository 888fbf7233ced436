"""One node learned by all at once; the NumPy charges it is compared with; and that it can fail."""

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.energy.population import population_loss
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.learning import one_node_learned as one_node
from earnshaw.papers.claims.learning._screened_charges import at, best_charges, potential
from earnshaw.papers.claims.verdict import Verdict

pytestmark = pytest.mark.slow


def statement(name):
    (found,) = (part for part in one_node.ONE_NODE.statements if part.name == name)
    return found


def test_verdict(run):
    result = run("one-node-learned")
    assert result.verdict == Verdict.HOLDS  # a misprint, and a proof mended
    for outcome in result.outcomes:
        assert outcome.failed == (outcome.role == "printed"), outcome.name


def test_a_wrong_loss_is_found_out(monkeypatch):
    def wrong(teacher, name):
        heavier = Teacher(teacher.positions, 1.01 * teacher.weights, teacher.species)
        return population_loss(heavier, name)

    monkeypatch.setattr(one_node, "population_loss", wrong)
    part = statement("one-node")
    assert verify.tested(part, verify.draw(one_node.ONE_NODE, part, 0, seed=0)).holds is False


def test_wrong_derivatives_are_found_out(monkeypatch):
    """With a Hessian that is too flat, points off the protons seem to be in M."""
    right = one_node.at

    def flat(*charges, **more):
        here = right(*charges, **more)
        return here._replace(hessian=1e-6 * here.hessian)

    monkeypatch.setattr(one_node, "at", flat)
    part = statement("charges-are-small")
    one = verify.draw(one_node.ONE_NODE, part, 1, seed=0)
    assert verify.tested(part, one).holds is False


@pytest.mark.parametrize(("dim", "radius"), [(3, 0.1), (7, 0.5)])
def test_the_numpy_potential_is_the_library_s(dim, radius):
    r = np.array([1e-3, radius / 2, 0.99 * radius, radius, 1.5 * radius, 1.0, 4.0])
    phi = AlmostHarmonic(dim, radius)
    for ours, theirs in zip(
        potential(dim, radius)(r), (phi.value, phi.first, phi.second), strict=True
    ):
        np.testing.assert_allclose(ours, theirs(r), rtol=1e-11)


def test_the_numpy_loss_has_its_own_derivatives():
    rng, jet = np.random.default_rng(0), potential(3, 0.3)
    w, theta = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    b, a = rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2)
    here = at(jet, theta, a, w, b, ridge=1.0)
    loss = population_loss(Teacher(w, b, "almost-harmonic", radius=0.3), "regularized")
    assert here.value == pytest.approx(float(loss.value(Student(theta, -a))), rel=1e-13)
    x, step = np.append(theta.ravel(), a), 1e-6
    for i, axis in enumerate(step * np.eye(8)):
        up, down = (at(jet, y[:6].reshape(2, 3), y[6:], w, b, 1.0) for y in (x + axis, x - axis))
        assert (up.value - down.value) / (2 * step) == pytest.approx(here.gradient[i], abs=1e-8)
        slope = (up.gradient - down.gradient) / (2 * step)
        np.testing.assert_allclose(slope, here.hessian[i], atol=1e-7)
    best = best_charges(jet, theta, w, b, ridge=1.0)
    assert np.abs(at(jet, theta, best, w, b, ridge=1.0).gradient[6:]).max() < 1e-14
