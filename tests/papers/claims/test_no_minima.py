"""Harmonic, lambda-harmonic and subharmonic potentials: the claims hold, and see what is broken."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from earnshaw.charges.network import Student
from earnshaw.duality.families.harmonic import Harmonic
from earnshaw.energy.population import PopulationLoss
from earnshaw.landscape.theorems import applied
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.minima import _assumption_one as assumption_one
from earnshaw.papers.claims.minima import _subharmonic_sphere as sphere
from earnshaw.papers.claims.minima import lambda_harmonic, subharmonic
from earnshaw.papers.claims.minima._random_points import sphere_rule

pytestmark = pytest.mark.slow


def finding(name, statement, index=0):
    """What one instance of one statement shows."""
    one = claim_named(name)
    (found,) = (s for s in one.statements if s.name == statement)
    return verify.tested(found, verify.draw(one, found, index, 0))


def bent(monkeypatch, method, bend):
    """A loss whose `method` gives bend(what it gave)."""
    right = getattr(PopulationLoss, method)
    monkeypatch.setattr(
        PopulationLoss, method, lambda self, *rest, **named: bend(right(self, *rest, **named))
    )


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("earnshaw", "holds"), ("lambda-harmonic", "corrected"), ("subharmonic", "corrected")],
)
def test_the_theorem_holds_and_what_is_printed_does_not(run, name, verdict):
    result = run(name)
    assert result.verdict == verdict
    assert all(o.failed for o in result.outcomes if o.role in ("printed", "beyond"))


def test_earnshaw_sees_a_hessian_with_a_trace(monkeypatch):
    bent(monkeypatch, "hessian", lambda matrix: matrix.at[0, 0].multiply(1.01))
    assert finding("earnshaw", "laplacian-of-the-loss").holds is False


def test_earnshaw_sees_a_potential_without_the_mean_value_property(monkeypatch):
    right = PopulationLoss.potential
    monkeypatch.setattr(
        PopulationLoss,
        "potential",
        lambda self, points, rest: right(self, points, rest) + 0.01 * np.sum(points**2, axis=1),
    )
    assert finding("earnshaw", "mean-value").holds is False
    assert finding("earnshaw", "vanishing-hessian").holds is False


def test_earnshaw_sees_a_wrong_power(monkeypatch):
    right = Harmonic.second
    monkeypatch.setattr(Harmonic, "second", lambda self, r: 1.01 * right(self, r))
    assert finding("earnshaw", "harmonic", 2).holds is False


def test_earnshaw_sees_electrons_that_stay(monkeypatch):
    bent(
        monkeypatch,
        "value_and_gradient",
        lambda pair: (pair[0], type(pair[1])(-pair[1][0], pair[1][1])),
    )
    assert finding("earnshaw", "electrons-fall").holds is False


def test_earnshaw_sees_wrong_critical_points(monkeypatch):
    bent(monkeypatch, "hessian", lambda matrix: -matrix)
    assert finding("earnshaw", "critical-points").holds is False


def test_lambda_harmonic_sees_a_wrong_laplacian(monkeypatch):
    bent(monkeypatch, "laplacian", lambda values: 1.01 * values)
    assert finding("lambda-harmonic", "one-unit").holds is False
    assert finding("lambda-harmonic", "units-in-one-place").holds is False


def test_lambda_harmonic_sees_weights_that_are_not_the_best(monkeypatch):
    bent(
        monkeypatch,
        "refit",
        lambda pair: (Student(pair[0].positions, pair[0].weights + 0.1), pair[1]),
    )
    assert finding("lambda-harmonic", "one-unit").holds is False


def test_lambda_harmonic_sees_units_that_do_not_climb(monkeypatch):
    monkeypatch.setattr(lambda_harmonic, "climbed", lambda loss, points: points)
    assert finding("lambda-harmonic", "ends-at-protons").holds is False


def test_subharmonic_sees_a_wrong_sign(monkeypatch):
    bent(monkeypatch, "laplacian", lambda value: -value)
    assert finding("subharmonic", "moved-together").holds is False


def test_subharmonic_sees_a_positive_hessian(monkeypatch):
    bent(monkeypatch, "hessian", abs)
    assert finding("subharmonic", "moved-together").holds is False


def test_subharmonic_sees_a_potential_with_other_minima(monkeypatch):
    monkeypatch.setattr(
        subharmonic.LambdaHarmonic, "value", lambda self, r: np.cos(3 * np.asarray(r))
    )
    assert finding("subharmonic", "line-of-two").holds is False


def test_on_the_sphere_it_sees_a_wrong_laplacian(monkeypatch):
    bent(monkeypatch, "laplacian", lambda value: 1.01 * value)
    assert finding("subharmonic", "turned-together").holds is False
    assert finding("subharmonic", "certified-on-the-sphere").holds is True  # the bound is loose


def test_on_the_sphere_it_sees_a_positive_hessian(monkeypatch):
    bent(monkeypatch, "hessian", abs)
    assert finding("subharmonic", "turned-together").holds is False


def test_on_the_sphere_it_sees_a_theorem_that_is_not_applied(monkeypatch):
    monkeypatch.setattr(applied, "THEOREMS", applied.THEOREMS[:2])
    assert finding("subharmonic", "certified-on-the-sphere").holds is False


def test_on_the_sphere_it_sees_electrons_that_go_uphill(monkeypatch):
    bent(
        monkeypatch,
        "value_and_gradient",
        lambda pair: (pair[0], type(pair[1])(-pair[1][0], pair[1][1])),
    )
    assert finding("subharmonic", "electrons-fall-on-the-sphere").holds is False


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_spherical_coordinates_and_the_circle(dim):
    """On the circle, and there alone, a translation of the angle is a rotation."""
    pair = np.linalg.qr(np.random.default_rng(dim).standard_normal((dim, 2)))[0].T
    for x in pair:
        np.testing.assert_allclose(sphere.point(sphere.angles(x)), x, atol=1e-14)
    found = sphere._shift_is_a_rotation({"electrons": pair, "shift": np.full(dim - 1, 0.3)})
    assert found.holds is (dim == 2)


def test_assumption_1_sees_wrong_margins_and_kinds(monkeypatch):
    right = assumption_one.certificate
    found = finding("subharmonic", "two-sizes")
    assert found.holds is True
    for change in ({"kind": "strict-saddle"}, {"cusp_margins": np.ones(2)}, {"loss": 1.0}):
        monkeypatch.setattr(
            assumption_one,
            "certificate",
            lambda loss, student, change=change: dataclasses.replace(
                right(loss, student), **change
            ),
        )
        assert finding("subharmonic", "two-sizes").holds is False


def test_assumption_1_sees_a_library_with_another_loss(monkeypatch):
    bent(monkeypatch, "value", lambda value: 1.01 * value)
    assert finding("subharmonic", "two-signs").holds is False


@pytest.mark.parametrize("change", [{"kind": "strict-saddle"}, {"smallest_eigenvalue": 0.1}])
def test_assumption_1_sees_another_curvature(monkeypatch, change):
    right = assumption_one.certificate
    monkeypatch.setattr(
        assumption_one,
        "certificate",
        lambda loss, student: dataclasses.replace(right(loss, student), **change),
    )
    assert finding("subharmonic", "the-other-sign").holds is False


def test_assumption_1_sees_units_that_stay(monkeypatch):
    monkeypatch.setattr(assumption_one, "descended", lambda starts, protons, charges: starts)
    assert finding("subharmonic", "how-often").holds is False


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_sphere_rules_average_polynomials(dim):
    points, weights = sphere_rule(dim, 6)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(weights @ points**2, np.full(dim, 1 / dim), rtol=1e-12)
    np.testing.assert_allclose(weights @ points[:, 0] ** 4, 3 / (dim * (dim + 2)), rtol=1e-12)
