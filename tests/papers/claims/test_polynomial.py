"""Polynomial potentials: every critical point has its verdict, and the claim sees wrong ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from earnshaw.energy.population import PopulationLoss
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.minima import _epd_algorithm3 as epd_algorithm3
from earnshaw.papers.claims.minima import polynomial

pytestmark = pytest.mark.slow


def finding(statement, index=0):
    """What one instance of one statement shows."""
    one = claim_named("polynomial-orthonormal")
    (found,) = (s for s in one.statements if s.name == statement)
    return verify.tested(found, verify.draw(one, found, index, 0))


def test_the_theorem_holds_and_what_is_printed_does_not(run):
    result = run("polynomial-orthonormal")
    assert result.verdict == "corrected"
    assert all(o.failed for o in result.outcomes if o.role in ("printed", "beyond"))


@pytest.mark.parametrize(("degree", "count"), [(3, 30), (4, 80), (5, 30)])
def test_the_number_of_critical_points(degree, count):
    amounts = np.array([1.0, 0.9, 0.6, 0.5])
    assert len(polynomial.critical_points(amounts, degree)) == count


def test_even_degrees_do_not_mix_signs():
    assert len(polynomial.critical_points(np.array([1.0, 0.9, -0.6, -0.5]), 4)) == 16


def test_it_sees_saddles_called_minima(monkeypatch):
    right = polynomial.certificate
    monkeypatch.setattr(
        polynomial,
        "certificate",
        lambda loss, student: dataclasses.replace(right(loss, student), kind="minimum"),
    )
    assert finding("every-critical-point").holds is False
    assert finding("orthogonal-directions").holds is False


def test_it_sees_eigenvalues_that_are_off(monkeypatch):
    right = polynomial.certificate

    def off(loss, student):
        found = right(loss, student)
        return dataclasses.replace(found, smallest_eigenvalue=1.01 * found.smallest_eigenvalue)

    monkeypatch.setattr(polynomial, "certificate", off)
    assert finding("every-critical-point").holds is False


def test_it_sees_a_point_missing_from_the_list(monkeypatch):
    right = polynomial.critical_points
    monkeypatch.setattr(polynomial, "critical_points", lambda b, degree: right(b, degree)[2:])
    assert finding("no-others").holds is False


def test_it_sees_a_gradient_that_is_off(monkeypatch):
    right = PopulationLoss.gradient

    def off(self, student):
        slope = right(self, student)
        return slope._replace(weights=1.01 * slope.weights)

    monkeypatch.setattr(PopulationLoss, "gradient", off)
    assert finding("derivative").holds is False


def test_it_sees_a_potential_that_is_off(monkeypatch):
    right = PopulationLoss.potential
    monkeypatch.setattr(PopulationLoss, "potential", lambda self, x: 1.05 * right(self, x))
    assert finding("second-moment").holds is False


def test_it_sees_units_that_stay(monkeypatch):
    monkeypatch.setattr(epd_algorithm3, "_climbed", lambda left, points, climb: points)
    assert finding("node-by-node").holds is False
    assert finding("from-samples").holds is False


@pytest.mark.slow
def test_the_library_s_own_algorithm_3():
    shown = finding("node-by-node", 3)
    assert shown.holds, shown.numbers
