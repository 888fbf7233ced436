"""Signs of matrices in balls, against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.landscape.proofs._balls import around
from earnshaw.landscape.proofs._definite import exceeds, falling_direction, smallest_eigenvalue


def exactly_positive(rows):
    """Sylvester's criterion in fractions."""
    rows = [[Fraction(x) for x in row] for row in rows]
    for k in range(len(rows)):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def matrix(rows, radius=0.0):
    return arb_mat([[arb(x) + around(arb(radius)) for x in row] for row in rows])


@st.composite
def symmetric(draw):
    """Small integers: singular and indefinite matrices are common."""
    size = draw(st.integers(1, 4))
    root = draw(
        st.lists(
            st.lists(st.integers(-2, 2), min_size=size, max_size=size), min_size=1, max_size=size
        )
    )
    root = np.array(root)
    return (root.T @ root + draw(st.integers(-1, 1)) * np.eye(size, dtype=int)).tolist()


@settings(max_examples=200, deadline=None)
@given(rows=symmetric())
def test_signs_are_right_and_zero_is_no_sign(rows):
    with ctx.workprec(128):
        positive = exactly_positive(rows)
        least, falling = smallest_eigenvalue(matrix(rows)), falling_direction(matrix(rows))
        assert (least is not None) == positive
        exact = np.linalg.eigvalsh(np.array(rows, dtype=float))[0]
        if positive:
            assert 0.99 * exact <= least <= exact * (1 + 1e-12)
            assert falling is None
        if falling is not None:
            v = [Fraction(x) for x in falling[0]]
            assert (
                sum(
                    a * b * x
                    for a, row in zip(v, rows, strict=True)
                    for b, x in zip(v, row, strict=True)
                )
                < 0
            )
        if exact < -1e-9:
            assert falling is not None


@settings(max_examples=100, deadline=None)
@given(rows=symmetric(), exponent=st.integers(-60, -1))
def test_a_box_of_matrices_is_positive_only_if_all_of_them_are(rows, exponent):
    """The worst of the box is at least as low as one lowered by the radius."""
    with ctx.workprec(128):
        radius = 2.0**exponent
        if exceeds(matrix(rows, radius), 0.0):
            lowered = [
                [Fraction(x) - (Fraction(radius) if i == j else 0) for j, x in enumerate(row)]
                for i, row in enumerate(rows)
            ]
            assert exactly_positive(lowered)


def test_scales_far_apart_are_seen():
    """Beside 1, floats do not see 1e-40."""
    with ctx.workprec(128):
        assert smallest_eigenvalue(matrix([[1.0, 0.0], [0.0, 1e-40]])) > 1e-41
        _, curvature = falling_direction(matrix([[1.0, 1e-21], [1e-21, -1e-40]]))
        assert curvature < 0
