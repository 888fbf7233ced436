"""A student that is its teacher in disguise is recognised, and the disguise is taken off."""

from __future__ import annotations

import itertools
import json
import math
from functools import lru_cache

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.charges.matching import match, symmetries_of
from earnshaw.charges.network import Student, Teacher, network
from earnshaw.charges.species import formula_species, species
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.named import ACTIVATIONS
from earnshaw.errors import EarnshawError

DIM, PADDED = 3, 8
DOT = [
    *((name, {}) for name, made in ACTIVATIONS.items() if isinstance(made, type)),
    *((f"hermite-{degree}", {}) for degree in range(5)),
    ("polynomial", {"coefficients": (0.3, 0.0, 0.0, 1.0)}),
    ("polynomial", {"coefficients": (0.0, 0.7, 0.0, 0.0, 1.0)}),
    ("polynomial", {"coefficients": (0.0, 0.0, 0.0, 0.0, 1.0)}),
]
ON_SPACE = [*((name, parameters, "space") for name, parameters in DOT)]
ON_SPHERE = [*((name, parameters, "sphere") for name, parameters in DOT)]
TRANSLATIONS = [
    ("gaussian", {}, "space"),
    ("bessel", {}, "space"),
    ("almost-harmonic", {}, "space"),
    ("gaussian", {}, "sphere"),
]
EVERYTHING = [*ON_SPACE, *ON_SPHERE, *TRANSLATIONS, ("sphere-synthetic", {"degree": 6}, "sphere")]


def a_teacher(name, parameters, on, generator, units=5):
    positions = generator.standard_normal((units, DIM))
    if on == "sphere":
        positions /= np.linalg.norm(positions, axis=-1, keepdims=True)
    weights = generator.uniform(0.5, 2, units) * generator.choice([-1, 1], units)
    return Teacher(positions, weights, shared(name, **parameters), on=on)


@lru_cache(maxsize=64)
def shared(name, dim=DIM, **parameters):
    """The units' activation and potential, made once."""
    return species(name, dim, parameters=parameters)


def disguised(teacher, generator):
    """The teacher's units, shuffled, and each rewritten by what its activation declares."""
    allowed = symmetries_of(teacher.species)
    positions, weights = np.array(teacher.positions), np.array(teacher.weights)
    turned = generator.integers(2, size=len(weights)).astype(bool)
    if allowed.flip is not None:
        positions[turned] *= -1
        weights[turned] *= allowed.flip
    if allowed.degree is not None and teacher.manifold.name == "space":
        scale = generator.uniform(0.2, 4, len(weights))
        positions *= scale[:, None]
        weights /= scale**allowed.degree
    order = generator.permutation(len(weights))
    return Student(positions[order], weights[order]), order


def responses(activation, positions, x):
    """sigma(x, theta) for every input and unit, in one call of one shape; shape (n, k)."""
    units = len(positions)
    padded = np.zeros((PADDED, x.shape[-1]))
    padded[:units] = positions
    if isinstance(activation, DotProduct):
        return np.asarray(activation(x @ padded.T))[:, :units]
    return np.asarray(activation.unit(x[:, None, :], padded))[:, :units]


def assert_same_function(teacher, student, found, recognised=False):
    """g = aligned + leftover_constant + leftover_linear.x on random inputs; aligned = f if so."""
    x = np.random.default_rng(5).standard_normal((40, teacher.dim))
    sigma = teacher.activation
    g, aligned, f = (
        responses(sigma, np.asarray(n.positions), x) * n.weights
        for n in (student, found.aligned, teacher)
    )
    rest = found.leftover_constant + x @ found.leftover_linear
    atol = 1e-11 * (np.max(np.sum(np.abs(g), axis=-1)) + np.max(np.abs(rest)))
    np.testing.assert_allclose(g.sum(axis=-1), aligned.sum(axis=-1) + rest, rtol=0, atol=atol)
    if recognised:
        np.testing.assert_allclose(aligned.sum(axis=-1), f.sum(axis=-1), rtol=0, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters", "on"), EVERYTHING)
def test_a_disguised_teacher_is_recognised(name, parameters, on):
    generator = np.random.default_rng(len(name))
    teacher = a_teacher(name, parameters, on, generator)
    for _ in range(3):
        student, order = disguised(teacher, generator)
        found = match(teacher, student)
        np.testing.assert_array_equal(found.permutation, np.argsort(order))
        assert found.is_permutation
        assert found.unmatched.size == 0
        assert np.max(found.distance) < 1e-12
        assert np.max(found.weight_error) < 1e-12
        np.testing.assert_allclose(found.aligned.positions, teacher.positions, atol=1e-12)
        np.testing.assert_allclose(found.aligned.weights, teacher.weights, atol=1e-12)
        assert [entry["unit"] for entry in found.recovered(1e-12)] == list(range(teacher.units))
        if name not in ("almost-harmonic", "bessel"):  # infinite activations, slow to tabulate
            assert_same_function(teacher, student, found, recognised=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "step", "softplus", "relu", "gelu"])
