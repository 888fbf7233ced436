"""Which columns count, against the exact indices of a linear function."""

import numpy as np
import pytest

from earnshaw.learning.fitting.relevance import LOOKS, ROWS, relevance_of

SLOPES = np.array([[2.0], [1.0], [0.0], [-1.0]])


def test_parts_of_a_linear_function():
    """Of independent inputs of variance 1 an input has slope^2 over the sum of all."""
    x = np.random.default_rng(0).standard_normal((2000, 4))
    found = relevance_of(lambda rows: rows @ SLOPES, x)
    error = 4 / np.sqrt(ROWS)  # of a mean of squares of normal variables, generously
    np.testing.assert_allclose(found, [4 / 6, 1 / 6, 0, 1 / 6], atol=error)
    together = relevance_of(lambda rows: rows @ SLOPES, x, np.array([0, 1, 1, 1]))
    np.testing.assert_allclose(together, [4 / 6, 2 / 6], atol=error)


def test_many_columns_take_fewer_rows():
    asked = []

    def outputs(rows):
        asked.append(len(rows))
        return rows[:, :1]

    found = relevance_of(outputs, np.random.default_rng(1).standard_normal((500, 100)))
    assert max(asked) == LOOKS // 100
    assert found[0] == pytest.approx(1, abs=0.6)
    assert not found[1:].any()
