"""Node-wise learning, ours and the papers': against the theorems that say where units must end."""

import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.descent._sequential import best_of
from earnshaw.descent.node_wise import ascend
from earnshaw.descent.node_wise_paper import ball_points, measured_tolerance
from earnshaw.descent.nodes import usual_starts

pytestmark = pytest.mark.slow


def test_an_ascent_never_goes_down_and_ends_on_a_charge():
    """Full, Theorem 3.6: off the cores |C| has no maximum."""
    teacher = ew.random_teacher("almost-harmonic", 3, 4, seed=1)
    loss = ew.population_loss(teacher)
    points = usual_starts(loss.manifold, 3, False).draw(0, 0, 6, 3)
    climbed = ascend(loss, jnp.asarray(points), 300)
    ways = climbed.path.reshape(-1, 3)
    worth = np.asarray(loss.free_units(ways).log_savings).reshape(301, 6)
    assert np.all(np.diff(worth, axis=0) >= 0)
    gaps = np.linalg.norm(climbed.points[:, None] - teacher.positions[None], axis=-1)
    assert np.all(np.min(gaps, axis=1) < 1e-12)
    assert np.all(climbed.iterations < 300)


def test_few_iterations_whatever_the_dimension():
    """The same teacher's law in d = 3 and d = 31: the climbs take as long."""
    taken = []
    for dim in (3, 31):
        loss = ew.population_loss(ew.random_teacher("almost-harmonic", dim, 4, seed=2))
        points = usual_starts(loss.manifold, dim, False).draw(1, 0, 6, dim)
        taken.append(float(jnp.mean(ascend(loss, jnp.asarray(points), 400).iterations)))
    assert max(taken) < 200
    assert 0.7 < taken[1] / taken[0] < 1.4


def test_sign_on_the_circle_ends_at_the_units_or_their_antipodes():
    """Full, Lemma G.2."""
    teacher = ew.random_teacher("sign", 2, 3, seed=1, on="sphere")
    run = ew.learn(teacher, seed=1)
    assert run.stop is ew.Stop.RECOVERED
    cosines = np.abs(np.asarray(run.student.positions) @ np.asarray(teacher.positions).T)
    assert np.all(np.max(cosines, axis=1) > 1 - 1e-14)
    assert run.certificate.kind == "cusp-minimum"


@pytest.mark.parametrize(
    ("degree", "dim"),
    [(3, 5), *(pytest.param(n, 20, marks=pytest.mark.slow) for n in (3, 4))],
)
def test_orthonormal_units_of_polynomials(degree, dim):
    """EPD, Theorem 4.5: d orthonormal units of a Hermite polynomial are all found."""
    teacher = ew.random_teacher(
        f"hermite-{degree}", dim, dim, seed=degree, on="sphere", positions="orthonormal"
    )
    run = ew.learn(teacher)
    assert run.stop is ew.Stop.RECOVERED
    assert run.matching.is_permutation
    assert np.max(run.matching.distance) < 1e-9
    assert np.max(run.matching.weight_error) < 1e-8
    assert run.certificate.kind == "minimum"


def test_what_is_left_is_said_where_units_are_missing():
    """The mean of C^2/Phi over random points, here against the loss itself."""
    teacher = ew.random_teacher("sign", 2, 3, seed=1, on="sphere")
    run = ew.learn(teacher, seed=1, units=2)
    assert run.stop is ew.Stop.UNIT_LIMIT
    (note,) = run.notes
    said = float(note.split("mean square ")[1].split()[0])
    angles = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    between = lambda x: 1 - 2 / np.pi * np.arccos(np.clip(circle @ np.asarray(x).T, -1, 1))  # noqa: E731
    left = between(teacher.positions) @ teacher.weights
    left = left - between(run.student.positions) @ run.student.weights
    assert said == pytest.approx(np.mean(left**2), rel=0.5)


def test_node_wise_gd_recovers_where_the_papers_prove_it():
    """EPD, Algorithm 3, with exact charges: an almost lambda-harmonic teacher in d = 3."""
    teacher = ew.random_teacher("almost-harmonic", 3, 2, seed=0)
    run = ew.learn(teacher, "node-wise-gd")
    assert run.stop is ew.Stop.RECOVERED
    assert np.max(run.matching.distance) < 1e-9
    assert np.all(np.diff(run.history.losses) <= 0)


def test_node_wise_paper_brings_a_unit_within_the_core():
    """Full, Lemma E.5: SecondGD ends within eps of a teacher unit."""
    teacher = ew.random_teacher("almost-harmonic", 3, 2, seed=0)
    run = ew.learn(teacher, "node-wise-paper")
    assert np.min(run.matching.distance) < 0.1
    assert np.all(np.diff(run.history.losses) <= 1e-14)


def test_the_start_of_lemma_e4_lowers_the_loss():
    teacher = ew.random_teacher("almost-harmonic", 3, 2, seed=0)
    loss = ew.population_loss(teacher)
    points = ball_points(loss, 0, 0, 64)
    assert np.all(np.linalg.norm(points, axis=1) <= 3 * np.log(3))
    start = best_of(loss, points)
    before, after = float(loss.empty_value()), float(loss.value(start))
    assert after < before
    others = [float(loss.value(best_of(loss, point[None]))) for point in points[:5]]
    assert after <= min(others)
    delta = np.sqrt(before) - np.sqrt(after)
    assert float(measured_tolerance(loss, start)) == pytest.approx(delta**2 / 6, rel=1e-4)


def test_node_wise_sgd_under_assumption_1():
    """EPD, Algorithm 2: fixed charges; ends near the teacher, or with FAIL."""
    teacher = ew.random_teacher("gaussian", 2, 2, seed=1, weights="ones")
    run = ew.learn(
        teacher, "node-wise-sgd", objective="assumption-1", tolerance=0.2, iterations=5000
    )
    assert np.all(np.asarray(run.student.weights) == 1)
    assert run.stop in (ew.Stop.FAIL, ew.Stop.UNIT_LIMIT, ew.Stop.RECOVERED)
    if run.stop is not ew.Stop.FAIL:
        assert np.all(run.matching.distance < 1.0)


def test_from_samples():
    """The empirical loss of more samples than unknowns has the teacher for its only zero."""
    teacher = ew.random_teacher("tanh", 2, 2, seed=0)
    run = ew.learn(teacher, samples=200, units=2)
    assert run.loss < 1e-12
    assert run.matching.is_permutation
    assert np.max(run.matching.distance) < 1e-6
