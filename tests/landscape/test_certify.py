"""What the papers' theorems say of points whose answer is known by symmetry."""

import json
import math

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError

pytestmark = pytest.mark.slow

AXES = np.eye(3)


def theorem(found, words):
    """The one theorem with these words in its sources."""
    (one,) = (each for each in found.theorems if words in each.sources)
    return one


def held(one):
    return {each.says: each.holds for each in one.hypotheses}


def test_between_two_equal_protons_a_lambda_harmonic_unit_cannot_rest():
    """By symmetry the middle is critical; Laplacian = -2 lambda Phi(0) c^2 there (Full, 3.6)."""
    teacher = ew.Teacher([[-1.0, 0, 0], [1.0, 0, 0]], [1.0, 1.0], "almost-harmonic")
    loss = ew.population_loss(teacher)
    student = loss.optimal_weights(ew.Student(np.zeros((1, 3)), [1.0]))
    found = ew.certify(teacher, student)
    assert found.kind == "strict-saddle"
    weight = float(student.weights[0])
    assert found.laplacians[0] == pytest.approx(-2 * weight**2, rel=1e-9)
    one = theorem(found, "Full Thm 3.6")
    assert one.applies
    assert one.agrees
    assert found.smallest_eigenvalue <= -2 * weight**2 / 3
    # With a wrong weight the theorem does not apply.
    wrong = ew.certify(teacher, ew.Student(student.positions, 2 * student.weights))
    assert wrong.kind == "not-critical"
    assert theorem(wrong, "Full Thm 3.6").applies is False
    assert held(theorem(wrong, "Full Thm 3.6"))["each weight is the best"] is False


def test_the_direction_and_the_epsilon_are_those_of_the_smallest_eigenvalue():
    teacher = ew.Teacher([[-1.0, 0, 0], [1.0, 0, 0]], [1.0, 1.0], "almost-harmonic")
    loss = ew.population_loss(teacher)
    student = loss.optimal_weights(ew.Student(np.zeros((1, 3)), [1.0]))
    found = ew.certify(loss, student)
    moved = loss.hvp(student, found.direction)
    for part, along in zip(moved, found.direction, strict=True):
        np.testing.assert_allclose(part, found.smallest_eigenvalue * along, atol=1e-10)
    assert found.epsilon == max(found.gradient_norm, -found.smallest_eigenvalue)


def test_earnshaw_in_the_middle_of_a_cross_of_protons():
    protons = np.concatenate([AXES, -AXES])
    teacher = ew.Teacher(protons, np.ones(6), "harmonic")
    student = ew.Student(np.zeros((1, 3)), [1.0])
    found = ew.certify(teacher, student, objective="without-constants", wrt="positions")
    one = theorem(found, "Full Thm 3.4")
    assert one.applies
    assert one.agrees
    assert abs(found.laplacians[0]) < 1e-12
    assert found.kind not in ("minimum", "cusp-minimum")


def test_a_learned_network_satisfies_lemma_4_3():
    teacher = ew.Teacher(3 * AXES, [1.0, 0.7, -0.8], "almost-harmonic")
    loss = ew.population_loss(teacher, "regularized")
    at_protons = loss.optimal_weights(ew.Student(teacher.positions, np.ones(3)))
    found = ew.certify(loss, at_protons)
    near = theorem(found, "Full Lem 4.3")
    assert near.applies
    assert near.agrees
    one = theorem(found, "Full Lem 4.4")
    assert one.applies
    assert one.agrees
    assert math.isnan(found.group_laplacian)  # a cusp has no Laplacian


@pytest.mark.parametrize(
    ("position", "kind"),
    [([1.0, 0, 0], "minimum"), ([0.0, -1, 0], "minimum"), ([1.0, 1, 0], "strict-saddle")],
)
def test_one_cubic_unit_among_orthonormal_ones(position, kind):
    """Full, Theorem G.3: minima at +-w_j; equal charges make (w_1 + w_2)/sqrt(2) critical."""
    teacher = ew.Teacher(AXES, np.ones(3), "hermite-3", on="sphere")
    loss = ew.population_loss(teacher)
    place = np.array([position]) / np.linalg.norm(position)
    student = loss.optimal_weights(ew.Student(place, [1.0]))
    found = ew.certify(loss, student)
    assert found.kind == kind
    one = theorem(found, "Full Thm G.3")
    assert one.applies
    assert one.agrees


def test_far_from_all_protons_a_gaussian_has_negative_curvature():
    teacher = ew.Teacher([[4.0, 0], [-4.0, 0]], np.ones(2), "gaussian")
    student = ew.Student([[0.0, 1.0], [0.0, -1.0]], np.ones(2))
    found = ew.certify(teacher, student, objective="assumption-1")
    one = theorem(found, "Full Thm F.2")
    assert one.applies
    assert one.agrees
    assert found.group_laplacian < 0
    assert theorem(found, "Full Thm F.4").applies is False  # eps is too large


def test_one_sign_unit_on_a_proton():
    teacher = ew.Teacher([[1.0, 0], [0.6, 0.8]], [1.0, 0.4], "sign", on="sphere")
    loss = ew.population_loss(teacher)
    found = ew.certify(loss, loss.optimal_weights(ew.Student([[1.0, 0]], [1.0])))
    assert found.kind == "cusp-minimum"
    one = theorem(found, "EPD Thm 3.11")
    assert one.applies is None  # whether charges are generic cannot be told
    assert one.consistent
    assert "may" not in json.dumps(found.summary())  # plain values only


