"""Where electrons rest: against zeros of polynomials, and Hessians written by hand."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.landscape.equilibria import at_rest, is_harmonic, resting_places

NOBODY = ew.Student(np.zeros((0, 2)), np.zeros(0))


@pytest.mark.slow
def test_resting_places_are_the_zeros_of_the_derivative():
    """Under -log r, C = -log|p(z)| with p = prod (z - w_j), and grad C = 0 where p'(z) = 0."""
    zeros = np.array([1.0 + 0.2j, 1j, -1.0, 0.1 - 1j])
    teacher = ew.Teacher(np.stack([zeros.real, zeros.imag], 1), np.ones(4), potential="-log(r)")
    found = resting_places(teacher, NOBODY, 1.0, np.zeros(2), 1.5)
    exact = np.roots(np.polyder(np.poly(zeros)))
    seen = np.array([one.place[0] + 1j * one.place[1] for one in found])
    assert len(seen) == len(exact) == 3
    np.testing.assert_allclose(np.min(np.abs(seen[:, None] - exact), axis=1), 0, atol=1e-8)
    for one, z in zip(found, seen, strict=True):
        # E = 2 log|p| is Re of 2 log p: its second derivative at a zero of p' is h = 2 p''/p, so
        # that E changes by Re(h v^2)/2, least for v^2 = -conj(h)/|h|.
        assert one.kind == "saddle"
        h = 2 * np.polyval(np.polyder(np.poly(zeros), 2), z) / np.polyval(np.poly(zeros), z)
        v = one.way_out[0] + 1j * one.way_out[1]
        assert (h * v**2).real == pytest.approx(-abs(h), rel=1e-6)


@pytest.mark.slow
def test_stable_places_and_tops_have_their_names():
    """One Gaussian proton holds an electron, repels one of weight -1."""
    teacher = ew.Teacher([[0.3, -0.2]], [1.0], "gaussian")
    for weight, kind in ((1.0, "stable"), (-1.0, "top")):
        (one,) = resting_places(teacher, NOBODY, weight, np.zeros(2), 1.0)
        np.testing.assert_allclose(one.place, [0.3, -0.2], atol=1e-7)
        assert one.kind == kind
    away = resting_places(teacher, NOBODY, 1.0, np.array([9.0, 0.0]), 1.0)
    assert away == []  # only small slopes


@pytest.mark.slow
def test_at_rest_amid_harmonic_charges_is_unstable():
    """E = 2 log|z^4 - 3 z^2 - 4| = const + Re(3 z^2)/2 + ...: eigenvalues 3 and -3."""
    w = np.array([[2.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [0.0, -1.0]])
    teacher = ew.Teacher(w, np.ones(4), potential="-log(r)")
    student = ew.Student([[0.0, 0.0]], [1.0])
    found = at_rest(teacher, student, "without-constants")
    assert (found.kind, found.unstable, found.harmonic) == ("strict-saddle", True, True)
    assert found.smallest_eigenvalue == pytest.approx(-3.0)
    np.testing.assert_allclose(np.abs(found.way_out), [[0.0, 1.0]], atol=1e-9)
    assert found.words == "saddle, unstable: Earnshaw"
    assert found.summary()["earnshaw"] is True
    # Amid a square the Hessian is 0, and yet: E = 2 log|z^4 - 1|.
    square = ew.Teacher(w / [[2.0, 1.0]], np.ones(4), potential="-log(r)")
    found = at_rest(square, student, "without-constants")
    assert found.unstable
    x, y = found.way_out[0]
    assert (complex(x, y) ** 4).real > 0.9
    assert found.words == "saddle, unstable: Earnshaw"


@pytest.mark.slow
def test_a_minimum_is_stable():
    teacher = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    found = at_rest(teacher, ew.Student([[0.0, 0.0]], [1.0]))
    assert (found.unstable, found.harmonic, found.way_out) == (False, False, None)
    assert found.words == "minimum, stable"


def test_what_is_harmonic():
    plane, space = np.zeros((1, 2)), np.zeros((1, 3))
    assert is_harmonic(ew.Teacher(plane, [1.0], potential="-log(r)"))
    assert is_harmonic(ew.Teacher(space, [1.0], potential="1/r"))
    assert not is_harmonic(ew.Teacher(plane, [1.0], potential="1/r"))
    assert not is_harmonic(ew.Teacher(plane, [1.0], "gaussian"))
