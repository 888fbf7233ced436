"""Run a claim on a few instances."""

from __future__ import annotations

import pytest

from earnshaw.papers.claims.verdict import ClaimResult
from earnshaw.papers.claims.verify import verify


@pytest.fixture
def run():
    """``run("dynamics", 2)``: the claim on two instances of every statement."""

    def run(name: str, instances: int = 1, seed: int = 0) -> ClaimResult:
        (result,) = verify([name], instances=instances, seed=seed)
        return result

    return run
