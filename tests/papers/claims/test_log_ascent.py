"""The theorem for the log ascent: its numbers by hand, its verdict, and that it can fail."""

import math

import numpy as np
import pytest

from earnshaw.papers.claims.learning import _log_ascent_climbs as climbs
from earnshaw.papers.claims.learning import _log_ascent_errors as errors
from earnshaw.papers.claims.learning import log_ascent
from earnshaw.papers.claims.learning._log_potential import Charges, Constants, climb, jet
from earnshaw.papers.claims.verdict import Verdict
from papers.claims.one_statement import finding


def test_two_charges_in_space_by_hand():
    """d = 3: Phi = sqrt(pi/2) exp(-s r)/(s r), and C of q, q' on a line with the point between."""
    s, q, other, r, t = 1.5, 0.7, -0.4, 0.8, 1.9
    charges = Charges(np.array([[0.0, 0, 0], [r + t, 0, 0]]), np.array([q, other]), s**2)
    here = charges.at(np.array([r, 0.0, 0.0]))
    left, right = q * math.exp(-s * r) / r, other * math.exp(-s * t) / t
    total = left + right
    slope = (-left * (s + 1 / r) + right * (s + 1 / t)) / total
    assert here.log == pytest.approx(math.log(math.sqrt(math.pi / 2) * abs(total) / s), rel=1e-14)
    assert here.kappa == pytest.approx((abs(left) + abs(right)) / abs(total), rel=1e-14)
    np.testing.assert_allclose(here.gradient, [slope, 0, 0], atol=1e-13)
    across = (-left * (s + 1 / r) / r - right * (s + 1 / t) / t) / total
    bend = (left * (s**2 + 2 * s / r + 2 / r**2) + right * (s**2 + 2 * s / t + 2 / t**2)) / total
    np.testing.assert_allclose(here.hessian, np.diag([bend - slope**2, across, across]), atol=1e-12)
    assert here.nearest == r


def test_third_derivative_in_space_by_hand():
    """-(exp(-s r)/r)'''/(exp(-s r)/r) = s^3 + 3 s^2/r + 6 s/r^2 + 6/r^3."""
    s, r = 0.8, np.array([0.1, 1.0, 7.0])
    expected = s**3 + 3 * s**2 / r + 6 * s / r**2 + 6 / r**3
    np.testing.assert_allclose(jet(3, s**2, r).third, expected, rtol=1e-12)


def test_the_numbers_of_the_theorem():
    """d = 3, eps = 1/2, lambda = 1, K = 2: u = 5."""
    constants = Constants(3, 0.5, 1.0, 2.0)
    assert constants.u == 5
    by_gradient, by_curvature = constants.gains()
    assert by_gradient == pytest.approx(1 / (48 * 25 * 4))
    assert by_curvature == pytest.approx(1 / (12288 * 27 * 5**6 * 2**6))
    assert constants.tolerated == pytest.approx(1 / (3072 * 9 * 625 * 16))
    # What the proof asks of these numbers: steps short enough, errors small enough.
    assert constants.curved_step <= constants.longest
    assert 2 * constants.u * constants.kappa / constants.hessian <= 2 * constants.longest
    first = 4 * constants.u * constants.kappa * constants.tolerated
    second = 20 * (constants.u * constants.kappa) ** 2 * constants.tolerated
    assert first <= min(constants.small / 4, constants.curved_step / (12 * 2 * 3) * (1 + 1e-12))
    assert second <= 1 / (20 * 3)


def test_a_climb_between_two_equal_charges_ends_at_one_of_them():
    y = np.array([[-1.5, 0.0, 0.0], [1.5, 0.0, 0.0]])
    constants = Constants(3, 0.5, 1.0, 1.0)
    ended = climb(Charges(y, np.ones(2)), constants, np.zeros(3), 20_000)
    assert ended.arrived
    assert ended.by_curvature > 0
    assert np.linalg.norm(ended.end - y, axis=1).min() <= 1.0
    np.testing.assert_allclose(ended.end[1:], 0, atol=1e-9)


@pytest.mark.slow
def test_verdict(run):
    result = run("log-ascent")
    assert result.verdict == Verdict.HOLDS
    for outcome in result.outcomes:
        assert outcome.role == "beyond" or outcome.failed == 0, outcome.name


@pytest.mark.parametrize("factor", [-1.0, 0.0])
def test_wrong_steps_are_found_out(monkeypatch, factor):
    right = log_ascent.step

    def wrong(constants, seen):
        way, curved = right(constants, seen)
        return factor * way, curved

    monkeypatch.setattr(log_ascent, "step", wrong)
    monkeypatch.setattr(errors, "step", wrong)
    assert finding("log-ascent", "a-step-gains").holds is False
    assert finding("log-ascent", "bears-errors").holds is False


def test_a_wrong_potential_is_found_out(monkeypatch):
    """A C that is not lambda-harmonic may have maxima."""
    right = Charges.exact_log
    monkeypatch.setattr(
        Charges, "exact_log", lambda self, x: right(self, x) - sum(part**2 for part in x)
    )
    assert finding("log-ascent", "laplacian").holds is False
    assert finding("log-ascent", "bends-upwards", 4).holds is False


def test_constants_that_are_too_small_are_found_out(monkeypatch):
    monkeypatch.setattr(Constants, "u", property(lambda self: math.sqrt(self.lam) / 10))
    assert finding("log-ascent", "derivatives-are-bounded").holds is False
    assert finding("log-ascent", "kappa-at-most-doubles").holds is False


def test_climbs_that_go_nowhere_are_found_out(monkeypatch):
    monkeypatch.setattr(errors, "_ascended", lambda asked, x, value, slope: (x, value))
    assert finding("log-ascent", "first-unit-at-1e-12").holds is False
    right = climbs.climb
    monkeypatch.setattr(climbs, "climb", lambda *given: right(*given[:3], 10))
    assert finding("log-ascent", "arrives").holds is False
    short = climbs.follow
    monkeypatch.setattr(climbs, "follow", lambda *given: short(*given, limit=2))
    assert finding("log-ascent", "climbs-of-node-wise").holds is False


def test_teachers_that_are_seen_are_found_out(monkeypatch):
    right = errors.chi2.ppf
    monkeypatch.setattr(errors.chi2, "ppf", lambda share, dim: right(1e4 * share, dim))
    assert finding("log-ascent", "hidden-by-errors").holds is False
