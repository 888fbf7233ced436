"""Short pieces, and a kind of experiment that costs nothing."""

import pytest

from earnshaw.experiments import processes
from earnshaw.experiments.sweeps import _dispatch as dispatch
from earnshaw.experiments.sweeps import _executor as executor
from experiments.sweeps.toy import KINDS, Toy


@pytest.fixture
def toy(monkeypatch):
    """The kind "toy", with pieces and checkpoints of milliseconds."""
    kind = Toy()
    monkeypatch.setitem(KINDS, "toy", kind)
    monkeypatch.setattr(executor, "PIECE_SECONDS", 0.01)
    monkeypatch.setattr(dispatch, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(processes, "WORKER", "experiments.sweeps.toy_worker")
    return kind
