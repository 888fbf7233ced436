"""The papers' variants of the loss, what may move, one node alone, groups, and best weights."""

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import OBJECTIVES, population_loss
from earnshaw.errors import EarnshawError
from energy.cases import case, error, everything
from energy.dense import flat
from energy.exact_potentials import mp

pytestmark = pytest.mark.slow

VARIANTS = [
    *(("gaussian", "space", variant) for variant in OBJECTIVES),
    *(("relu", "space", variant) for variant in ("without-constants", "one-node")),
    ("gaussian", "sphere", "regularized"),
]
PLACES = (("gaussian", "space"), ("gaussian", "sphere"))


@pytest.mark.parametrize(("name", "on", "objective"), VARIANTS)
def test_every_variant(name, on, objective):
    wrt = "positions" if objective == "assumption-1" else "both"
    units = 1 if objective == "one-node" else 3
    loss, student, exact, direction = case(name, on, objective=objective, wrt=wrt, units=units)
    if wrt == "positions":
        direction = direction[0], np.zeros(units)
    value, gradient, product, laplacian = everything(loss, student, direction)
    assert abs(float(value) - exact.value(student)) <= 1e-12 * exact.scale(student)
    truths = exact.gradient(student), exact.hvp(student, direction)
    for ours, truth in zip((gradient, product), truths, strict=True):
        assert error(ours.positions, truth[0]) <= 1e-10
        expected = np.zeros(units) if wrt == "positions" else truth[1]
        assert error(ours.weights, expected) <= 1e-10
    for unit in range(units):
        truth, size = exact.laplacian(student, [unit])
        assert abs(float(laplacian[unit]) - truth) <= 1e-9 * size


@pytest.mark.parametrize(("name", "on"), PLACES)
def test_what_may_not_move_has_no_gradient_and_no_rows(name, on):
    both, student, _, direction = case(name, on)
    gradient, product = both.gradient(student), both.hvp(student, direction)
    whole = np.asarray(both.hessian(student))
    freedom = 3 if on == "space" else 2
    edge = freedom * student.units
    assert whole.shape == (edge + 3, edge + 3)
    for wrt, part, block in (
        ("positions", 0, whole[:edge, :edge]),
        ("weights", 1, whole[edge:, edge:]),
    ):
        loss = population_loss(both.teacher, wrt=wrt)
        moving = loss.gradient(student)
        assert error(moving[part], gradient[part]) <= 1e-14
        assert np.all(np.asarray(moving[1 - part]) == 0)
        assert error(loss.hessian(student), block) <= 1e-13
        only = tuple(v if i == part else None for i, v in enumerate(direction))
        along = loss.hvp(student, direction)
        assert error(along[part], both.hvp(student, only)[part]) <= 1e-13
        assert np.all(np.asarray(along[1 - part]) == 0)
    assert product.positions.shape == student.positions.shape


@pytest.mark.parametrize(("name", "on"), PLACES)
def test_the_dense_hessian(name, on):
    loss, student, exact, _ = case(name, on)
    ours, truth = np.asarray(loss.hessian(student)), exact.hessian(student)
    if on == "sphere":
        basis = np.asarray(loss.manifold.basis(student.positions))
        turn = np.zeros((12, 9))
        for unit in range(3):
            turn[3 * unit : 3 * unit + 3, 2 * unit : 2 * unit + 2] = basis[unit]
        turn[9:, 6:] = np.eye(3)
        truth = turn.T @ truth @ turn
    assert error(ours, truth) <= 1e-10
    assert np.array_equal(ours, ours.T)


@pytest.mark.parametrize(
    ("name", "group"), [("gaussian", [0, 2]), ("gaussian", [0, 1, 2]), ("relu", [0, 2])]
)
def test_a_group_of_units_moved_together(name, group):
    """The papers' correlated move: pairs inside the group keep their distance."""
    loss, student, exact, _ = case(name)
    truth, size = exact.laplacian(student, group)
    assert abs(float(loss.laplacian(student, group)) - truth) <= 1e-9 * size


@pytest.mark.parametrize(("name", "on"), PLACES)
def test_one_node_with_the_others_fixed(name, on):
    loss, student, _, direction = case(name, on)
    gradient = loss.gradient(student)
    other = Student(np.roll(student.positions, 1, axis=0), student.weights[::-1])
    for unit in range(3):
        row = slice(unit, unit + 1)
        node = loss.node(unit, student)
        alone = Student(student.positions[row], student.weights[row])
        slope = node.gradient(alone)
        assert error(slope.positions, gradient.positions[row]) <= 1e-12
        assert error(slope.weights, gradient.weights[row]) <= 1e-12
        still = np.zeros((3, 3)), np.zeros(3)
        still[0][row], still[1][row] = direction[0][row], direction[1][row]
        product, whole = node.hvp(alone, (still[0][row], still[1][row])), loss.hvp(student, still)
        assert error(product.positions, whole.positions[row]) <= 1e-12
        assert error(product.weights, whole.weights[row]) <= 1e-12
        assert error(node.laplacian(alone), loss.laplacian(student)[row]) <= 1e-12
        moved = Student(
            student.positions.at[row].set(other.positions[row]),
            student.weights.at[row].set(other.weights[row]),
        )
        change = node.value(Student(other.positions[row], other.weights[row])) - node.value(alone)
        assert float(change) == pytest.approx(
            float(loss.value(moved) - loss.value(student)), abs=1e-12
        )


