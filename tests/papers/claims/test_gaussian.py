"""The Gaussian claim holds in its corrected form, and sees what is broken."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.energy.population import PopulationLoss
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.minima import _gaussian_learning as gaussian_learning
from earnshaw.papers.claims.minima import _gaussian_sizes as gaussian_sizes

pytestmark = pytest.mark.slow


def finding(statement, index=0):
    """What one instance of one statement shows."""
    one = claim_named("gaussian")
    (found,) = (s for s in one.statements if s.name == statement)
    return verify.tested(found, verify.draw(one, found, index, 0))


def test_the_theorems_hold_and_what_is_printed_does_not(run):
    result = run("gaussian")
    assert result.verdict == "corrected"
    assert all(o.failed for o in result.outcomes if o.role == "printed")


def test_it_sees_a_laplacian_without_its_factor(monkeypatch):
    right = GaussianPotential.laplacian
    monkeypatch.setattr(GaussianPotential, "laplacian", lambda self, r: right(self, r) / self.rate)
    assert finding("laplacian").holds is False


@pytest.mark.parametrize("statement", ["strict-points", "bounded-points"])
def test_it_sees_a_hessian_that_is_off(monkeypatch, statement):
    right = PopulationLoss.hessian
    monkeypatch.setattr(
        PopulationLoss, "hessian", lambda self, student: 1.01 * right(self, student)
    )
    assert finding(statement).holds is False


def test_it_sees_units_that_stay(monkeypatch):
    monkeypatch.setattr(gaussian_learning, "_climbed", lambda protons, placed: 0 * protons[0])
    assert finding("node-by-node").holds is False


def test_it_sees_an_algorithm_that_places_nothing(monkeypatch):
    monkeypatch.setattr(gaussian_learning, "run_nodes", lambda method, loss, nodes: (nodes, False))
    assert finding("algorithm-2").holds is False


@pytest.mark.parametrize(("dim", "units"), [(2, 2), (8, 1), (50, 50)])
def test_the_printed_hypothesis_is_met_with_equality(dim, units):
    c = gaussian_learning.least_c(dim, units)
    assert c > 2
    assert math.log(units * c * c) - c == pytest.approx(-2 * dim, rel=1e-12)


def test_the_printed_hypothesis_is_enough_for_the_triangle_step_from_d_8_on():
    assert gaussian_learning.least_c(8, 1) > 22.2
    assert gaussian_learning.least_c(7, 2) < 21.8


@pytest.mark.parametrize("length", [4.0, 9.0])
def test_the_time_to_a_proton_is_the_integral_of_one_over_the_force(length):
    """One proton: dr/dt = 2 r exp(-r^2/2), from r = length to 1."""
    exact, _ = integrate.quad(lambda r: math.exp(r * r / 2) / (2 * r), 1, length)
    ours = gaussian_sizes.log_time(np.array([[length, 0.0, 0.0]]))
    assert ours == pytest.approx(math.log1p(exact), abs=0.15)


def test_it_sees_units_on_the_sphere_that_stay(monkeypatch):
    monkeypatch.setattr(gaussian_sizes, "climbed", lambda x, sources, signs, rate: x)
    assert finding("units-on-the-sphere").holds is False


def test_it_sees_another_activation_and_units_that_do_not_learn(monkeypatch):
    right = gaussian_sizes.activation
    monkeypatch.setattr(gaussian_sizes, "ascended", lambda loss, x: x)
    assert finding("from-samples").holds is False
    monkeypatch.setattr(
        gaussian_sizes, "activation", lambda name, **p: lambda x: 1.1 * right(name, **p)(x)
    )
    assert finding("samples-needed").holds is False