def test_a_flip_that_leaves_something_behind_says_what(name):
    teacher = Teacher([[1.0, 0.5], [-0.3, 2.0]], [1.5, -0.7], name)
    student = Student(teacher.positions * jnp.array([[-1.0], [1.0]]), teacher.weights)
    if name in ("logistic", "step"):
        student = Student(student.positions, student.weights * jnp.array([-1.0, 1.0]))
    found = match(teacher, student)
    assert np.max(found.distance) < 1e-15
    np.testing.assert_array_equal(found.flipped, [True, False])
    if name in ("logistic", "step"):  # -1.5 s(-x) = 1.5 s(x) - 1.5
        assert found.leftover_constant == -1.5
        np.testing.assert_array_equal(found.leftover_linear, [0, 0])
    else:  # 1.5 s(-y) = 1.5 s(y) - 1.5 y
        assert found.leftover_constant == 0
        np.testing.assert_allclose(found.leftover_linear, [-1.5, -0.75])
    assert_same_function(teacher, student, found)


def test_flips_that_cancel_leave_nothing():
    """Three relu units whose c w sum to zero can all be flipped."""
    w = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    teacher = Teacher(w, np.ones(3), "relu")
    found = match(teacher, Student(-w, np.ones(3)))
    assert np.all(found.flipped)
    np.testing.assert_allclose(found.leftover_linear, 0, atol=1e-15)
    x = np.random.default_rng(0).standard_normal((20, 2))
    np.testing.assert_allclose(network(teacher.activation, Student(-w, np.ones(3)), x), teacher(x))


def expected_cost(teacher, student):
    """The cost of every pair, from the formula in matching.py, one pair at a time."""
    allowed = symmetries_of(teacher.species)
    scaled = allowed.degree is not None and teacher.manifold.name == "space"

    def canonical(position, weight):
        length = math.dist(position, np.zeros_like(position))
        if not scaled or length == 0:
            return position, weight * (0.0 if scaled and allowed.degree else 1.0)
        return position / length, weight * length**allowed.degree

    own, other = (
        [canonical(*unit) for unit in zip(*map(np.asarray, (n.positions, n.weights)), strict=True)]
        for n in (teacher, student)
    )
    signs = (1,) if allowed.flip is None else (1, -1)
    size = max(float(np.linalg.norm(w)) for w, _ in own) or 1.0
    gaps = [
        min(float(np.linalg.norm(v - sign * w)) for sign in signs)
        for (v, _), (w, _) in itertools.combinations(own, 2)
    ]
    reach = min([size, *(gap for gap in gaps if gap > 1e-8 * size)]) / 2
    largest = max(abs(float(b)) for _, b in own) or 1.0
    cost = np.empty((len(own), len(other)))
    for (j, (w, b)), (i, (theta, c)) in itertools.product(enumerate(own), enumerate(other)):
        ways = []
        for sign in signs:
            v = abs(float((allowed.flip if sign == -1 else 1) * c - b)) / largest
            r = float(np.linalg.norm(sign * theta - w)) / reach
            ways.append(math.log1p(r * r) + 1e-3 * v / (1 + v) + (1e-12 if sign == -1 else 0))
        cost[j, i] = min(ways)
    return cost


