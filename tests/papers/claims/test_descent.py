"""Descent lemmas, gradient descent past saddles and noisy SGD; and that each can fail."""

import equinox as eqx
import numpy as np
import pytest

from earnshaw.papers.claims import verify
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.learning import _surface_runs as surface_runs
from earnshaw.papers.claims.learning import descent_lemmas, noisy_sgd
from earnshaw.papers.claims.learning._surfaces import (
    difference,
    gradient,
    hessian,
    point,
    random_waves,
    surface,
)
from earnshaw.papers.claims.verdict import Verdict

pytestmark = pytest.mark.slow


def holds(name, statement, index=0):
    one = claim_named(name)
    (found,) = (part for part in one.statements if part.name == statement)
    return verify.tested(found, verify.draw(one, found, index, seed=0)).holds


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("descent-lemmas", Verdict.CORRECTED),
        ("gd-avoids-saddles", Verdict.HOLDS),
        ("noisy-sgd", Verdict.HOLDS),
    ],
)
def test_verdicts(run, name, verdict):
    result = run(name)
    assert result.verdict == verdict
    for outcome in result.outcomes:
        assert (outcome.failed > 0) == (outcome.role in ("printed", "beyond")), outcome.name


def test_a_surface_is_the_same_in_jax_and_numpy():
    rng = np.random.default_rng(3)
    made = random_waves(rng, 3) | {
        "slope": rng.standard_normal(3),
        "matrix": np.diag(rng.standard_normal(3)),
        "cubic": 0.7,
        "quartic": rng.random(3),
        "frame": np.linalg.qr(rng.standard_normal((3, 3)))[0],
    }
    x, f = rng.standard_normal(3), surface(made)
    value, slope = f.value_and_gradient(point(x))
    origin = float(f.value(point(np.zeros(3))))
    assert float(value) - origin == pytest.approx(difference(made, x, np.zeros(3)), rel=1e-12)
    np.testing.assert_allclose(slope.positions[0], gradient(made, x), rtol=1e-12)
    np.testing.assert_allclose(f.hessian(point(x)), hessian(made, x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("statement", "factor"),
    [
        *((name, -1.0) for name in ("gradient-step", "hessian-step", "hessian-step-is-sharp")),
        *((name, 0.0) for name in ("gradient-step", "hessian-step", "hessian-step-is-sharp")),
        # From an exact saddle both ways are down: only standing still is wrong.
        ("exact-saddle-is-left", 0.0),
        ("second-gd-goes-on", 0.0),
    ],
)
def test_wrong_steps_are_found_out(monkeypatch, statement, factor):
    right = descent_lemmas.one_step

    def wrong(method, objective, student):
        before, after = right(method, objective, student)
        x, y = before.student.positions, after.student.positions
        return before, eqx.tree_at(lambda s: s.student.positions, after, x + factor * (y - x))

    monkeypatch.setattr(descent_lemmas, "one_step", wrong)
    assert holds("descent-lemmas", statement) is False


def test_a_run_that_does_not_move_is_found_out(monkeypatch):
    monkeypatch.setattr(surface_runs, "run", lambda method, objective, loop, limit: (loop, False))
    assert holds("descent-lemmas", "second-gd-ends-in-M") is False
    for statement in ("ends-in-no-saddle", "ends-in-a-global-minimum", "funnel-with-half-steps"):
        assert holds("gd-avoids-saddles", statement) is False
    assert holds("noisy-sgd", "ends-in-M") is False


def test_noisy_sgd_that_stops_too_early_is_found_out(monkeypatch):
    right = noisy_sgd.NoisySGD
    wrong = lambda size, tolerance: right(size, 5 * tolerance)  # noqa: E731
    monkeypatch.setattr(noisy_sgd, "NoisySGD", wrong)
    assert holds("noisy-sgd", "ends-in-M") is False
