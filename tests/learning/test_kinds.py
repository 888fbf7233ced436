"""Node-wise learning of networks of several activations, not told how many units of each."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf

import earnshaw as ew
from earnshaw.descent.kind_by_kind import middle_of
from earnshaw.energy.asked_kinds import asked_kinds

W, B, C = np.array([0.9, -1.3, 0.6]), np.array([0.4, -0.2, 0.8]), np.array([1.0, -0.7, 0.5])
KINDS = ["erf", "relu", "relu"]
SIGMAS = {"relu": lambda y: np.maximum(y, 0), "erf": erf, "hermite-1": lambda y: y}


@pytest.fixture(scope="module")
def teacher():
    """Three units on the line, of two activations."""
    return ew.Teacher(W[:, None], C, KINDS, biases=B)


@pytest.fixture(scope="module")
def run(teacher, tmp_path_factory):
    """A run in three dimensions, and its file."""
    rng = np.random.default_rng(1)
    hidden = ew.Teacher(rng.normal(size=(3, 3)), C, KINDS, biases=rng.normal(size=3))
    file = tmp_path_factory.mktemp("run") / "run.npz"
    return ew.learn(hidden, seed=0, save=file), file


@pytest.mark.slow
def test_what_is_left_for_a_unit_of_each_kind_is_its_correlation_with_the_rest(teacher):
    """By a fine sum over the line, kinks and all."""
    losses = asked_kinds(ew.population_loss(teacher), "exact")
    names = [each.name for each in losses.activations]
    assert names == ["erf", "relu", "hermite-1"]  # what flips of relu leave behind
    slots, places = 2, np.array([[0.5, 0.1], [-0.8, 0.3], [1.1, -0.6]])
    positions, weights = np.zeros((6, 2)), np.zeros(6)
    positions[[0, 2, 3]], weights[[0, 2, 3]] = places, [0.3, -1.2, 0.8]
    left = losses.left_by(ew.Student(positions, weights), slots)
    x = np.linspace(-10, 10, 2_000_001)
    mass = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    gap = sum(c * SIGMAS[kind](w * x + b) for w, b, c, kind in zip(W, B, C, KINDS, strict=True))
    placed = zip(places, [0.3, -1.2, 0.8], ["erf", "relu", "relu"], strict=True)
    gap -= sum(c * SIGMAS[kind](w * x + b) for (w, b), c, kind in placed)
    free = np.array([0.7, -0.5])
    for name, loss in zip(names, left, strict=True):
        unit = SIGMAS[name](free[0] * x + free[1])
        overlap, energy = np.sum(mass * gap * unit), np.sum(mass * unit * unit)
        found = loss.free_units(free[None])
        assert float(found.weights[0]) == pytest.approx(overlap / energy, rel=1e-9)
        saving = np.exp(float(found.log_savings[0]))
        assert saving == pytest.approx(overlap**2 / energy, rel=1e-9)


@pytest.mark.slow
def test_units_and_their_activations_are_found(run):
    found, _ = run
    assert found.result == "recovered"
    names = [each.name for each in found.student.unit_kind.responses]
    assert sorted(names) == sorted(KINDS)
    assert [names[unit] for unit in found.matching.permutation] == KINDS
    assert np.max(found.matching.distance) < 1e-10
    assert np.max(found.matching.weight_error) < 1e-10
    x = np.random.default_rng(0).normal(size=(1000, 3))
    np.testing.assert_allclose(found.student(x), found.teacher(x), atol=1e-10)


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(run, tmp_path):
    whole, file = run
    read = ew.load_run(file)
    assert [one.name for one in read.student.unit_kind.responses].count("relu") >= 2

    def stop(progress):
        if progress.done >= 2:
            raise KeyboardInterrupt

    part = ew.learn(whole.teacher, seed=0, save=tmp_path / "part.npz", report=stop)
    assert part.stop is ew.Stop.INTERRUPTED
    rest = ew.learn(resume=tmp_path / "part.npz")
    np.testing.assert_array_equal(rest.student.positions, whole.student.positions)
    np.testing.assert_array_equal(rest.student.weights, whole.student.weights)


def test_the_middle_of_a_bundle_is_where_it_bends_and_how_wide():
    """Kinks at 1 and 3 along (0.6, 0.8), of equal weight, seen from either side."""
    along = np.array([0.6, 0.8])
    places = np.array([np.append(2 * along, -2.0), np.append(-along, 3.0)])
    middle = middle_of(places, np.array([0.5, -1.0]))  # |w| |c| = 1 both
    wanted = np.append(along, -2.0)  # bends at 2, of width 1
    assert min(np.abs(middle - wanted).max(), np.abs(middle + wanted).max()) < 1e-12


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "node-wise-gd"}, "places units of one activation"),
        ({"student_activation": "erf,relu"}, "places units of one activation"),
    ],
)
def test_what_is_not_there_is_one_line(teacher, asked, words):
    with pytest.raises(ValueError, match=words):
        ew.learn(teacher, **asked)


def test_several_outputs_of_several_activations_are_refused():
    hidden = ew.Teacher(W[:, None], np.stack([C, C], axis=1), KINDS, biases=B)
    with pytest.raises(ValueError, match="one output"):
        ew.learn(hidden)


def test_jumps_beside_other_activations_are_refused_before_the_work():
    hidden = ew.Teacher(W[:, None], C, ["step", "relu", "relu"], biases=B)
    with pytest.raises(ValueError, match="step jumps"):
        ew.learn(hidden, report=lambda progress: pytest.fail("it has begun"))