@pytest.mark.parametrize(("units", "students"), [(1, 1), (4, 4), (5, 3), (2, 5), (3, 0)])
@pytest.mark.parametrize("name", ["gaussian", "tanh", "relu", "relu2", "cos"])
def test_the_assignment_is_the_best_of_all(name, units, students):
    generator = np.random.default_rng(units + 10 * students)
    teacher = a_teacher(name, {}, "space", generator, units)
    student = Student(generator.standard_normal((students, DIM)), generator.normal(size=students))
    found, cost = match(teacher, student), expected_cost(teacher, student)
    pairs = [(j, i) for j, i in enumerate(found.permutation) if i >= 0]
    assert len(pairs) == min(units, students)
    table = cost if units <= students else cost.T
    short, long = table.shape
    best = min(
        sum(table[row, column] for row, column in enumerate(way))
        for way in itertools.permutations(range(long), short)
    )
    assert sum(cost[pair] for pair in pairs) == pytest.approx(best, abs=1e-12)


@pytest.mark.slow
@given(
    st.sampled_from(["gaussian", "erf", "logistic", "relu", "relu3", "hermite-2", "exponential"]),
    st.integers(1, 6),
    st.integers(0, 6),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_two_networks_can_be_matched(name, units, students, dim, seed, coarse):
    """Coarse positions and weights bring coincident units, units at 0 and weights 0."""
    generator = np.random.default_rng(seed)
    draw = (lambda *s: generator.integers(-1, 2, s) * 1.0) if coarse else generator.standard_normal
    shapes = ((units, dim), (units,), (students, dim), (students,))
    w, b, theta, c = (draw(*s) if coarse else draw(s) for s in shapes)
    teacher, student = Teacher(w, b, shared(name, dim)), Student(theta, c)
    found = match(teacher, student)
    used = found.permutation[found.permutation >= 0]
    assert len(used) == len(set(used)) == min(units, students)
    assert sorted([*used, *found.unmatched]) == list(range(students))
    assert found.aligned.units == students
    matched = found.permutation >= 0
    assert np.all(np.isfinite(found.distance) == matched)
    assert np.all(np.isfinite(found.weight_error) == matched)
    places = np.asarray(found.aligned.positions)[: len(used)]
    np.testing.assert_allclose(
        found.distance[matched], np.linalg.norm(places - w[matched], axis=-1), atol=1e-14
    )
    charged = np.asarray(found.aligned.weights)[: len(used)]
    np.testing.assert_allclose(found.weight_error[matched], np.abs(charged - b[matched]))
    np.testing.assert_array_equal(found.aligned.positions[len(used) :], theta[found.unmatched])
    json.dumps(found.recovered())
    if students and name != "exponential":
        assert_same_function(teacher, student, found)


def test_a_unit_that_arrived_keeps_its_place_however_far_the_others_are():
    """Sums of distances would tie here, and sums of squares would move the unit that arrived."""
    teacher = Teacher([[0.0], [1.0], [2.0]], [1.0, 1.0, 1.0], "gaussian")
    found = match(teacher, Student([[1.0], [2.0], [1e6]], [1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(found.permutation, [2, 0, 1])
    np.testing.assert_allclose(found.distance, [1e6, 0, 0])
    assert not found.is_permutation
    assert [entry["unit"] for entry in found.recovered(1e-9)] == [1, 2]
    assert [entry["unit"] for entry in found.recovered()] == [0, 1, 2]


def test_units_at_one_place_are_told_apart_by_their_weights():
    w = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    teacher = Teacher(w, [0.5, -2.0, 1.0], "gaussian")
    student = Student(w[[2, 1, 0]] + 1e-13, [1.0, -2.0, 0.5])
    found = match(teacher, student)
    np.testing.assert_array_equal(found.permutation, [2, 1, 0])
    assert np.max(found.weight_error) < 1e-15
    assert found.is_permutation


@pytest.mark.parametrize(("name", "same"), [("relu", False), ("softplus", False), ("erf", True)])
def test_opposite_units_are_not_flipped_for_nothing(name, same):
    w = np.array([[1.0, 2.0], [-1.0, -2.0]])
    weights = np.array([1.0, -1.0 if same else 1.0])
    teacher = Teacher(w, weights, name)
    for order in ([0, 1], [1, 0]):
        found = match(teacher, Student(w[order], weights[order]))
        np.testing.assert_array_equal(found.permutation, order)
        assert not np.any(found.flipped)
        np.testing.assert_array_equal(found.leftover_linear, [0, 0])


def test_units_without_weight_or_length():
    teacher = Teacher([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], [1.0, 0.0, 2.0], "relu")
    found = match(teacher, Student([[0.0, 1.0], [0.0, 0.0], [2.0, 0.0]], [6.0, 1.0, 0.0]))
    np.testing.assert_array_equal(found.permutation, [1, 2, 0])
    np.testing.assert_allclose(found.distance, 0, atol=1e-15)
    np.testing.assert_allclose(found.weight_error, 0, atol=1e-15)
    all_zero = Teacher(np.zeros((2, 2)), np.zeros(2), "relu")
    assert match(all_zero, all_zero.student()).is_permutation


def test_widths_may_differ():
    generator = np.random.default_rng(4)
    teacher = a_teacher("erf", {}, "space", generator)
    narrow = Student(-teacher.positions[jnp.array([3, 1])], -teacher.weights[jnp.array([3, 1])])
    found = match(teacher, narrow)
    np.testing.assert_array_equal(found.permutation, [-1, 1, -1, 0, -1])
    assert [entry["unit"] for entry in found.recovered(1e-15)] == [1, 3]
    assert math.isinf(found.distance[0])
    assert not found.is_permutation
    wide = Student(
        np.concatenate([generator.standard_normal((3, DIM)), teacher.positions]),
        np.concatenate([np.ones(3), teacher.weights]),
    )
    found = match(teacher, wide)
    np.testing.assert_array_equal(found.permutation, np.arange(3, 8))
    np.testing.assert_array_equal(found.unmatched, [0, 1, 2])
    np.testing.assert_array_equal(found.aligned.positions[-3:], wide.positions[:3])
    empty = match(teacher, Student(np.zeros((0, DIM)), np.zeros(0)))
    assert empty.recovered() == []
    assert np.all(empty.permutation == -1)
    assert empty.aligned.units == 0


@pytest.mark.parametrize("name", ["hermite-2", "polynomial"])
def test_quadratic_units_are_compared_as_forms(name):
    """Rotating sqrt(c) w among units of positive weight changes every unit and not the function."""
    generator = np.random.default_rng(9)
    parameters = {"coefficients": (0.0, 0.0, 0.8)} if name == "polynomial" else {}
    w, b = generator.standard_normal((3, 5)), generator.uniform(0.5, 2, 3)
    teacher = Teacher(w, b, name, **parameters)
    rotation = np.linalg.qr(generator.standard_normal((3, 3)))[0]
    theta = rotation @ (np.sqrt(b)[:, None] * w)
    found = match(teacher, Student(theta, np.ones(3)))
    assert not found.symmetries.identifiable
    assert np.max(found.distance) > 0.1
    assert found.teacher_form.rank == found.student_form.rank == 3
    np.testing.assert_allclose(found.teacher_form.form, found.student_form.form, atol=1e-13)
    x = generator.standard_normal((20, 5))
    gap = teacher(x) - network(teacher.activation, Student(theta, np.ones(3)), jnp.asarray(x))
    if name == "polynomial":
        assert found.form_distance < 1e-13
        np.testing.assert_allclose(gap, 0, atol=1e-12)
    else:  # he_2 has a constant: sum_i b_i against sum_i c_i
        np.testing.assert_allclose(gap, -(np.sum(b) - 3) / np.sqrt(2), atol=1e-12)
        assert found.form_distance == pytest.approx(abs(np.sum(b) - 3) / np.sqrt(2))
    for form, network_of in (
        (found.teacher_form, teacher),
        (found.student_form, Teacher(theta, np.ones(3), name, **parameters)),
    ):
        values = form.constant + x @ form.linear + np.einsum("ni,ij,nj->n", x, form.form, x)
        np.testing.assert_allclose(values, network_of(x), atol=1e-12)


def test_identifiable_units_have_no_forms():
    teacher = Teacher([[1.0, 0.0]], [1.0], "relu2")
    found = match(teacher, teacher.student())
    assert found.form_distance is None


@pytest.mark.parametrize(
    ("formula", "flip", "constant", "linear", "identifiable"),
    [
        ("rho**3", -1, 0, 0, True),
        ("rho**4 + rho**2", 1, 0, 0, True),
        ("sin(rho)", -1, 0, 0, True),
        ("0.25 + asin(rho)", -1, 1.0, 0, True),  # a_0 = 1/2
        ("0.09*rho + rho**4", 1, 0, 0.6, True),
        ("exp(rho)", None, 0, 0, True),
        ("rho**2", 1, 0, 0, False),
        ("(rho + rho**2)/2", 1, 0, math.sqrt(2), False),
    ],
)
def test_a_potential_on_the_sphere_flips_as_its_activation(
    formula, flip, constant, linear, identifiable
):
    found = symmetries_of(formula_species(formula, 3, "sphere"))
    assert found.flip == flip
    assert found.constant == pytest.approx(constant, abs=1e-9)
    assert found.linear == pytest.approx(linear, abs=1e-9)
    assert found.identifiable == identifiable
    if formula in ("rho**3", "rho**2"):  # the activation is known: he_3, he_2
        exact = symmetries_of(species(f"hermite-{formula[-1]}", 3))
        assert found.flip == exact.flip
        if exact.quadratic is not None:
            np.testing.assert_allclose(found.quadratic, exact.quadratic, atol=1e-12)


def test_potentials_without_activation_can_be_matched():
    generator = np.random.default_rng(2)
    w, b = generator.standard_normal((4, 3)), generator.standard_normal(4)
    for given_potential in ({"activation": "harmonic"}, {"potential": "exp(-r**2)"}):
        found = match(Teacher(w, b, **given_potential), Student(w[::-1], b[::-1]))
        np.testing.assert_array_equal(found.permutation, [3, 2, 1, 0])
        assert np.max(found.distance) == 0


def test_a_users_function_is_matched_by_the_symmetries_it_shows():
    teacher = Teacher([[1.0, 0.4], [0.2, -0.9]], [1.0, 2.0], np.arctan)
    found = match(teacher, Student(-teacher.positions, -teacher.weights))
    assert np.all(found.flipped)
    assert len(found.recovered(1e-15)) == 2


@pytest.mark.parametrize("name", ["relu3", "tanh", "gaussian"])
@pytest.mark.filterwarnings("error")
def test_a_diverged_student_is_only_far_away(name):
    teacher = Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], name)
    found = match(teacher, Student([[1e200, -1e200], [0.0, 1.0]], [1e150, 1.0]))
    np.testing.assert_array_equal(found.permutation, [0, 1])
    assert found.distance[1] == 0
    assert found.distance[0] > 0.5


def test_bad_input_is_one_line():
    teacher = Teacher([[1.0, 0.0]], [1.0], "relu", on="sphere")
    for arguments, words in (
        ((teacher, Student([[1.0, 0.0, 0.0]], [1.0])), "allowed: 2"),
        ((teacher, Student([[2.0, 0.0]], [1.0])), "off the sphere"),
        ((teacher, Student(np.ones((2, 1, 2)), np.ones((2, 1)))), "allowed for matching"),
        ((teacher.student(), teacher), "a teacher and a student"),
    ):
        with pytest.raises(EarnshawError, match=words) as error:
            match(*arguments)
        assert "\n" not in str(error.value)


def test_a_recovery_is_a_permutation_with_places_and_weights():
    w, b = np.array([[3.0, 0.0], [0.0, 4.0], [1.0, 1.0]]), np.array([1.0, -2.0, 0.5])
    teacher = Teacher(w, b, "gaussian")
    assert match(teacher, Student(w[::-1], b[::-1])).is_recovery
    # 1e-3 of the longest position, 4, and of the largest weight, 2.
    for moved, heavier, good in ((0.0039, 0, True), (0.0041, 0, False), (0, 0.0019, True)):
        student = Student(w + np.array([moved, 0]), b + heavier)
        assert match(teacher, student).is_recovery == good
    assert not match(teacher, Student(w, b + 0.0021)).is_recovery
    assert not match(teacher, Student(w[:2], b[:2])).is_recovery
    assert not match(teacher, Student(np.vstack([w, w[:1]]), np.append(b, 0.0))).is_recovery
