"""The claims almost-harmonic and yukawa-activation: they hold, and broken parts make them fail."""

from __future__ import annotations

import dataclasses

import pytest

from earnshaw.papers.claims.duality import _ball_core, almost_harmonic, yukawa
from earnshaw.papers.claims.duality import _core_lemmas as core_lemmas
from papers.claims.one_statement import Altered, finding, scaled

pytestmark = pytest.mark.slow


def test_almost_harmonic_is_corrected(run):
    result = run("almost-harmonic")
    assert result.verdict == "corrected"
    outcomes = {outcome.name: outcome for outcome in result.outcomes}
    assert outcomes["lemma-b7-proof"].witness_numbers["dim"] == 7
    assert outcomes["lemma-b7-proof"].witness_numbers["constant"] == pytest.approx(8 / 15)
    assert outcomes["signs-of-the-ball-core"].failed == 1
    assert outcomes["lemma-4-2-constants"].constants.keys() == {
        "C_derivatives", "c_value", "C_value", "c_slope", "C_slope",
    }  # fmt: skip


def test_the_proof_of_lemma_b7_is_right_in_three_dimensions():
    assert core_lemmas.lemma_b7_proof({"dim": 3}).holds is True


def with_methods_scaled(monkeypatch, factor, *methods):
    original = almost_harmonic.AlmostHarmonic
    monkeypatch.setattr(
        almost_harmonic,
        "AlmostHarmonic",
        lambda *a, **k: scaled(original(*a, **k), factor, *methods),
    )


@pytest.mark.parametrize("method", ["value", "first", "second"])
def test_construction_notices_each_derivative(monkeypatch, method):
    with_methods_scaled(monkeypatch, 1 + 1e-9, method)
    assert finding("almost-harmonic", "paper-core").holds is False
    assert finding("almost-harmonic", "ball-core").holds is False
    assert finding("almost-harmonic", "lambda-harmonic").holds is False


def test_construction_notices_the_other_core(monkeypatch):
    """In d = 7, where the cores differ."""
    original = almost_harmonic.AlmostHarmonic
    swapped = {"paper": "ball", "ball": "paper"}
    monkeypatch.setattr(
        almost_harmonic,
        "AlmostHarmonic",
        lambda *a, core: Altered(original(*a, core=swapped[core]), core=core),
    )
    assert finding("almost-harmonic", "paper-core", 1).holds is False


def test_signs_are_not_taken_for_granted(monkeypatch):
    """With the ball's coefficients for the paper's, the signs fail in d = 7."""
    original = almost_harmonic.exact_core
    monkeypatch.setattr(almost_harmonic, "exact_core", lambda d, r, m, _: original(d, r, m, "ball"))
    assert finding("almost-harmonic", "signs", 1).holds is False


@pytest.mark.parametrize("factor", [-1.0, 1 + 1e-9])
def test_transforms_are_not_taken_for_granted(monkeypatch, factor):
    original = almost_harmonic.core_spectrum
    monkeypatch.setattr(
        almost_harmonic, "core_spectrum", lambda *a: scaled(original(*a), factor, "value")
    )
    assert finding("almost-harmonic", "realizable").holds is False


def test_bounds_notice_a_potential_that_falls_too_slowly(monkeypatch):
    original = almost_harmonic.AlmostHarmonic

    def slow(*arguments, **settings):
        phi = original(*arguments, **settings)
        return Altered(phi, log_value=lambda r: phi.log_value(r) / 2)

    monkeypatch.setattr(almost_harmonic, "AlmostHarmonic", slow)
    assert finding("almost-harmonic", "lemma-b9-bounds").holds is False
    assert finding("almost-harmonic", "lemma-4-2-constants").holds is False


def test_lemmas_notice_another_continuation(monkeypatch):
    original = core_lemmas.inside
    monkeypatch.setattr(core_lemmas, "inside", lambda *a: original(*a) * 1.0001)
    assert finding("almost-harmonic", "lemma-b8").holds is False


def test_lemma_b7_fails_for_a_lower_power():
    """(1 - r)_+ in R^7 has a transform that is negative somewhere: the test can say so."""
    assert core_lemmas.positive_transform(7, 1, 0.0)[0] is False
    assert core_lemmas.positive_transform(7, 7, 0.5)[0] is True


def test_yukawa_is_corrected(run):
    result = run("yukawa-activation")
    assert result.verdict == "corrected"
    witnesses = {o.name: o.witness_numbers for o in result.outcomes if o.role == "printed"}
    assert witnesses["without-pi"]["ratio"] == pytest.approx(31.00627668)
    assert abs(witnesses["as-printed"]["ratio"] - 1) > 0.01


@pytest.mark.parametrize(
    ("method", "name"), [("value", "off-coincidence"), ("fourier", "root-of-the-transform")]
)
def test_yukawa_notices_a_wrong_potential(monkeypatch, method, name):
    original = yukawa.LambdaHarmonic
    monkeypatch.setattr(yukawa, "LambdaHarmonic", lambda *a: scaled(original(*a), 1.001, method))
    assert finding("yukawa-activation", name).holds is False


def test_yukawa_notices_a_potential_that_is_accepted(monkeypatch):
    original = yukawa.realize
    accepted = lambda *a, **k: dataclasses.replace(original(*a, **k), realizable=True)  # noqa: E731
    monkeypatch.setattr(yukawa, "realize", accepted)
    assert finding("yukawa-activation", "not-at-coincidence").holds is False


@pytest.mark.parametrize("index", [0, 1])
def test_the_ball_core_notices_other_coefficients(monkeypatch, index):
    """Of the slope, whose reference is a Taylor series; and of the value, in which they fall."""
    original = _ball_core.exact_core

    def altered(*arguments):
        origin, value, drop, slope, curvature, charge = original(*arguments)
        return origin, value, drop, [1.000001 * one for one in slope], curvature, charge

    monkeypatch.setattr(_ball_core, "exact_core", altered)
    assert finding("almost-harmonic", "ball-core-signs", index).holds is False


def test_the_ball_core_notices_a_sign(monkeypatch):
    original = _ball_core.exact_core
    monkeypatch.setattr(
        _ball_core, "exact_core", lambda *a: (*original(*a)[:4], [-1.0], original(*a)[5])
    )
    assert finding("almost-harmonic", "ball-core-signs").holds is False


def test_the_ball_core_notices_a_potential_that_falls_too_slowly(monkeypatch):
    original = _ball_core.AlmostHarmonic

    def slow(*arguments):
        phi = original(*arguments)
        return Altered(phi, log_value=lambda r: phi.log_value(r) / 5)

    monkeypatch.setattr(_ball_core, "AlmostHarmonic", slow)
    assert finding("almost-harmonic", "ball-core-bounds").holds is False


def test_the_ball_core_notices_derivatives_that_are_too_large(monkeypatch):
    original = _ball_core.exact_core

    def steep(*arguments):
        origin, value, *rest = original(*arguments)
        return origin, [value[0] * 10**30, *value[1:]], *rest

    monkeypatch.setattr(_ball_core, "exact_core", steep)
    assert finding("almost-harmonic", "ball-core-bounds").holds is False
