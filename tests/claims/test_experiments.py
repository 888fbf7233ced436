"""Depth 2 is learned; and that the claim can fail."""

from earnshaw.claims import verify
from earnshaw.claims.learning import experiments
from earnshaw.claims.learning.experiments import EXPERIMENTS
from earnshaw.claims.verdict import Verdict


def test_verdict(run):
    assert run("experiments").verdict == Verdict.HOLDS


def test_a_student_that_does_not_move_is_found_out(monkeypatch):
    monkeypatch.setattr(experiments, "run", lambda method, loss, loop, limit: (loop, False))
    (part,) = EXPERIMENTS.statements
    assert verify.tested(part, verify.draw(EXPERIMENTS, part, 0, seed=0)).holds is not True