@pytest.mark.parametrize("objective", ["full", "regularized"])
@pytest.mark.parametrize("name", ["gaussian", "relu"])
def test_best_weights(name, objective):
    """Phi c = Phi b, or (Phi + 1) c = Phi b, solved in 80 digits; and no gradient is left."""
    loss, student, exact, _ = case(name, objective=objective)
    point, _ = flat(student)
    places = [tuple(point[3 * i : 3 * i + 3]) for i in range(3)]
    ridge = int(objective == "regularized")
    gram = mp.matrix([[exact.phi(x, y) + (x is y) * ridge for y in places] for x in places])
    pull = mp.matrix(
        [
            mp.fsum(
                b * exact.phi(x, w)
                for b, w in zip(exact.proton_weights, exact.protons, strict=True)
            )
            for x in places
        ]
    )
    truth = [float(c) for c in mp.lu_solve(gram, pull)]
    best = loss.optimal_weights(student)
    assert error(best.weights, truth) <= 1e-10
    assert np.array_equal(best.positions, student.positions)
    assert np.max(np.abs(loss.gradient(best).weights)) <= 1e-12


def test_best_weights_of_duplicate_units_are_finite_and_best():
    loss, student, _, _ = case("gaussian")
    doubled = Student(student.positions[np.array([0, 1, 1])], student.weights)
    best = loss.optimal_weights(doubled)
    assert np.all(np.isfinite(best.weights))
    assert np.max(np.abs(loss.gradient(best).weights)) <= 1e-10
    single = Student(student.positions[:2], student.weights[:2])
    expected = loss.value(loss.optimal_weights(single))
    assert float(loss.value(best)) == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize(
    ("name", "on"),
    [("gaussian", "space"), ("almost-harmonic", "space"), ("erf", "sphere"), ("relu", "sphere")],
)
def test_theorem_2_3_with_its_right_factor(name, on):
    """The gradient of L/2 is minus the force under Phi, where Phi(theta, theta) is constant."""
    loss, student, _, _ = case(name, on)
    phi, teacher = loss.teacher.potential, loss.teacher
    a, b = np.asarray(student.charges), np.asarray(teacher.weights)
    x, w = np.asarray(student.positions), np.asarray(teacher.positions)
    force = np.zeros_like(x)
    for i in range(3):
        for j in range(3):
            if j != i:
                force[i] -= a[i] * a[j] * np.asarray(phi.gradient_between(x[i], x[j]))
        for j in range(2):
            force[i] -= a[i] * b[j] * np.asarray(phi.gradient_between(x[i], w[j]))
    slope = np.asarray(loss.gradient(student).positions)
    assert error(slope / 2, -force) <= 1e-12
    assert error(slope, -force) > 0.1  # the factor that Full and ITCS mix up


@pytest.mark.parametrize("name", ["gaussian", "relu", "almost-harmonic"])
def test_the_loss_is_zero_at_the_teacher_and_its_permutations(name):
    found = case("gaussian")
    teacher = Teacher(found.teacher.positions, found.teacher.weights, name)
    loss = population_loss(teacher)
    for order in ([0, 1], [1, 0]):
        student = Student(teacher.positions[np.array(order)], teacher.weights[np.array(order)])
        assert abs(float(loss.value(student))) <= 1e-14
        assert np.max(np.abs(loss.gradient(student).weights)) <= 1e-13
        if name != "almost-harmonic":  # which has a cusp there
            assert np.max(np.abs(loss.gradient(student).positions)) <= 1e-13


@pytest.mark.parametrize(
    "arguments",
    [
        {"objective": "ful"}, {"wrt": "position"}, {"objective": "assumption-1"},
    ],
)  # fmt: skip
def test_bad_variants_are_refused_in_one_line(arguments):
    teacher = Teacher(np.eye(2), [1.0, 0.5], "gaussian")
    with pytest.raises(EarnshawError) as refusal:
        population_loss(teacher, **arguments)
    assert "\n" not in str(refusal.value)


def test_bad_students_and_directions_are_refused_in_one_line():
    loss = population_loss(Teacher(np.eye(3), np.ones(3), "relu", on="sphere"))
    good = Student(np.eye(3), np.ones(3))
    for wrong in (
        lambda: loss.value(Student(np.eye(2), np.ones(2))),
        lambda: loss.value(Student(2 * np.eye(3), np.ones(3))),
        lambda: loss.hvp(good, (np.ones((2, 3)), None)),
        lambda: loss.hvp(good, (None, np.ones(2))),
        lambda: loss.laplacian(good, [3]),
        lambda: loss.node(3, good),
    ):
        with pytest.raises(EarnshawError) as refusal:
            wrong()
        assert "\n" not in str(refusal.value)
