"""The whole network learned node by node; and that the claim can fail."""

import dataclasses

import numpy as np
import pytest

from earnshaw.charges.network import Student
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.learning import network_learned as network
from earnshaw.papers.claims.learning.network_learned import NETWORK
from earnshaw.papers.claims.verdict import Verdict

pytestmark = pytest.mark.slow


def holds(name, index=0):
    (part,) = (part for part in NETWORK.statements if part.name == name)
    return verify.tested(part, verify.draw(NETWORK, part, index, seed=0)).holds


def test_verdict(run):
    result = run("network-learned")
    assert result.verdict == Verdict.HOLDS  # proofs are mended
    for outcome in result.outcomes:
        if outcome.role != "beyond":
            assert outcome.failed == (outcome.role == "printed"), outcome.name


@pytest.mark.parametrize("fault", ["weights", "positions", "twice"])
def test_a_student_that_is_not_the_teacher_is_found_out(monkeypatch, fault):
    right = network.learn

    def wrong(teacher, method, *, seed):
        found = right(teacher, method, seed=seed)
        x, c = np.array(found.student.positions), np.array(found.student.weights)
        if fault == "weights":
            c[0] *= 1 + 1e-6
        elif fault == "positions":
            x[0] += 1e-6
        else:
            x[1] = x[0]
        return dataclasses.replace(found, student=Student(x, c))

    monkeypatch.setattr(network, "learn", wrong)
    assert holds("all-nodes") is False


def test_a_unit_that_does_not_move_is_found_out(monkeypatch):
    class Loop:
        used = np.zeros(1)

        def __init__(self, theta, charges):
            self.states = self
            self.student = Student(theta[None], -charges[None])

    monkeypatch.setattr(
        network,
        "approach",
        lambda method, loss, theta, charges, near: (Loop(theta, charges), np.inf),
    )
    assert holds("one-node") is False


def test_wrong_protons_and_starts_are_found_out(monkeypatch):
    class Teacher:
        positions = np.random.default_rng(0).standard_normal((3, 100_003))

    monkeypatch.setattr(network, "random_teacher", lambda *_, **__: Teacher)
    assert holds("protons-are-apart") is False
    right = network.ball_points
    monkeypatch.setattr(network, "ball_points", lambda *given: 2 * right(*given))
    assert holds("start") is False


@pytest.mark.slow
@pytest.mark.parametrize("index", [2, 3, 4])
def test_larger_networks(index):
    assert holds("all-nodes", index) is True
    assert holds("one-node", index) is True