def test_what_cannot_be_certified_is_refused():
    with pytest.raises(EarnshawError, match="Teacher or a loss, not str"):
        ew.certify("relu", ew.Student([[1.0, 0]], [1.0]))
    teacher = ew.Teacher([[1.0, 0]], [1.0], "relu")
    with pytest.raises(EarnshawError, match="dimension 3; allowed: 2"):
        ew.certify(teacher, ew.Student([[1.0, 0, 0]], [1.0]))
    sampled = ew.empirical_loss(teacher, samples=10)
    with pytest.raises(EarnshawError, match="exact loss"):
        ew.certify(sampled, ew.Student([[1.0, 0]], [1.0]), rigorous=True)


def test_a_unit_on_a_proton_at_the_origin_is_held():
    """-|x - y| is 0 where they meet: the forces are 0.1 of 2 (the cusp), 1 and -1 at right angles.

    Both sides count twice, as L has 2 c_i b_j Phi.
    """
    teacher = ew.Teacher([[0.0, 0], [1, 0], [0, 1]], [2.0, 1, -1], "distance")
    student = ew.Student([[0.0, 0]], [0.1])
    found = ew.certify(teacher, student, objective="without-constants", wrt="positions")
    assert found.kind == "cusp-minimum"
    assert found.cusp_margins[0] == pytest.approx(0.2 * (2 - math.sqrt(2)))


def test_in_the_middle_of_four_bessel_protons():
    """exp(-|x|_1) is 2-harmonic in the plane off the axes through its units."""
    teacher = ew.Teacher([[1.0, 1], [1, -1], [-1, 1], [-1, -1]], np.ones(4), "bessel")
    loss = ew.population_loss(teacher)
    student = loss.optimal_weights(ew.Student([[0.0, 0]], [1.0]))
    found = ew.certify(loss, student)
    one = theorem(found, "Full Thm 3.6")
    assert one.applies
    assert one.agrees
    assert found.laplacians[0] == pytest.approx(-4 * float(student.weights[0]) ** 2, rel=1e-9)


def test_electrons_at_the_poles_of_a_sphere_cannot_rest_under_a_subharmonic_potential():
    """Critical by symmetry. Phi = (1 - rho)^(-p) has Laplacian p (p + 1) at rho = 0 on S^2."""
    teacher = ew.Teacher(
        [[1.0, 0, 0], [-1.0, 0, 0]], np.ones(2), potential="(1 - rho)**(-0.25)", on="sphere"
    )
    student = ew.Student([[0.0, 0, 1.0], [0.0, 0, -1.0]], np.ones(2))
    found = ew.certify(teacher, student, objective="without-constants", wrt="positions")
    assert found.gradient_norm < 1e-12
    together = -2 * 4 * 0.25 * 1.25  # four pairs
    assert found.group_laplacian == pytest.approx(together, rel=1e-12)
    one = theorem(found, "Full Thm F.2")
    assert one.agrees
    assert f"{together / (2 * 2):.3g}" in one.guarantees  # k = 2 units, two directions each
    # A unit at a proton is what the theorem allows.
    there = ew.Student([[1.0, 0, 0], [0.0, 0, -1.0]], np.ones(2))
    bounded = ew.Teacher(teacher.positions, np.ones(2), potential="exp(2*rho)", on="sphere")
    at = ew.certify(bounded, there, objective="assumption-1")
    assert theorem(at, "Full Thm F.2").applies is False


def test_what_does_not_exist_is_said_in_words():
    """One unit at one proton has no neighbours, and L is not the G that a theorem asks for."""
    teacher = ew.Teacher(AXES[:1], [1.0], "almost-harmonic")
    found = ew.certify(teacher, ew.Student(2 * AXES[:1], [0.5]))
    words = [each.here for one in found.theorems for each in one.hypotheses]
    words += [one.here for one in found.theorems]
    assert "there are no two" in words
    assert "asked of G only" in words
    assert not any(bad in text.split() for text in words for bad in ("nan", "inf", "nan,", "inf,"))


@pytest.mark.slow
def test_a_sign_unit_of_another_length_is_held_as_well():
    """sign(x.X) does not depend on |x|: on the proton's ray it is the proton's unit itself."""
    teacher = ew.Teacher([[-1.0, 0.2], [1.0, 0.5], [0.3, -1.1]], np.ones(3), "sign")
    weights = [1.0, 1.0, 0.5]
    same = ew.Student([[-1.0, 0.2], [1.0, 0.5], [0.4, 0.3]], weights)
    other = ew.Student([[-2.0, 0.4], [0.5, 0.25], [0.4, 0.3]], weights)
    margins = [ew.certify(teacher, student).cusp_margins[:2] for student in (same, other)]
    assert np.allclose(*margins, rtol=1e-9)
    # The slope of the cusp by hand, 2/(pi |x|), and everything else by the loss's own gradient.
    loss = ew.population_loss(teacher)
    forces = np.linalg.norm(np.asarray(loss.gradient(same).positions)[:2], axis=1)
    pulls = 2 * 2 / (np.pi * np.linalg.norm(np.asarray(teacher.positions)[:2], axis=1))
    assert np.allclose(margins[0], pulls - forces, rtol=1e-9)
