"""The Gaussian claim holds in its corrected form, and sees what is broken."""

from __future__ import annotations

import pytest

from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.energy.population import PopulationLoss
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.minima import _gaussian_learning as gaussian_learning

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
