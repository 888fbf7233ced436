"""Two words: "recovered" is a matching of units, "equal-function" only a loss of 0."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.descent.method import Stop, stop_of
from earnshaw.learning._sessions import OfOneKind, Outcome, reduced
from earnshaw.learning.run import RESULTS, Run, Trace, decided

W = np.array([[1.0, 0.2], [-0.3, 0.9], [0.5, -0.7]])
B = np.array([1.0, -0.6, 0.8])


def relu(x, positions, weights):
    return np.maximum(x @ np.asarray(positions).T, 0) @ np.asarray(weights)


@pytest.fixture(scope="module")
def teacher():
    return ew.Teacher(W, B, "relu")


@pytest.fixture(scope="module")
def equal():
    """The teacher's function by five units: the first is turned round, and two make up for it."""
    line = B[0] * W[0]
    positions, weights = np.vstack([-W[:1], W[1:], line, -line]), np.append(B, [1.0, -1.0])
    x = np.random.default_rng(0).normal(size=(200, 2))
    np.testing.assert_allclose(relu(x, positions, weights), relu(x, W, B), atol=1e-14)
    return ew.Student(positions, weights)


def run_of(teacher, student, relative_loss=0.0):
    plain = {"method": "", "stop": Stop.CONVERGED, "iterations": 0, "loss": 0.0, "history": None}
    matching = ew.match(teacher, student)
    more = {"certificate": SimpleNamespace(summary=dict), "settings": {"oracle": "exact"}}
    return Run(teacher, student, **plain, relative_loss=relative_loss, matching=matching, **more)


@pytest.mark.parametrize("stop", [Stop.EQUAL_FUNCTION, Stop.RECOVERED])
def test_an_equal_function_by_other_units_is_no_recovery(teacher, equal, stop):
    order, scales = [2, 0, 1], np.array([0.5, 2.0, 1.0])
    same = ew.Student(scales[:, None] * W[order], B[order] / scales)
    assert decided(stop, ew.match(teacher, same)) is Stop.RECOVERED
    assert decided(stop, ew.match(teacher, equal)) is Stop.EQUAL_FUNCTION
    assert decided(stop, None) is Stop.EQUAL_FUNCTION
    assert decided(Stop.UNIT_LIMIT, ew.match(teacher, same)) is Stop.UNIT_LIMIT


@pytest.mark.parametrize(
    ("moved", "heavier", "loss", "result"),
    [
        (0.0, 0.0, 0.0, "recovered"),
        (1e-4, 1e-4, 1e-9, "recovered"),
        (0.0, 0.01, 1e-3, "incomplete"),
        (0.0, 0.01, 1e-12, "equal-function"),
        (0.01, 0.0, 1e-3, "incomplete"),
        (0.01, 0.0, np.nan, "incomplete"),
    ],
)
def test_what_was_learned_whatever_ended_the_run(teacher, moved, heavier, loss, result):
    run = run_of(teacher, ew.Student(W + moved * W[:, ::-1] * [1, -1], B + heavier), loss)
    assert run.result == run.summary()["result"] == result
    assert result in RESULTS


def test_more_units_than_the_teacher_has_are_no_recovery(teacher):
    student = ew.Student(np.vstack([W, W[:1]]), np.append(B, 0.0))
    assert run_of(teacher, student).result == "equal-function"


def test_files_of_older_runs_keep_their_reasons():
    """A run file holds the code: the eighth reason was "recovered", the tenth "unit-limit"."""
    assert stop_of(8) is Stop.RECOVERED
    assert stop_of(10) is Stop.UNIT_LIMIT
    assert all(reason.meaning for reason in Stop)


@pytest.mark.slow
def test_a_student_is_reduced_by_its_own_loss(teacher, equal):
    loss = ew.population_loss(teacher)
    smaller = OfOneKind(loss, ew.match(teacher, equal).symmetries)
    ways = tuple(np.stack([0 * end, end]) for end in np.asarray(equal.positions))
    trace = Trace(np.zeros(1), np.zeros(1), np.zeros(0), ways)
    outcome = Outcome(equal, Stop.EQUAL_FUNCTION, 9, float(loss.value(equal)), trace)
    found = reduced(loss, smaller, outcome)
    assert ew.match(teacher, found.student).is_recovery
    x = np.random.default_rng(1).normal(size=(200, 2))
    np.testing.assert_allclose(
        relu(x, found.student.positions, found.student.weights), relu(x, W, B), atol=1e-12
    )
    assert [len(way) for way in found.history.paths] == [2, 2, 2]
    for way, end in zip(found.history.paths, found.student.positions, strict=True):
        np.testing.assert_array_equal(way[-1], end)
    # Not where something is left of the loss, nor what was interrupted or is regularised.
    for other in ({"loss": 1e-3}, {"stop": Stop.INTERRUPTED}):
        changed = dataclasses.replace(outcome, **other)
        assert reduced(loss, smaller, changed) is changed
    assert reduced(ew.population_loss(teacher, "regularized"), smaller, outcome) is outcome


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "units", "seed"), [(2, 4, 1), (3, 3, 0), (2, 8, 0)])
def test_relu_teachers_are_recovered_unit_by_unit(dim, units, seed):
    """Ended with six, five and ten units of the same function, before."""
    teacher = ew.random_teacher("relu", dim, units, seed=seed)
    run = ew.learn(teacher, seed=seed)
    assert (str(run.stop), run.result, run.student.units) == ("recovered", "recovered", units)
    assert run.matching.is_permutation
    assert np.max(run.matching.distance) < 1e-9
    assert np.max(run.matching.weight_error) < 1e-9
    assert len(run.history.paths) == units
    assert any("brought to" in note for note in run.notes)
    x = np.random.default_rng(2).normal(size=(100, dim))
    np.testing.assert_allclose(
        relu(x, run.student.positions, run.student.weights),
        relu(x, teacher.positions, teacher.weights),
        atol=1e-10,
    )
