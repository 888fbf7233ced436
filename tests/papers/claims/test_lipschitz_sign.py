"""Lipschitz approximations of sign on the circle: formulas, and what broken parts are seen."""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest

from earnshaw.energy.population import PopulationLoss
from earnshaw.papers.claims.sign import _lipschitz as lipschitz
from papers.claims.one_statement import finding


@pytest.mark.parametrize("delta", [1.0, 0.1, 0.01])
def test_the_potential_and_its_derivatives(delta):
    t = np.array([0.0, 0.02, 1.0, 2.0, math.pi - 1e-3, 4.0])
    with mp.workdps(40):
        kappa = 1 / (1 + mp.mpf(delta) ** 2 / 2)
        exact = [
            [float(mp.diff(lambda x: 2 / mp.pi * mp.asin(kappa * mp.cos(x)), one, n)) for one in t]
            for n in range(3)
        ]
    np.testing.assert_allclose(lipschitz.curve(t, delta), exact, rtol=1e-9, atol=1e-12)


def test_the_reach_is_that_of_the_weakest_signed_sum():
    """Charges 1 and 1/2: beta = 1/2, B = 3/2."""
    delta = 0.2
    square = 1.5 * (1 - (1 / (1 + delta**2 / 2)) ** 2) / (2 * 0.5)
    assert math.tan(lipschitz.reach(np.array([1.0, -0.5]), delta)) ** 2 == pytest.approx(square)


def test_the_energy_is_that_of_its_derivatives():
    rng = np.random.default_rng(1)
    phi, angles = rng.uniform(0, 6, 4), rng.uniform(0, 6, 3)
    _, slope, hessian = lipschitz.energy(phi, angles, 0.3)
    step = 1e-5 * np.eye(4)
    ahead, back = ([lipschitz.energy(phi + s * one, angles, 0.3) for one in step] for s in (1, -1))
    values = [(a[0] - b[0]) / 2e-5 for a, b in zip(ahead, back, strict=True)]
    slopes = [(a[1] - b[1]) / 2e-5 for a, b in zip(ahead, back, strict=True)]
    np.testing.assert_allclose(slope, values, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(hessian, slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_it_sees_a_library_with_another_loss(monkeypatch):
    right = PopulationLoss.potential
    assert finding("sign-circle", "lipschitz-tends-to-sign").holds is True
    monkeypatch.setattr(PopulationLoss, "potential", lambda self, x: 1.0001 * right(self, x))
    assert finding("sign-circle", "lipschitz-tends-to-sign").holds is False


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"kind": "strict-saddle"}, {"loss": 0.0}])
def test_it_sees_certificates_that_are_wrong(monkeypatch, change):
    right = lipschitz.certificate
    monkeypatch.setattr(
        lipschitz,
        "certificate",
        lambda loss, student: dataclasses.replace(right(loss, student), **change),
    )
    assert finding("sign-circle", "lipschitz-one-unit").holds is False


@pytest.mark.slow
def test_it_sees_minima_elsewhere_and_descents_that_go_nowhere(monkeypatch):
    right = lipschitz.one_unit_minima
    monkeypatch.setattr(lipschitz, "one_unit_minima", lambda instance: right(instance) + 0.5)
    assert finding("sign-circle", "lipschitz-one-unit").holds is False
    monkeypatch.setattr(lipschitz, "MOST", 10)
    assert finding("sign-circle", "lipschitz-converges").holds is False


@pytest.mark.slow
def test_strict_minima_of_all_units_are_no_accident_of_rounding(monkeypatch):
    found = finding("sign-circle", "lipschitz-all-units", 1)
    assert found.holds is False
    assert found.numbers["smallest_eigenvalue"] > 1e-3
    assert found.numbers["loss"] > 0.01
    right = lipschitz.certificate
    monkeypatch.setattr(
        lipschitz,
        "certificate",
        lambda loss, student: dataclasses.replace(right(loss, student), smallest_eigenvalue=0.0),
    )
    assert finding("sign-circle", "lipschitz-all-units", 1).holds is None
