"""The claims on sign units, exact and broken."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from earnshaw.energy.population import population_loss
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.sign import _circle as circle
from earnshaw.papers.claims.sign import sign_circle, sign_uniqueness

pytestmark = pytest.mark.slow

CIRCLE, UNIQUENESS = sign_circle.CIRCLE, sign_uniqueness.UNIQUENESS


def finding(claim, name, index=0):
    (statement,) = (one for one in claim.statements if one.name == name)
    return verify.tested(statement, verify.draw(claim, statement, index, 0))


@pytest.mark.parametrize("name", ["one-unit-minima", "no-strict-minima", "matchings-are-strict"])
def test_the_circle_holds(name):
    assert finding(CIRCLE, name).holds is True


@pytest.mark.parametrize("name", ["without-random-charges", "without-strictness"])
def test_hypotheses_of_the_circle_are_needed(name):
    assert finding(CIRCLE, name).holds is False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "index", "holds"),
    [("one-unit-descent", 0, True), ("one-unit-descent", 1, True), ("three-protons", 0, False)],
)
def test_descent_of_one_unit(name, index, holds):
    assert finding(CIRCLE, name, index).holds is holds


def test_uniqueness_is_corrected():
    assert finding(UNIQUENESS, "far-means-large").holds is True
    assert finding(UNIQUENESS, "small-means-close").holds is True
    assert finding(UNIQUENESS, "charges-of-any-size").holds is True
    reversed_ = finding(UNIQUENESS, "without-modulus")
    assert reversed_.holds is False
    assert abs(reversed_.numbers["loss"]) < 1e-12
    assert finding(UNIQUENESS, "loss-without-constants").holds is False


def scaled(factor):
    """A library whose loss is wrong by a factor."""

    def broken(*arguments):
        loss = population_loss(*arguments)
        return SimpleNamespace(value=lambda student: factor * loss.value(student))

    return broken


def test_a_wrong_loss_is_noticed(monkeypatch):
    monkeypatch.setattr(sign_circle, "population_loss", scaled(0.98))
    assert finding(CIRCLE, "no-strict-minima").holds is False
    monkeypatch.setattr(sign_uniqueness, "population_loss", scaled(0.5))
    assert finding(UNIQUENESS, "far-means-large").holds is False
    monkeypatch.setattr(sign_uniqueness, "population_loss", scaled(-1.0))
    assert finding(UNIQUENESS, "small-means-close").holds is None


def test_a_wrong_certificate_is_noticed(monkeypatch):
    monkeypatch.setattr(sign_circle, "certificate", lambda *_: SimpleNamespace(kind="cusp-minimum"))
    assert finding(CIRCLE, "one-unit-minima").holds is False


def test_a_descent_that_does_not_move_is_noticed(monkeypatch):
    monkeypatch.setattr(sign_circle, "descended", lambda loss, x, c, *_: (x, c))
    assert finding(CIRCLE, "one-unit-descent").holds is False


def test_a_wrong_potential_on_the_circle_is_noticed(monkeypatch):
    flat = lambda x, y: circle.TURN - 0 * (x[..., :, None] - y[..., None, :])  # noqa: E731
    monkeypatch.setattr(circle, "between", flat)
    assert finding(CIRCLE, "matchings-are-strict").holds is False


def test_edges_decide_local_minima():
    """Against many random motions, for units that share places and antipodes."""
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        w = circle.random_angles(rng, 2)
        x = rng.choice(np.concatenate([w, w + circle.HALF]), 3)
        b, c = rng.integers(-3, 4, 2), rng.integers(-4, 5, 3)
        motions = rng.integers(-1, 2, (300, 3))
        least = circle.rises(c, x, b, w).min()
        moved = circle.loss(np.tile(c, (300, 1)), x + motions, b, w) - circle.loss(c, x, b, w)
        assert (moved.min() >= 0) == (least >= 0)
        seen.add(bool(least >= 0))
    assert seen == {True, False}


def test_the_circle_is_the_sign_potential():
    x = np.array([0, 512, 1024, 3000])
    rho = np.clip(circle.vectors(x) @ circle.vectors(x).T, -1, 1)
    assert circle.between(x, x) / circle.TURN == pytest.approx(
        1 - 2 / math.pi * np.arccos(rho), abs=1e-7
    )
