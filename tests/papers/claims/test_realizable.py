"""The claims on realizable potentials: they hold, and a broken library makes them fail."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import gammaln

from earnshaw.duality.families.exponentials import Exponential
from earnshaw.duality.families.hermite import HermiteSum
from earnshaw.papers.claims.duality import realizable, semidefinite
from papers.claims.one_statement import Altered, finding, scaled

pytestmark = pytest.mark.slow

VERDICTS = {
    "fourier-realizable": "holds",
    "hermite-realizable": "corrected",
    "psd-necessary": "holds",
    "mixtures": "corrected",
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(run, name):
    result = run(name)
    assert result.verdict == VERDICTS[name]
    assert all(outcome.failed for outcome in result.outcomes if outcome.role == "beyond")


def test_fourier_witnesses_are_the_known_powers_of_two_pi():
    """d = 2: (2 pi)^((1-d)/2) with the proof's factor, (2 pi)^(d/2) with a unitary transform."""
    fourth_root = finding("fourier-realizable", "fourth-root-of-two-pi").numbers["ratio"]
    unitary = finding("fourier-realizable", "unitary-transform").numbers["ratio"]
    assert fourth_root == pytest.approx((2 * np.pi) ** -0.5)
    assert unitary == pytest.approx(2 * np.pi)


def broken_realize(module, monkeypatch, change):
    original = module.realize
    monkeypatch.setattr(module, "realize", lambda *a, **k: change(original(*a, **k)))


def with_other_unit(result):
    unit = scaled(result.activation, 1.001, "unit")
    return Altered(result, activation=unit)


def refusing(result):
    return dataclasses.replace(result, realizable=False, activation=None, obstruction=None)


@pytest.mark.parametrize("change", [with_other_unit, refusing])
def test_fourier_notices_a_wrong_activation(monkeypatch, change):
    broken_realize(realizable, monkeypatch, change)
    assert finding("fourier-realizable", "activation").holds is False


def test_fourier_notices_a_wrong_factor(monkeypatch):
    original = realizable.activation
    monkeypatch.setattr(
        realizable, "activation", lambda *a, **k: scaled(original(*a, **k), 1.001, "unit")
    )
    assert finding("fourier-realizable", "factor").holds is False


def from_one(result):
    """The printed sum: without its constant."""
    if isinstance(result.activation, Exponential):  # a_n = exp(h + g^2/2) g^n/sqrt(n!)
        g, h, n = float(result.activation.rate), float(result.activation.shift), np.arange(40)
        coefficients = np.exp(h + g**2 / 2 + n * np.log(g) - gammaln(n + 1) / 2)
    else:
        coefficients = result.activation.coefficients
    coefficients = jnp.asarray(coefficients).at[0].set(0.0)
    return dataclasses.replace(result, activation=HermiteSum(coefficients))


@pytest.mark.parametrize("change", [from_one, refusing])
@pytest.mark.parametrize("name", ["activation", "series"])
def test_hermite_notices_a_wrong_activation(monkeypatch, change, name):
    broken_realize(realizable, monkeypatch, change)
    assert finding("hermite-realizable", name).holds is False


def accepting(result):
    return dataclasses.replace(result, realizable=True, obstruction=None)


def with_other_witness(result):
    points = np.eye(2, result.obstruction.dim)
    why = dataclasses.replace(result.obstruction, points=points, weights=np.ones(2))
    return dataclasses.replace(result, obstruction=why)


@pytest.mark.parametrize("change", [accepting, with_other_witness])
def test_obstructions_are_checked(monkeypatch, change):
    broken_realize(realizable, monkeypatch, change)
    broken_realize(semidefinite, monkeypatch, change)
    assert finding("hermite-realizable", "necessary").holds is False
    assert finding("psd-necessary", "no-activation-otherwise").holds is False


@pytest.mark.parametrize("index", [0, 3])
def test_psd_notices_what_is_not(monkeypatch, index):
    original = semidefinite.potential

    def lowered(*arguments, **settings):
        phi = original(*arguments, **settings)
        return Altered(phi, between=lambda x, y: phi.between(x, y) - 0.2)

    monkeypatch.setattr(semidefinite, "potential", lowered)
    assert finding("psd-necessary", "gram", index).holds is False
    assert finding("psd-necessary", "mean-square").holds is False


def test_psd_notices_a_wrong_activation(monkeypatch):
    original = semidefinite.activation
    monkeypatch.setattr(
        semidefinite, "activation", lambda *a, **k: scaled(original(*a, **k), 1.001, "unit")
    )
    assert finding("psd-necessary", "mean-square").holds is False


def test_mixtures_notice_a_wrong_activation_and_a_refusal(monkeypatch):
    original = semidefinite.radial_profile
    with monkeypatch.context() as patch:
        patch.setattr(semidefinite, "radial_profile", lambda a: scaled(original(a), 1.001, "call"))
        assert finding("mixtures", "sums").holds is False
    broken_realize(semidefinite, monkeypatch, refusing)
    assert finding("mixtures", "sums").holds is False
    broken_realize(
        semidefinite, monkeypatch, lambda result: dataclasses.replace(result, check_error=None)
    )
    assert finding("mixtures", "integrals").holds is False


def test_a_mixture_with_bounded_weights_that_is_not_square_integrable():
    """In d = 3 the squared norm up to R grows as 2 pi^2 R, in d = 2 by equal steps a decade."""
    numbers = finding("mixtures", "bounded-weights-are-enough").numbers
    assert numbers["to_1000000"] == pytest.approx(2e6 * np.pi**2, rel=1e-3)
    plane = list(finding("mixtures", "bounded-weights-are-enough", 1).numbers.values())
    assert plane[2] - plane[1] == pytest.approx(plane[1] - plane[0], rel=1e-3)
