"""Random formulas through `ew.realize`: an answer or one line, nothing else."""

from __future__ import annotations

import random

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from fuzz.formulas import case

FOUND = [  # by the thousand, then made small; each did not end as it should
    ("exp(-r*1e300)", "space", 11),  # 0 at every distance looked at
    ("exp(1000-r)", "space", 3),  # finite, beyond float64
    ("(1+rho)^999/(1-rho/2)^999", "sphere", 3),  # the same at rho = 1
    ("(1+x1^2)^999/2^4", "space", 1),  # infinite on both sides of 0: still even
    ("x1-x1+1", "space", 2),  # a constant
    ("(-1+x546413^2)*exp(-x25202^2)", "space", 781_639),
    ("sin(min(gamma(x58^2), 2)^(x35^2))", "space", 64),  # SymPy compares complex infinity
    ("gamma(rx3100384^2)", "space", 956_819),  # a long list of names that are allowed
]


@pytest.mark.quick("found*")
@pytest.mark.parametrize(
    ("text", "on", "dim"),
    [
        *(pytest.param(*given, id=f"found-{i}") for i, given in enumerate(FOUND)),
        *(pytest.param(*case(random.Random(f"formula-{i}")), id=f"{i}") for i in range(100)),
    ],
)
def test_realize_answers_or_says_why_not_in_one_line(text, on, dim):
    result, message = None, ""
    try:
        result = ew.realize(text, on=on, dim=dim, seconds=5.0)
    except EarnshawError as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < 500
    if result is None:
        return
    assert result.reason
    assert (result.realizable is False) == (result.obstruction is not None)
    assert result.check_error is None or result.check_error >= 0
    found = result.obstruction
    if found is not None and found.points is not None:
        assert found.points.size <= 1_000_000
        assert np.all(np.isfinite(found.points))
        assert found.quadratic_form(result.potential) < 0
