"""The whole network learned node by node; and that the claim can fail."""

import dataclasses

import numpy as np
import pytest

from earnshaw.charges.network import Student
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.learning import _algorithm3 as algorithm3
from earnshaw.papers.claims.learning import network_learned as network
from earnshaw.papers.claims.learning._screened_charges import potential
from earnshaw.papers.claims.learning.network_learned import NETWORK
from earnshaw.papers.claims.verdict import Verdict

pytestmark = pytest.mark.slow


def holds(name, index=0):
    (part,) = (part for part in NETWORK.statements if part.name == name)
    return verify.tested(part, verify.draw(NETWORK, part, index, seed=0)).holds


def test_verdict(run):
    result = run("network-learned")
    assert result.verdict == Verdict.CORRECTED  # charges do not converge
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
    assert holds("all-nodes-by-log-ascent") is False


def test_units_that_do_not_land_or_keep_their_charges_are_found_out(monkeypatch):
    monkeypatch.setattr(algorithm3, "LIMIT", 10)
    assert holds("one-node") is False
    assert holds("all-nodes") is False
    monkeypatch.undo()
    monkeypatch.setattr(algorithm3, "WithBestCharge", algorithm3.NodeWisePaper)
    assert holds("all-nodes") is False


def test_a_charge_that_keeps_up_is_found_out(monkeypatch):
    """Under a potential that falls slowly the charge has time: the flow lands with all of it."""

    def slow(dim, radius):
        return lambda r: (np.exp(-1e-3 * r), -1e-3 * np.exp(-1e-3 * r), None)

    monkeypatch.setattr(algorithm3, "potential", slow)
    assert holds("lands-undercharged") is False


def test_the_time_of_the_flow_is_that_of_its_steps():
    """d = 3, one proton of charge 1: (r, a) stepped by hand, from 0.9 to the core."""
    radius, size = 0.3, 2e-3
    phi = potential(3, radius)
    r, a, steps = 0.9, -float(phi(np.asarray(0.9))[0]), 0
    while r > radius:
        value, slope, _ = (float(part) for part in phi(np.asarray(r)))
        r, a, steps = r - 2 * size * a * slope, a - 2 * size * (a + value), steps + 1
    assert steps * size == pytest.approx(np.exp(algorithm3.log_flow_time(3, radius, 0.9)), rel=0.1)


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
    assert holds("all-nodes-by-log-ascent", index) is True
